//! Users, the locks that make their names unique, and their counters. Secrets are in `accounts`.

use super::Media;
use crate::{
    ActorType, Date, Email, Fields, Handle, Nickname, Role, Shard, Shards, Tag, Tier, Time,
    UserCount, UserId, UserStatus,
};

/// A user, or a group that acts as one in the fediverse.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct User {
    pub id: UserId,
    /// The unique name that others see; also called username.
    pub nickname: Nickname,
    /// The unique address to sign in with; no other user sees it.
    pub email: Option<Email>,
    /// The full legal name.
    pub full_name: Option<String>,
    /// The name shown instead of the nickname.
    pub display_name: Option<String>,
    pub birth_date: Option<Date>,
    pub status: UserStatus,
    pub country: Option<String>,
    /// The preferred language, as a BCP 47 tag.
    pub language: Option<String>,
    pub gender: Option<String>,
    pub pronouns: Option<String>,
    pub bio: Option<String>,
    pub tags: Vec<Tag>,
    pub tier: Tier,
    /// The roles beyond the user's own content.
    pub roles: Vec<Role>,
    /// The profile picture: an uploaded file.
    pub profile_image: Option<Media>,
    /// The URL of the picture of a user from another server.
    pub profile_image_url: Option<String>,
    /// The user's identity was checked.
    pub is_verified: bool,
    /// Only accepted followers see the user's posts.
    pub is_private: bool,
    /// A second unique name, for links.
    pub handle: Option<Handle>,
    /// The kind of actor in the fediverse.
    pub actor_type: ActorType,
    /// The key that verifies the user's signatures, as PEM.
    pub public_key: Option<String>,
    /// The URL that other servers deliver to.
    pub inbox_url: Option<String>,
    /// The URL where other servers read the user's activities.
    pub outbox_url: Option<String>,
    /// The URL where other servers read the user's followers.
    pub followers_url: Option<String>,
    /// The URL where other servers read the user's followees.
    pub following_url: Option<String>,
    /// The name in the fediverse, without the domain.
    pub preferred_username: String,
    /// The user's server; absent for local users.
    pub domain: Option<String>,
    /// The number of partitions the user's followers are spread over.
    pub follower_shards: Shards,
    /// Incremented by every change of a key.
    pub version: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

impl User {
    /// Returns whether the account holds its nickname and e-mail: a deleted account has released
    /// them.
    pub fn holds_names(status: &UserStatus) -> bool {
        *status != UserStatus::Deleted
    }
}

/// Makes an e-mail address unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct EmailLock {
    pub email: Email,
    pub user_id: UserId,
    pub created_at: Time,
    /// The time an external issuer vouched for the address; absent if the user only claims it.
    pub proved_at: Option<Time>,
}

/// Makes a nickname unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct NickLock {
    pub nickname: Nickname,
    pub user_id: UserId,
    pub created_at: Time,
}

/// Makes a handle unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct HandleLock {
    pub handle: Handle,
    pub user_id: UserId,
    pub created_at: Time,
}

/// A counter of a user.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct UserCounter {
    pub user_id: UserId,
    /// The counted kind.
    pub counter: UserCount,
    /// The shard of the count; the shards add up.
    pub shard: Shard,
    pub count: u64,
    /// On FOLLOWING only: incremented whenever the user's circle changes, by any user's action.
    pub version: Option<u64>,
    /// On UNREAD, MEDIA_BYTES and PENDING_UPLOADS: the stream position up to which notifications
    /// were counted, or uploads released.
    pub seq: Option<String>,
    pub updated_at: Time,
}
