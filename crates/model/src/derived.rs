//! Everything derived from the schema, so that it cannot drift from it: the documentation, the
//! lint, and the tables in the formats of other tools. It knows nothing that the schema does not
//! state.

pub mod cloudformation;
pub mod doc;
mod key_patterns;
pub mod lint;
mod projection;
pub mod terraform;
#[cfg(test)]
mod test_schema;
pub mod workbench;
