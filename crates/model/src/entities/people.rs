//! People, what makes their names unique, and what is counted about them. Nothing secret is here:
//! that is `accounts`.

use super::Media;
use crate::{
    ActorType, Date, Email, Fields, Handle, Nickname, Role, Shard, Shards, Tag, Tier, Time,
    UserCount, UserId, UserStatus,
};

/// A person, or a group that acts as one in the fediverse.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct User {
    /// Who it is.
    pub id: UserId,
    /// The unique name others see; also called username.
    pub nickname: Nickname,
    /// The unique address to sign in with; shown to nobody else.
    pub email: Option<Email>,
    /// The name in civil life.
    pub full_name: Option<String>,
    /// The name to show instead of the nickname.
    pub display_name: Option<String>,
    /// The day of birth.
    pub birth_date: Option<Date>,
    /// Whether the account can be used.
    pub status: UserStatus,
    /// Where they live.
    pub country: Option<String>,
    /// The language they prefer, as a BCP 47 tag.
    pub language: Option<String>,
    /// In their own words.
    pub gender: Option<String>,
    /// In their own words.
    pub pronouns: Option<String>,
    /// What they say about themselves.
    pub bio: Option<String>,
    /// What they are interested in.
    pub tags: Vec<Tag>,
    /// What they pay for.
    pub tier: Tier,
    /// What they may do beyond their own content.
    pub roles: Vec<Role>,
    /// Their picture: a file that they sent.
    pub profile_image: Option<Media>,
    /// Where the picture of somebody from another server is.
    pub profile_image_url: Option<String>,
    /// Whether somebody checked that they are who they say.
    pub is_verified: bool,
    /// Whether only accepted followers see their posts.
    pub is_private: bool,
    /// A second unique name, for links.
    pub handle: Option<Handle>,
    /// What they are in the fediverse.
    pub actor_type: ActorType,
    /// What their signatures are checked with, as PEM.
    pub public_key: Option<String>,
    /// Where other servers deliver to.
    pub inbox_url: Option<String>,
    /// Where other servers read their activities.
    pub outbox_url: Option<String>,
    /// Where other servers read who follows them.
    pub followers_url: Option<String>,
    /// Where other servers read whom they follow.
    pub following_url: Option<String>,
    /// Their name in the fediverse, without the domain.
    pub preferred_username: String,
    /// Their server; absent for people of this one.
    pub domain: Option<String>,
    /// Over how many partitions their followers are spread.
    pub follower_shards: Shards,
    /// Raised by every change of a key.
    pub version: u64,
    /// When they signed up.
    pub created_at: Time,
    /// When the profile last changed.
    pub updated_at: Time,
}

impl User {
    /// Whether it holds its nickname and e-mail: a deleted account has given them back.
    pub fn named(status: &UserStatus) -> bool {
        *status != UserStatus::Deleted
    }
}

/// Makes an e-mail address unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct EmailLock {
    /// The address.
    pub email: Email,
    /// Whose it is.
    pub user_id: UserId,
    /// Since when.
    pub created_at: Time,
}

/// Makes a nickname unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct NickLock {
    /// The nickname.
    pub nickname: Nickname,
    /// Whose it is.
    pub user_id: UserId,
    /// Since when.
    pub created_at: Time,
}

/// Makes a handle unique.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct HandleLock {
    /// The handle.
    pub handle: Handle,
    /// Whose it is.
    pub user_id: UserId,
    /// Since when.
    pub created_at: Time,
}

/// How many of something a person has.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct UserCounter {
    /// Whose.
    pub user_id: UserId,
    /// Of what.
    pub counter: UserCount,
    /// Which part of the count this is; the shards add up.
    pub shard: Shard,
    /// How many.
    pub count: u64,
    /// On FOLLOWING only: raised whenever the person's circle changes, whoever acts.
    pub version: Option<u64>,
    /// On UNREAD only: up to where the stream has been counted.
    pub seq: Option<String>,
    /// When it last changed.
    pub updated_at: Time,
}
