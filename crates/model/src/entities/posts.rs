//! Posts, and what people did with them in numbers. What they did one by one is in `reactions`.

use super::Media;
use crate::{
    ContentType, FeedName, Fields, GroupId, ModerationStatus, Nickname, PostId, Score, Shard, Tag,
    Time, UserId, Visibility,
};

/// A text, an image or a video.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Post {
    /// Which post.
    pub id: PostId,
    /// Who wrote it.
    pub author_id: UserId,
    /// The author's nickname at the time.
    pub author_nickname: Nickname,
    /// The group it is for.
    pub group_id: Option<GroupId>,
    /// Its text.
    pub content: String,
    /// What it mainly is.
    pub content_type: ContentType,
    /// Its images or videos.
    pub media: Vec<Media>,
    /// Whom the author lets see it.
    pub visibility: Visibility,
    /// What moderation says of it.
    pub moderation_status: ModerationStatus,
    /// Whether it is only a tombstone.
    pub is_deleted: bool,
    /// The tags in its text.
    pub hashtags: Vec<Tag>,
    /// The people named in its text.
    pub mentions: Vec<Nickname>,
    /// The feed it was posted to.
    pub feed_id: FeedName,
    /// Its address in the fediverse.
    pub activity_pub_id: Option<String>,
    /// Whom it is addressed to in the fediverse.
    pub audience: Vec<String>,
    /// Whether its author's account is private, as far as this post has heard.
    pub author_is_private: bool,
    /// When it entered feeds; absent while it waits for approval.
    pub published_at: Option<Time>,
    /// Its engagement in steps, when above the threshold of popularity.
    pub score: Option<Score>,
    /// The part of its day, and of the popular posts, it is listed under.
    pub shard: Shard,
    /// Raised by every change of a key.
    pub version: u64,
    /// When it was written.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

impl Post {
    /// Whether strangers may come across it.
    pub fn for_everybody(
        visibility: &Visibility,
        moderation_status: &ModerationStatus,
        is_deleted: &bool,
        group_id: &Option<GroupId>,
        author_is_private: &bool,
    ) -> bool {
        matches!(visibility, Visibility::Public)
            && matches!(moderation_status, ModerationStatus::Approved)
            && !*is_deleted
            && group_id.is_none()
            && !*author_is_private
    }

    /// Whether it was posted to the feed of everybody, rather than to a named one.
    pub fn global(feed_id: &FeedName) -> bool {
        feed_id.is_global()
    }
}

/// What a list shows of a post, and what decides who may see it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct PostSummary {
    /// Which post.
    pub id: PostId,
    /// Who wrote it.
    pub author_id: UserId,
    /// The author's nickname at the time.
    pub author_nickname: Nickname,
    /// The group it is for.
    pub group_id: Option<GroupId>,
    /// Its text.
    pub content: String,
    /// What it mainly is.
    pub content_type: ContentType,
    /// Its images or videos.
    pub media: Vec<Media>,
    /// Whom the author lets see it.
    pub visibility: Visibility,
    /// What moderation says of it.
    pub moderation_status: ModerationStatus,
    /// Whether it is only a tombstone.
    pub is_deleted: bool,
    /// When it was written.
    pub created_at: Time,
}

/// What people did with a post, counted from the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct PostCounter {
    /// The post.
    pub post_id: PostId,
    /// How many like it.
    pub likes: u64,
    /// How many comments it has.
    pub comments: u64,
    /// How many passed it on.
    pub shares: u64,
    /// Its engagement: the three, weighted.
    pub score: u64,
    /// The last change that was counted, in 40 digits: an earlier one has been already.
    pub seq: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUSES: [ModerationStatus; 4] = [
        ModerationStatus::Pending,
        ModerationStatus::Approved,
        ModerationStatus::Rejected,
        ModerationStatus::Flagged,
    ];

    #[test]
    fn one_of_all_combinations_is_for_everybody() {
        let group: GroupId = "01HZX".parse().unwrap();
        let mut seen = Vec::new();
        for visibility in [Visibility::Public, Visibility::Followers, Visibility::Private] {
            for status in STATUSES {
                for deleted in [false, true] {
                    for group in [None, Some(group.clone())] {
                        for private in [false, true] {
                            if Post::for_everybody(&visibility, &status, &deleted, &group, &private)
                            {
                                seen.push((visibility, status, deleted, group.clone(), private));
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(seen, [(Visibility::Public, ModerationStatus::Approved, false, None, false)]);
    }

    #[test]
    fn only_the_feed_of_everybody_is_global() {
        assert!(Post::global(&FeedName::GLOBAL));
        assert!(!Post::global(&"gardening".parse().unwrap()));
    }
}
