//! Posts and their counters. The reactions themselves are in `reactions`.

use super::Media;
use crate::{
    ContentType, FeedName, Fields, GroupId, ModerationStatus, Nickname, PostId, Score, Shard, Tag,
    Time, UserId, Visibility,
};

/// A text, an image or a video.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Post {
    pub id: PostId,
    pub author_id: UserId,
    /// The author's nickname at that time.
    pub author_nickname: Nickname,
    /// The group it was posted to.
    pub group_id: Option<GroupId>,
    pub content: String,
    pub content_type: ContentType,
    /// The attached images or videos.
    pub media: Vec<Media>,
    /// The audience that the author chose.
    pub visibility: Visibility,
    pub moderation_status: ModerationStatus,
    /// A tombstone: the content is gone.
    pub is_deleted: bool,
    /// The tags in the text.
    pub hashtags: Vec<Tag>,
    /// The users named in the text.
    pub mentions: Vec<Nickname>,
    pub feed_id: FeedName,
    /// The fediverse URL.
    pub activity_pub_id: Option<String>,
    /// The addressees in the fediverse.
    pub audience: Vec<String>,
    /// The author's account is private; updated from the stream, so it can lag behind.
    pub author_is_private: bool,
    /// The time it entered feeds; absent while it waits for approval.
    pub published_at: Option<Time>,
    /// The engagement, rounded to a bucket; absent below the threshold of popular posts.
    pub score: Option<Score>,
    /// The shard of its day, and of the popular posts, it is listed in.
    pub shard: Shard,
    /// Incremented by every change of a key.
    pub version: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Post {
    /// Returns whether the public timelines list it.
    pub fn publicly_listed(
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

    /// Returns whether it was posted to the global feed rather than to a named one.
    pub fn global(feed_id: &FeedName) -> bool {
        feed_id.is_global()
    }
}

/// The fields of a post that lists show, and those that decide its visibility.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
#[fields(part)]
pub struct PostSummary {
    pub id: PostId,
    pub author_id: UserId,
    /// The author's nickname at that time.
    pub author_nickname: Nickname,
    /// The group it was posted to.
    pub group_id: Option<GroupId>,
    pub content: String,
    pub content_type: ContentType,
    /// The attached images or videos.
    pub media: Vec<Media>,
    /// The audience that the author chose.
    pub visibility: Visibility,
    pub moderation_status: ModerationStatus,
    /// A tombstone: the content is gone.
    pub is_deleted: bool,
    pub created_at: Time,
}

/// The reactions to a post, counted from the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct PostCounter {
    pub post_id: PostId,
    pub likes: u64,
    /// The likes of the type `love`; absent in counters from before likes were counted by type.
    pub loves: Option<u64>,
    /// The likes of the type `laugh`; absent together with `loves`.
    pub laughs: Option<u64>,
    pub comments: u64,
    pub shares: u64,
    /// The engagement: the weighted sum of the three.
    pub score: u64,
    /// The sequence number of the last counted change, in 40 digits; earlier changes are skipped.
    pub seq: String,
}

impl PostCounter {
    /// Returns the counter of a post without reactions.
    pub const fn zero(post_id: PostId) -> Self {
        Self {
            post_id,
            likes: 0,
            loves: Some(0),
            laughs: Some(0),
            comments: 0,
            shares: 0,
            score: 0,
            seq: String::new(),
        }
    }
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
    fn only_an_approved_public_post_outside_groups_is_publicly_listed() {
        let group: GroupId = "01HZX".parse().unwrap();
        let mut seen = Vec::new();
        for visibility in [Visibility::Public, Visibility::Followers, Visibility::Private] {
            for status in STATUSES {
                for deleted in [false, true] {
                    for group in [None, Some(group.clone())] {
                        for private in [false, true] {
                            if Post::publicly_listed(
                                &visibility,
                                &status,
                                &deleted,
                                &group,
                                &private,
                            ) {
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
    fn only_the_global_feed_is_global() {
        assert!(Post::global(&FeedName::GLOBAL));
        assert!(!Post::global(&"gardening".parse().unwrap()));
    }
}
