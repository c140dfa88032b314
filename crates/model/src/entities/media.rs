//! Files of posts, activities and profiles, and uploads. The bytes are in the media store.

use super::Activity;
use crate::{
    ActorId, Expiry, Fields, MediaKey, MediaUse, PostId, SubjectId, Time, UploadState, UserId,
};

/// An image or a video.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Media {
    /// The key of its bytes in the media store.
    pub s3_key: MediaKey,
    /// The MIME type of its bytes.
    pub content_type: String,
    /// In pixels.
    pub width: Option<u32>,
    /// In pixels.
    pub height: Option<u32>,
}
crate::nested!(Media);

/// The object a file belongs to: viewers who may see the object may see the file, and both are
/// deleted together.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Holder {
    pub kind: MediaUse,
    pub id: SubjectId,
    /// The owner of the activity's partition, if it is an activity.
    pub home: Option<ActorId>,
    /// The time of the activity, if it is one.
    pub at: Option<Time>,
}
crate::nested!(Holder);

impl Holder {
    pub fn post(id: &PostId) -> Self {
        Self { kind: MediaUse::Post, id: id.into(), home: None, at: None }
    }

    pub fn activity(activity: &Activity) -> Self {
        let Activity { activity_id, actor_id, group_id, created_at, .. } = activity;
        Self {
            kind: MediaUse::Activity,
            id: activity_id.into(),
            home: Some(Activity::home(actor_id, group_id)),
            at: Some(*created_at),
        }
    }

    pub fn profile(id: &UserId) -> Self {
        Self { kind: MediaUse::Profile, id: id.into(), home: None, at: None }
    }
}

/// A file that is being uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Upload {
    pub user_id: UserId,
    /// The key of its bytes in the media store.
    pub key: MediaKey,
    /// The declared MIME type.
    pub content_type: String,
    /// The declared size.
    pub bytes: u64,
    /// The bytes it takes of its owner's quota; absent in uploads from before there were quotas.
    pub charged_bytes: Option<u64>,
    /// Complete once it has arrived and matches its declaration.
    pub state: UploadState,
    /// The copy of its bytes that was checked and is served; absent until it has arrived.
    pub copy: Option<String>,
    /// In pixels, as read from its bytes.
    pub width: Option<u32>,
    /// In pixels, as read from its bytes.
    pub height: Option<u32>,
    /// The only use it can be attached to, if its sender declared one.
    pub purpose: Option<MediaUse>,
    /// The object it is attached to; absent until then.
    pub holder: Option<Holder>,
    /// The time the upload was created.
    pub created_at: Time,
    /// The time it expires; absent once it is attached to an object.
    pub ttl: Option<Expiry>,
}
