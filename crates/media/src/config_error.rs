//! Configuration errors of the media store.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MediaConfigError {
    #[error("the media directory cannot be opened: {0}")]
    Directory(String),
    #[error(
        "the base URL of media must begin with http:// or https://, and contain no ? or #; see http.public-url"
    )]
    Address,
    #[error("the media bucket (media.s3) cannot be used: {0}")]
    Bucket(String),
}
