//! s3's first design: posts, follows, profiles, and likes that stay.

use crate::documents::DocumentOperation::Transact;
use crate::documents::{
    Document, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on, query,
};

/// The smaller design of s3.
pub(crate) const S3_MVP: Document = Document {
    name: "s3-mvp",
    table: "SocialMediaApp",
    indexes: &["GSI1", "GSI2"],
    ttl: None,
    stream: false,
    typed: false,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    DocumentShape {
        entity: "USER",
        ours: "User",
        keys: &[main("USER#{user_id}", "PROFILE"), on("GSI1", "USER#{user_id}", "PROFILE")],
        parts: attributes! { user_id => id },
        attributes: attributes! {
            username => nickname, email, display_name, bio, profile_image_url, created_at,
            updated_at, followers_count => UserCounter.count, following_count => UserCounter.count,
            posts_count => UserCounter.count, is_verified, is_private, status, actor_type,
            public_key, inbox_url, outbox_url, followers_url, following_url, preferred_username,
            domain,
        },
    },
    DocumentShape {
        entity: "POST",
        ours: "Post",
        keys: &[
            main("POST#{post_id}", "METADATA"),
            on("GSI1", "USER#{author_id}", "POST#{created_at}#{post_id}"),
            on("GSI2", "TIMELINE#{day}", "{created_at}#{post_id}"),
        ],
        parts: attributes! { post_id => id, day nothing "the day in created_at" },
        attributes: attributes! {
            author_id, author_username => author_nickname, content, content_type,
            media_urls => media, created_at, updated_at, likes_count => PostCounter.likes,
            visibility, is_deleted, hashtags, mentions, activity_id => activity_pub_id,
            activity_type nothing "always Note", audience,
        },
    },
    DocumentShape {
        entity: "FOLLOW",
        ours: "Follow",
        keys: &[
            main("USER#{follower_id}", "FOLLOWING#{followed_id}"),
            on("GSI1", "USER#{followed_id}", "FOLLOWER#{follower_id}"),
            on("GSI2", "FOLLOW_ACTIVITY#{day}", "{created_at}#{follower_id}#{followed_id}"),
        ],
        parts: attributes! { day nothing "the day in created_at" },
        attributes: attributes! {
            follower_id, followed_id => followee_id, follower_username => follower_nickname,
            followed_username => followee_nickname, created_at, status,
            activity_id => activity_pub_id, activity_type nothing "always Follow",
        },
    },
    // The transaction writes the other direction as an item, too, which the index makes superfluous.
    DocumentShape {
        entity: "FOLLOWER",
        ours: "Follow",
        keys: &[main("USER#{followed_id}", "FOLLOWER#{follower_id}")],
        parts: &[],
        attributes: attributes! { follower_id, followed_id => followee_id, created_at, status },
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
            user_id, post_id, author_id => post_user_id, created_at,
            activity_id => activity_pub_id, activity_type nothing "always Like",
        },
    },
];

const QUESTIONS: &[DocumentQuestion] = &[
    get("profile", "a person, as an actor", "USER#{user}", "PROFILE").by("profile"),
    query("posts_by", "a person's posts, newest first", "USER#{user}")
        .index("GSI1")
        .begins("POST#")
        .newest()
        .limit(20)
        .by("posts_by"),
    query("following", "whom a person follows", "USER#{user}").begins("FOLLOWING#").by("following"),
    query("followers", "who follows a person", "USER#{user}")
        .index("GSI1")
        .begins("FOLLOWER#")
        .by("followers"),
    get("follows", "whether one follows the other", "USER#{follower}", "FOLLOWING#{followed}")
        .by("follows"),
    query("likes", "who likes a post", "POST#{post}").begins("LIKE#").by("likes"),
    query("likes_by", "what a person likes", "USER#{user}")
        .index("GSI1")
        .begins("LIKE#")
        .by("likes_by")
        .deviates("newest first, where the document leaves the order to the index"),
    query("timeline", "the posts of a day, newest first", "TIMELINE#{day}")
        .index("GSI2")
        .newest()
        .limit(50)
        .by("timeline")
        .deviates("what is not public, or deleted, is not in the index at all"),
    query("follow_activity", "the follows of a day", "FOLLOW_ACTIVITY#{day}")
        .index("GSI2")
        .stated(Stated::Index)
        .by("follow_activity")
        .deviates("newest first, where the document leaves the order to the index"),
    query("profile_in_index", "a person, beside what they did", "USER#{user}")
        .index("GSI1")
        .is("PROFILE")
        .stated(Stated::Key)
        .by("user_card"),
    get("post", "a post", "POST#{post}", "METADATA").stated(Stated::Key).by("post"),
    get("follow", "one follows the other, at once", "USER#{follower}", "FOLLOWING#{followed}")
        .as_(Transact)
        .stated(Stated::Example)
        .by("follows")
        .deviates("on condition that the edge is new, and with the keys of the indexes"),
    get("like", "a user likes a post, for good", "POST#{post}", "LIKE#{user}")
        .as_(Transact)
        .stated(Stated::Example)
        .by("liked")
        .deviates("with the keys of the index; the count is kept from the stream"),
];
