//! Parts of the program that a build can leave out. Their settings are known to every build.

use crate::configuration::ConfigurationError;

pub(crate) const DYNAMODB: OptionalPart = OptionalPart { name: "DynamoDB", key: "store.kind" };
pub(crate) const S3: OptionalPart = OptionalPart { name: "S3", key: "media.s3" };

#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionalPart {
    name: &'static str,
    /// The setting that asks for it.
    key: &'static str,
}

impl OptionalPart {
    /// Returns the function that opens this part, or the error of a build without it (`None`).
    pub(crate) fn require<T>(self, built_in: Option<T>) -> Result<T, ConfigurationError> {
        let Self { name, key } = self;
        built_in.ok_or(ConfigurationError::NotBuiltIn { key, part: name })
    }
}
