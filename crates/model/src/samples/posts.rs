//! Ana's post, and its counters.

use super::cast::{ANA, PICTURE, POST, POSTED_AT};
use super::{read, read_all};
use crate::entities::{Media, Post, PostCounter, PostSummary};
use crate::{ContentType, FeedName, ModerationStatus, Score, Shard, Visibility};

const CONTENT: &str = "Sixteen kilometres along the river before breakfast, and for once the \
    hills did not win. @bo paced me through the last four and only laughed twice. Legs are gone, \
    the bread is in the oven, and I would do it again tomorrow. Who joins on Sunday? #running \
    #sunrise";

pub fn post() -> Post {
    Post {
        id: read(POST),
        author_id: read(ANA),
        author_nickname: read("ana_runs"),
        group_id: None,
        content: CONTENT.into(),
        content_type: ContentType::Image,
        media: vec![picture()],
        visibility: Visibility::Public,
        moderation_status: ModerationStatus::Approved,
        is_deleted: false,
        hashtags: read_all(&["running", "sunrise"]),
        mentions: read_all(&["bo"]),
        feed_id: FeedName::GLOBAL,
        activity_pub_id: Some(format!("https://town.example/posts/{POST}")),
        audience: vec!["https://www.w3.org/ns/activitystreams#Public".into()],
        author_is_private: false,
        published_at: Some(read(POSTED_AT)),
        score: Some(scores().1),
        shard: Shard::ZERO,
        version: 2,
        created_at: read(POSTED_AT),
        updated_at: read(POSTED_AT),
    }
}

pub fn post_summary() -> PostSummary {
    let post = post();
    PostSummary {
        id: post.id,
        author_id: post.author_id,
        author_nickname: post.author_nickname,
        group_id: post.group_id,
        content: post.content,
        content_type: post.content_type,
        media: post.media,
        visibility: post.visibility,
        moderation_status: post.moderation_status,
        is_deleted: post.is_deleted,
        created_at: post.created_at,
    }
}

pub fn post_counter() -> PostCounter {
    PostCounter {
        post_id: read(POST),
        likes: 25,
        loves: Some(4),
        laughs: Some(1),
        comments: 5,
        shares: 2,
        score: 50,
        seq: "0000000000000000000461370200000000052841".into(),
    }
}

/// The previous and the current score of the post.
pub fn scores() -> (Score, Score) {
    (Score::new(40), Score::new(50))
}

pub(super) fn picture() -> Media {
    Media {
        s3_key: read(PICTURE),
        content_type: "image/jpeg".into(),
        width: Some(2048),
        height: Some(1536),
    }
}
