//! s3: a social network that speaks `ActivityPub`: a small design, and the fuller one that follows it.

mod full;
mod mvp;

pub(crate) use full::S3;
pub(crate) use mvp::S3_MVP;
