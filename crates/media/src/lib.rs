//! Storage of media files (R43): in a local [directory](MediaDirectory), or in an S3 bucket
//! ([`OPEN_BUCKET`]) if the feature `s3` is on.
//!
//! Both issue signed URLs. An upload goes to a path of its own; services inspect and serve copies,
//! which no URL can write to. The services decide who gets a URL, and the server speaks HTTP.

#[cfg(feature = "s3")]
mod bucket;
mod config_error;
mod directory;
mod objects;
mod pace;
mod partial_files;
#[cfg(feature = "s3")]
mod presigned_length;
mod probe;
mod signature;
mod transfers;

use std::sync::Arc;

use roundtable_domain::{MediaStore, S3Settings};

#[cfg(feature = "s3")]
pub use bucket::Bucket;
pub use config_error::MediaConfigError;
pub use directory::{
    DirectoryLimits, DownloadError, DownloadGrant, FileDownload, InvalidMediaUrl, MediaDirectory,
    SAFE_HEADERS, UploadError, UploadGrant, UploadTransfer,
};
pub use transfers::VolumeSpace;

/// Opens an S3 bucket.
pub type OpenBucket = fn(&S3Settings) -> Result<Arc<dyn MediaStore>, MediaConfigError>;

/// Opens an S3 bucket; `None` in a build without the feature `s3`.
pub const OPEN_BUCKET: Option<OpenBucket> = cfg_select! {
    feature = "s3" => { Some(|settings| Ok(Arc::new(Bucket::open(settings)?))) }
    _ => { None }
};
