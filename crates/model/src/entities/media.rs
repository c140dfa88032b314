//! Files that belong to posts, activities and profiles, and files on their way in. The bytes are
//! elsewhere.

use super::Activity;
use crate::{
    ActorId, Expiry, Fields, MediaKey, MediaUse, PostId, SubjectId, Time, UploadState, UserId,
};

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

/// What a file belongs to: whoever may see that may see the file, and both go together.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct Holder {
    /// What kind of thing.
    pub kind: MediaUse,
    /// Which.
    pub id: SubjectId,
    /// Among whose activities it is, if it is one.
    pub home: Option<ActorId>,
    /// When it happened, if it is an activity.
    pub at: Option<Time>,
}
crate::nested!(Holder);

impl Holder {
    /// A post.
    pub fn post(id: &PostId) -> Self {
        Self { kind: MediaUse::Post, id: id.into(), home: None, at: None }
    }

    /// An activity.
    pub fn activity(activity: &Activity) -> Self {
        let Activity { activity_id, actor_id, group_id, created_at, .. } = activity;
        Self {
            kind: MediaUse::Activity,
            id: activity_id.into(),
            home: Some(Activity::home(actor_id, group_id)),
            at: Some(*created_at),
        }
    }

    /// A person's profile.
    pub fn profile(id: &UserId) -> Self {
        Self { kind: MediaUse::Profile, id: id.into(), home: None, at: None }
    }
}

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
    /// What it is for, if its sender said so; nothing else can have it then.
    pub purpose: Option<MediaUse>,
    /// What it belongs to; absent until something does.
    pub holder: Option<Holder>,
    /// When it was announced.
    pub created_at: Time,
    /// When it is given up; absent once it belongs to something.
    pub ttl: Option<Expiry>,
}
