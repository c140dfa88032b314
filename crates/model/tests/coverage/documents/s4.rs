//! s4: which index serves which purpose, for people, posts, follows, comments and likes.

use super::{Document, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on, query};

/// The allocation of three indexes. It names no table, and of the primary keys only that of a post.
pub(crate) const S4: Document = Document {
    name: "s4",
    table: "TamaFriends",
    indexes: &["GSI1", "GSI2", "GSI3"],
    ttl: None,
    stream: true,
    typed: false,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    DocumentShape {
        entity: "USER_PROFILE",
        ours: "User",
        keys: &[
            on("GSI1", "EMAIL#{email}", "USER#{userId}"),
            on("GSI2", "USERNAME#{username}", "USER#{userId}"),
            on("GSI3", "HANDLE#{handle}", "USER#{userId}"),
        ],
        parts: attributes! { userId => id, email, username => nickname, handle },
        attributes: &[],
    },
    DocumentShape {
        entity: "POST",
        ours: "Post",
        keys: &[main("USER#{userId}", "{postSK}"), on("GSI1", "POST#{postId}", "USER#{userId}")],
        parts: attributes! {
            userId => author_id, postId => id, postSK nothing "ours is the same for every post",
        },
        attributes: &[],
    },
    DocumentShape {
        entity: "FOLLOW",
        ours: "Follow",
        keys: &[
            on("GSI1", "USER#{followeeId}", "FOLLOWER#{followerId}"),
            on("GSI2", "USER#{followeeId}", "FOLLOW#{followerId}"),
        ],
        parts: attributes! { followerId => follower_id, followeeId => followee_id },
        attributes: &[],
    },
    DocumentShape {
        entity: "COMMENT",
        ours: "Comment",
        keys: &[
            on("GSI1", "COMMENT#{commentId}", "POST#{postId}"),
            on("GSI2", "USER#{userId}", "COMMENT#{timestamp}#{commentId}"),
        ],
        parts: attributes! {
            commentId => id, postId => post_id, userId => user_id, timestamp => created_at,
        },
        attributes: attributes! { postUserId => post_user_id, postSK => post_sk },
    },
    DocumentShape {
        entity: "LIKE",
        ours: "Like",
        keys: &[on("GSI2", "USER#{userId}", "LIKE#{postId}")],
        parts: attributes! { userId => user_id, postId => post_id },
        attributes: attributes! { postUserId => post_user_id, postSK => post_sk },
    },
];

const QUESTIONS: &[DocumentQuestion] = &[
    query("by_email", "who signs in with an e-mail address", "EMAIL#{email}")
        .index("GSI1")
        .stated(Stated::Index)
        .by("user_by_email"),
    query("post_by_id", "a post by its id alone", "POST#{post}")
        .index("GSI1")
        .stated(Stated::Index)
        .by("post"),
    query("followers", "who follows a person", "USER#{user}")
        .index("GSI1")
        .begins("FOLLOWER#")
        .stated(Stated::Index)
        .by("followers"),
    query("comment_by_id", "a comment by its id alone", "COMMENT#{comment}")
        .index("GSI1")
        .stated(Stated::Index)
        .by("comment"),
    query("by_username", "who signs in with a username", "USERNAME#{username}")
        .index("GSI2")
        .stated(Stated::Index)
        .by("user_by_nickname"),
    query("follows_of", "whose counters a follow changes", "USER#{user}")
        .index("GSI2")
        .begins("FOLLOW#")
        .stated(Stated::Index)
        .by("followers")
        .deviates("the fields of the follow say it; one listing of followers is enough"),
    query("comments_by", "what a person commented", "USER#{user}")
        .index("GSI2")
        .begins("COMMENT#")
        .stated(Stated::Index)
        .by("comments_by")
        .deviates("newest first, where the document leaves the order to the index"),
    query("likes_by", "what a person likes", "USER#{user}")
        .index("GSI2")
        .begins("LIKE#")
        .stated(Stated::Index)
        .by("likes_by")
        .deviates("newest first instead of by the post's id"),
    query("by_handle", "who has a handle", "HANDLE#{handle}")
        .index("GSI3")
        .stated(Stated::Index)
        .by("user_by_handle")
        .deviates("by a lock that makes handles unique, which an index cannot"),
    query("posts_by", "a person's posts", "USER#{user}")
        .begins("POST#")
        .stated(Stated::Key)
        .by("posts_by")
        .deviates("in an index, newest first"),
    get(
        "post_of_reaction",
        "the post that a like or comment is on",
        "USER#{postUserId}",
        "{postSK}",
    )
    .stated(Stated::Example)
    .by("post"),
];
