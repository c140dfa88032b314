//! Settings of media files.

use std::path::PathBuf;

use roundtable_model::Secret;
use serde::Deserialize;

use super::secret;

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MediaSettings {
    /// Seconds an upload URL is valid.
    pub upload_seconds: u64,
    /// Seconds a download URL is valid.
    pub download_seconds: u64,
    pub image_bytes_max: u64,
    pub video_bytes_max: u64,
    /// Bytes of one user's files, pending uploads included.
    pub account_bytes_max: u64,
    /// Uploads of one user that are announced and not completed.
    pub account_uploads_max: u64,
    /// The directory of files, if not `media` in the data directory.
    pub directory: Option<PathBuf>,
    /// Bytes that stay free on the volume of the directory.
    pub free_bytes_min: u64,
    /// Uploads that a process receives at the same time.
    pub transfers_max: usize,
    /// Seconds that the transfer of a file to the directory may take.
    pub transfer_seconds: u64,
    /// Stores files in S3 instead of a local directory.
    pub s3: Option<S3Settings>,
}

/// An S3-compatible store.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct S3Settings {
    pub bucket: String,
    pub region: String,
    /// The endpoint, if not Amazon's. Clients must reach it, too.
    pub endpoint: Option<String>,
    /// Without it, the machine's own credentials are used.
    pub access_key_id: Option<String>,
    #[serde(deserialize_with = "secret")]
    pub secret_access_key: Option<Secret>,
}

impl Default for MediaSettings {
    fn default() -> Self {
        Self {
            upload_seconds: 15 * 60,
            download_seconds: 5 * 60,
            image_bytes_max: 20 << 20,
            video_bytes_max: 500 << 20,
            account_bytes_max: 2 << 30,
            account_uploads_max: 50,
            directory: None,
            free_bytes_min: 1 << 30,
            transfers_max: 64,
            transfer_seconds: 30 * 60,
            s3: None,
        }
    }
}
