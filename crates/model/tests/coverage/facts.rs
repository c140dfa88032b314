//! The data of both tables: the documents' examples, and a few more items of the same shapes, so
//! that order, limits and exclusions have an effect.

pub(crate) mod s0;
pub(crate) mod s2;
pub(crate) mod s3;
