//! The data of both tables: the documents' examples, and a few more items of the same shapes, so
//! that order, limits and exclusions have an effect.

#[path = "facts/s0.rs"]
pub(crate) mod s0;
#[path = "facts/s2.rs"]
pub(crate) mod s2;
#[path = "facts/s3.rs"]
pub(crate) mod s3;
