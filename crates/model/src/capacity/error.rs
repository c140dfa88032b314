//! Why a plan cannot be made: always with the key at fault, and what would have been right.

use roundtable_table::Invalid;

/// Why rates or prices are refused.
#[derive(Debug, thiserror::Error)]
pub enum CapacityError {
    /// Not TOML, or not of the expected shape.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A name that nothing bears.
    #[error("{key}: there is no such {what}; {nearest}")]
    Unknown {
        /// Where it stands, with the name.
        key: String,
        /// What it should have named.
        what: &'static str,
        /// The names that come nearest.
        nearest: String,
    },
    /// A value that cannot be.
    #[error("{key}: expected {expected}, found {found}")]
    Value {
        /// Where it stands.
        key: String,
        /// What would have been right.
        expected: &'static str,
        /// What was there.
        found: String,
    },
    /// Two sets of rates under one name.
    #[error("plan {name}: there are two of that name")]
    NamedTwice {
        /// The name.
        name: String,
    },
    /// The table refuses a typical item.
    #[error("the typical {entity} is no item of the table: {source}")]
    Sample {
        /// The entity.
        entity: &'static str,
        /// What the table says.
        source: Invalid,
    },
    /// An entity that no table holds.
    #[error("no table holds {entity}")]
    NoTable {
        /// The entity.
        entity: &'static str,
    },
    /// An entity without a typical item.
    #[error("no typical {entity} is known, so nothing can be said of its size")]
    NoSample {
        /// The entity.
        entity: &'static str,
    },
}
