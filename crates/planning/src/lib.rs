//! Everything derived from the schema before the tables exist, for `roundtable table …`: the
//! documentation, the lint, the cost, and the tables in the formats of other tools.
//!
//! It knows the schema and the [recorded](capacity) costs of mutations. It opens no store and runs no
//! service; only the command line depends on it.

pub mod capacity;
pub mod cloudformation;
pub mod doc;
mod key_patterns;
pub mod lint;
mod projection;
pub mod terraform;
#[cfg(test)]
mod test_schema;
pub mod workbench;
