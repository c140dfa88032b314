//! Files that belong to posts, and files on their way in. The bytes are elsewhere.

use crate::{Expiry, Fields, MediaKey, PostId, Time, UploadState, UserId};

/// An image or a video.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Media {
    /// Where its bytes are.
    pub s3_key: MediaKey,
    /// What its bytes are, as a MIME type.
    pub content_type: String,
    /// In pixels.
    pub width: Option<u32>,
    /// In pixels.
    pub height: Option<u32>,
}
crate::nested!(Media);

/// A file on its way in.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Upload {
    /// Who sends it.
    pub user_id: UserId,
    /// Where its bytes go.
    pub key: MediaKey,
    /// What it is declared to be, as a MIME type.
    pub content_type: String,
    /// How long it is declared to be.
    pub bytes: u64,
    /// Whether it has arrived and is what was declared.
    pub state: UploadState,
    /// Which copy of its bytes was looked at, and is shown; absent until it has arrived.
    pub copy: Option<String>,
    /// In pixels, as its bytes say.
    pub width: Option<u32>,
    /// In pixels, as its bytes say.
    pub height: Option<u32>,
    /// The post it belongs to: whoever may see that may see it, too.
    pub post_id: Option<PostId>,
    /// When it was announced.
    pub created_at: Time,
    /// When it is given up; absent once it has arrived.
    pub ttl: Option<Expiry>,
}
