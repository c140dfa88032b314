//! What the two tables are told: the documents' examples, and a few more items of the same shapes, so
//! that order, limits and exclusions mean something.

#[path = "facts/s0.rs"]
pub(crate) mod s0;
#[path = "facts/s2.rs"]
pub(crate) mod s2;
#[path = "facts/s3.rs"]
pub(crate) mod s3;
