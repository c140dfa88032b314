//! What is derived from the schema, so that it cannot drift from it: the document, the lint, and the
//! tables as other tools want them. Refuses to know anything that the page does not say.

mod asked;
mod carried;
pub mod cloudformation;
pub mod doc;
#[cfg(test)]
mod draft;
pub mod lint;
pub mod terraform;
pub mod workbench;
