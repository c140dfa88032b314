//! Storage of media files (R43): in a local [directory](MediaDirectory), or in an [S3 bucket](Bucket).
//!
//! Both issue signed URLs. An upload goes to a path of its own; services inspect and serve copies,
//! which no URL can write to. The services decide who gets a URL, and the server speaks HTTP.

mod bucket;
mod config_error;
mod directory;
mod objects;
mod partial_files;
mod signature;

pub use bucket::Bucket;
pub use config_error::MediaConfigError;
pub use directory::{
    DownloadError, DownloadGrant, FileDownload, InvalidMediaUrl, MediaDirectory, SAFE_HEADERS,
    UploadError, UploadGrant,
};
