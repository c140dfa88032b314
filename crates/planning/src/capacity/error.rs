//! The errors of capacity planning. Each names the key at fault and the expected value.

/// The error for invalid rates or prices.
#[derive(Debug, thiserror::Error)]
pub enum CapacityError {
    /// Not TOML, or unexpected keys.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("{key}: there is no such {what}; {nearest}")]
    Unknown {
        /// The path of the key, including the unknown name.
        key: String,
        /// The kind of name that was expected.
        what: &'static str,
        nearest: String,
    },
    #[error("{key}: expected {expected}, found {found}")]
    Value { key: String, expected: &'static str, found: String },
    #[error("plan {name}: two plans have this name")]
    NamedTwice { name: String },
    #[error("there is no typical {entity}, so its size is unknown")]
    NoSample { entity: &'static str },
}
