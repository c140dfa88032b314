//! What can be wrong with how a store of files is configured.

/// Why files cannot be kept as configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misconfigured {
    /// The directory cannot be made or used.
    #[error("the directory of files: {0}")]
    Directory(String),
    /// The address that files are sent to is none.
    #[error("the address of files must begin with http:// or https://, and have no ? or # in it")]
    Address,
    /// The bucket cannot be used as described.
    #[error("the bucket of files: {0}")]
    Bucket(String),
}
