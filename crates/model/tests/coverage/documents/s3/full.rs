//! s3's second design: with comments, a feed made beforehand, and popular posts.

use crate::documents::DocumentOperation::Transact;
use crate::documents::{
    Document, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on, query,
};

/// The fuller design of s3.
pub(crate) const S3: Document = Document {
    name: "s3",
    table: "SocialMediaApp",
    indexes: &["GSI1", "GSI2", "GSI3"],
    ttl: None,
    stream: true,
    typed: false,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    // The beginning of this design is missing; the keys are those that its queries name.
    DocumentShape {
        entity: "USER",
        ours: "User",
        keys: &[main("USER#{user_id}", "PROFILE")],
        parts: attributes! { user_id => id },
        attributes: attributes! {
            created_at, updated_at, followers_count => UserCounter.count,
            following_count => UserCounter.count, posts_count => UserCounter.count, is_verified,
            is_private, status,
        },
    },
    DocumentShape {
        entity: "POST",
        ours: "Post",
        keys: &[
            main("POST#{post_id}", "METADATA"),
            on("GSI1", "USER#{author_id}", "POST#{created_at}#{post_id}"),
            on("GSI2", "TIMELINE#{day}", "{created_at}#{post_id}"),
            on("GSI3", "POPULAR_POSTS", "{engagement_score}#{created_at}"),
        ],
        parts: attributes! { post_id => id, day nothing "the day in created_at" },
        attributes: attributes! {
            author_id, author_username => author_nickname, content, content_type,
            media_urls => media, created_at, updated_at, likes_count => PostCounter.likes,
            comments_count => PostCounter.comments, shares_count => PostCounter.shares,
            engagement_score => score, visibility, is_deleted, hashtags, mentions,
        },
    },
    DocumentShape {
        entity: "FOLLOW",
        ours: "Follow",
        keys: &[
            main("USER#{follower_id}", "FOLLOWING#{followed_id}"),
            on("GSI1", "USER#{followed_id}", "FOLLOWER#{follower_id}"),
            on("GSI2", "FOLLOW_GRAPH", "{created_at}#{follower_id}#{followed_id}"),
        ],
        parts: &[],
        // Of its status, `blocked` is a Block of ours, and `muted` is the field of that name.
        attributes: attributes! {
            follower_id, followed_id => followee_id, follower_username => follower_nickname,
            followed_username => followee_nickname, created_at, status, notification_enabled,
        },
    },
    DocumentShape {
        entity: "FOLLOWER",
        ours: "Follow",
        keys: &[main("USER#{followed_id}", "FOLLOWER#{follower_id}")],
        parts: attributes! { follower_id, followed_id => followee_id },
        attributes: &[],
    },
    DocumentShape {
        entity: "FEED",
        ours: "FeedItem",
        keys: &[
            main("FEED#{user_id}", "{created_at}#{post_id}"),
            on("GSI1", "FEED_MANAGEMENT#{user_id}", "{created_at}"),
        ],
        parts: &[],
        attributes: attributes! {
            user_id => follower_id, post_id => object_id, author_id => actor_id,
            author_username nothing "read from the post",
            content_preview => preview_text, content_type nothing "read from the post",
            created_at, inserted_at, engagement_score nothing "read from the counter",
            is_promoted nothing "what is true when it is read",
            feed_rank nothing "computed when it is read",
        },
    },
    DocumentShape {
        entity: "LIKE",
        ours: "Like",
        keys: &[
            main("POST#{post_id}", "LIKE#{user_id}"),
            on("GSI1", "USER#{user_id}", "LIKE#{created_at}#{post_id}"),
        ],
        parts: &[],
        attributes: attributes! {
            user_id, post_id, author_id => post_user_id, created_at, like_type,
        },
    },
    DocumentShape {
        entity: "COMMENT",
        ours: "Comment",
        keys: &[
            main("POST#{post_id}", "COMMENT#{comment_id}"),
            on("GSI1", "USER#{user_id}", "COMMENT#{created_at}#{comment_id}"),
            on("GSI2", "COMMENT#{comment_id}", "METADATA"),
        ],
        parts: &[],
        attributes: attributes! {
            comment_id => id, post_id, user_id, username nothing "read from the person", content,
            created_at, updated_at, likes_count => CommentCounter.likes,
            replies_count => CommentCounter.replies, parent_comment_id, is_deleted,
        },
    },
];

const QUESTIONS: &[DocumentQuestion] = &[
    get("profile", "a person", "USER#{user}", "PROFILE").by("profile"),
    query("posts_by", "a person's posts, newest first", "USER#{user}")
        .index("GSI1")
        .begins("POST#")
        .newest()
        .limit(20)
        .by("posts_by"),
    query("feed", "a person's own feed, page by page", "FEED#{user}")
        .newest()
        .limit(20)
        .by("feed_items")
        .deviates("of activities, which name the post"),
    query("timeline", "the posts of a day, newest first", "TIMELINE#{day}")
        .index("GSI2")
        .newest()
        .limit(50)
        .by("timeline")
        .deviates("what is not public, or deleted, is not in the index at all"),
    query("following", "whom a person follows", "USER#{user}")
        .begins("FOLLOWING#")
        .limit(100)
        .by("following"),
    query("followers", "who follows a person", "USER#{user}")
        .index("GSI1")
        .begins("FOLLOWER#")
        .limit(100)
        .by("followers"),
    query("likes", "who likes a post", "POST#{post}").begins("LIKE#").limit(50).by("likes"),
    query("comments", "the comments of a post, oldest first", "POST#{post}")
        .begins("COMMENT#")
        .limit(20)
        .by("comments"),
    get("follow", "one follows the other, at once", "USER#{follower}", "FOLLOWING#{followed}")
        .as_(Transact)
        .stated(Stated::Example)
        .by("follows")
        .deviates("on condition that the edge is new, and with the keys of the indexes"),
    get("post", "a post", "POST#{post}", "METADATA").stated(Stated::Key).by("post"),
    query("popular", "the posts people did most with", "POPULAR_POSTS")
        .index("GSI3")
        .newest()
        .stated(Stated::Key)
        .by("popular")
        .deviates("scores are padded: as text, the document sorts 999 above 1000"),
    query("follow_graph", "all follows by time", "FOLLOW_GRAPH")
        .index("GSI2")
        .stated(Stated::Key)
        .by("follow_activity")
        .deviates("by day instead of one hot partition"),
    query("feed_management", "a feed by time", "FEED_MANAGEMENT#{user}")
        .index("GSI1")
        .stated(Stated::Key)
        .by("feed_items")
        .deviates("the feed itself has this order"),
    query("likes_by", "what a person likes", "USER#{user}")
        .index("GSI1")
        .begins("LIKE#")
        .stated(Stated::Key)
        .by("likes_by")
        .deviates("newest first, where the document leaves the order to the index"),
    query("comments_by", "what a person commented", "USER#{user}")
        .index("GSI1")
        .begins("COMMENT#")
        .stated(Stated::Key)
        .by("comments_by")
        .deviates("newest first, where the document leaves the order to the index"),
    query("comment", "a comment, wherever it is", "COMMENT#{comment}")
        .index("GSI2")
        .is("METADATA")
        .stated(Stated::Key)
        .by("comment"),
];
