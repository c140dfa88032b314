//! s2: photo posts with comments, likes and moderation, in one table with one index.

use super::DocumentOperation::{Scan, Update};
use super::{
    Document, DocumentFilter, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on,
    query,
};

/// The social app with a moderated global feed.
pub(crate) const S2: Document = Document {
    name: "s2",
    table: "social-app-table",
    indexes: &["GSI1"],
    ttl: None,
    stream: false,
    typed: false,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    DocumentShape {
        entity: "Post",
        ours: "Post",
        keys: &[main("POST#{postId}", "POST"), on("GSI1", "FEED#{feedId}", "POST#{CreatedAt}")],
        parts: attributes! { postId => id, feedId => feed_id },
        attributes: attributes! {
            Caption => content, PhotoStorageKey => media,
            PhotoUrl nothing "made from the storage key when read", OwnerId => author_id,
            ModerationStatus => moderation_status, LikeCount => PostCounter.likes,
            CommentCount => PostCounter.comments,
            CreatedAt => created_at, UpdatedAt => updated_at,
        },
    },
    // The document does not state the attributes of comments and profiles.
    DocumentShape {
        entity: "Comment",
        ours: "Comment",
        keys: &[
            main("POST#{postId}", "COMMENT#{commentId}"),
            on("GSI1", "POST#{postId}", "COMMENT#{CreatedAt}"),
        ],
        parts: attributes! { postId => post_id, commentId => id },
        attributes: attributes! { CreatedAt => created_at },
    },
    DocumentShape {
        entity: "Like",
        ours: "Like",
        keys: &[
            main("POST#{postId}", "LIKE#{userId}"),
            on("GSI1", "USER#{userId}", "LIKE#{CreatedAt}"),
        ],
        parts: attributes! { postId => post_id, userId => user_id },
        attributes: attributes! { CreatedAt => created_at },
    },
    DocumentShape {
        entity: "User",
        ours: "User",
        keys: &[main("USER#{userId}", "PROFILE"), on("GSI1", "USER#{userId}", "PROFILE")],
        parts: attributes! { userId => id },
        attributes: &[],
    },
    DocumentShape {
        entity: "UserPost",
        ours: "Post",
        keys: &[
            main("USER#{userId}", "POST#{postId}"),
            on("GSI1", "USER#{userId}", "POST#{CreatedAt}"),
        ],
        parts: attributes! { userId => author_id, postId => id },
        attributes: attributes! { CreatedAt => created_at },
    },
];

/// The reason for which two snippets are refused as written.
const FILTER_ON_KEY: &str = "a filter cannot name GSI1SK, a key of the index that is queried";

/// The effect of three queries on their pages.
const SHORT_PAGES: &str = "by day, and pages are full: the document filters after the limit";

const QUESTIONS: &[DocumentQuestion] = &[
    query("feed", "the newest posts of all users", "FEED#{feed}")
        .index("GSI1")
        .newest()
        .limit(20)
        .by("timeline")
        .deviates("by day instead of one hot partition; approved posts only"),
    query("feed_by_status", "the newest posts of a status", "FEED#{feed}")
        .index("GSI1")
        .newest()
        .filter(&[DocumentFilter::Is("ModerationStatus", "{status}")])
        .by("timeline")
        .deviates(SHORT_PAGES),
    get("post", "a post", "POST#{post}", "POST").by("post"),
    query("post_with_comments", "a post with all that belongs to it", "POST#{post}")
        .by("post_with_comments")
        .deviates("the likes and counters in the same partition are not read along"),
    query("comments", "the comments of a post, the last first", "POST#{post}")
        .begins("COMMENT#")
        .newest()
        .by("comments"),
    get("profile", "a person", "USER#{user}", "PROFILE").by("profile"),
    query("posts_by", "a person's posts, the last first", "USER#{user}")
        .begins("POST#")
        .newest()
        .by("posts_by")
        .deviates("by time instead of by id, and without a second item"),
    query("posts_by_in_index", "a person's posts, newest first", "USER#{user}")
        .index("GSI1")
        .newest()
        .filter(&[DocumentFilter::Begins("GSI1SK", "POST#")])
        .rejected(FILTER_ON_KEY)
        .by("posts_by"),
    get("liked", "whether a user likes a post", "POST#{post}", "LIKE#{user}").by("liked"),
    query("likes", "who likes a post", "POST#{post}").begins("LIKE#").by("likes"),
    query("likes_by", "what a person likes", "USER#{user}")
        .index("GSI1")
        .filter(&[DocumentFilter::Begins("GSI1SK", "LIKE#")])
        .rejected(FILTER_ON_KEY)
        .by("likes_by"),
    query("pending", "the posts that wait for a moderator", "FEED#{feed}")
        .index("GSI1")
        .newest()
        .filter(&[DocumentFilter::Is("ModerationStatus", "PENDING")])
        .by("moderation_queue")
        .deviates("cases of their own: a post that waits is in no feed"),
    get("moderate", "a moderator decides on a post", "POST#{post}", "POST").as_(Update).by("post"),
    get("statistics", "what people did with a post", "POST#{post}", "POST")
        .project(&["Caption", "LikeCount", "CommentCount", "CreatedAt"])
        .by("post_stats"),
    query("popular", "the approved posts, to be sorted by likes", "")
        .as_(Scan)
        .filter(&[
            DocumentFilter::Begins("PK", "POST#"),
            DocumentFilter::Is("ModerationStatus", "APPROVED"),
        ])
        .project(&["PK", "Caption", "LikeCount", "CommentCount", "CreatedAt"])
        .by("popular")
        .deviates("an index by engagement instead of a scan; posts above a threshold"),
    query("recent_feed", "the newest approved posts", "FEED#{feed}")
        .index("GSI1")
        .newest()
        .limit(20)
        .filter(&[DocumentFilter::Is("ModerationStatus", "APPROVED")])
        .stated(Stated::Example)
        .by("timeline")
        .deviates(SHORT_PAGES),
    query("recent_posts_by", "a person's last posts", "USER#{user}")
        .begins("POST#")
        .newest()
        .limit(20)
        .stated(Stated::Example)
        .by("posts_by")
        .deviates("by time instead of by id, and without a second item"),
    get("toggle_like", "whether a tap adds a like or takes it back", "POST#{post}", "LIKE#{user}")
        .stated(Stated::Example)
        .by("liked")
        .deviates("conditional, where two taps at once count twice; and with the index keys"),
    query("named_feed", "the newest posts of a named feed", "FEED#{feed}")
        .index("GSI1")
        .newest()
        .stated(Stated::Key)
        .by("feed_timeline")
        .deviates("by day; approved posts only"),
    query("profile_in_index", "a person, beside what they did", "USER#{user}")
        .index("GSI1")
        .is("PROFILE")
        .stated(Stated::Key)
        .by("user_card"),
    query("comments_by_time", "the comments of a post by time", "POST#{post}")
        .index("GSI1")
        .begins("COMMENT#")
        .newest()
        .stated(Stated::Key)
        .by("comments")
        .deviates("the table's own order: ids rise with time"),
];
