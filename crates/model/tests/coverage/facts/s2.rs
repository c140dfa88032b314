//! Posts of a few days, some of them waiting for a moderator.

use roundtable_model::entities::*;
use roundtable_model::{Day, Days, Entity, ModerationStatus, samples};
use roundtable_table::Item;

use crate::documents::S2;
use crate::ours::{self, at, id, items, later};
use crate::sides::{Sides, own};

pub(crate) const USER: &str = "user-123";
pub(crate) const POST: &str = "post-123";

/// The number of likes that makes a post popular in our table.
pub(crate) const POPULAR_LIKES_MIN: u64 = 5;

/// A post of both tables.
pub(crate) struct PostFact {
    pub(crate) id: String,
    pub(crate) owner: &'static str,
    pub(crate) feed: &'static str,
    pub(crate) status: &'static str,
    pub(crate) likes: u64,
    pub(crate) created: String,
}

/// One post an hour. The document's own post is written at midnight and pending; one id is older
/// than its post's time; three posts are in the gardening feed.
pub(crate) fn posts() -> Vec<PostFact> {
    let hourly = |n: u64| PostFact {
        id: format!("post-{n:03}"),
        owner: if n.is_multiple_of(2) { "user-456" } else { USER },
        feed: "GLOBAL",
        status: if n.is_multiple_of(3) {
            "PENDING"
        } else if n.is_multiple_of(7) {
            "REJECTED"
        } else {
            "APPROVED"
        },
        likes: n * 37 % 113,
        created: later("2023-12-30T15:00:00Z", (n - 90) * 60),
    };
    let late =
        PostFact { id: "post-001".into(), created: "2024-01-02T00:00:00Z".into(), ..hourly(95) };
    let gardening = (200..203).map(|n| PostFact {
        feed: "gardening",
        owner: "user-789",
        status: "APPROVED",
        likes: 0,
        ..hourly(n)
    });
    (90..136).map(hourly).chain([late]).chain(gardening).collect()
}

/// Comments of the document's post: author and time.
pub(crate) const COMMENTS: [(&str, &str, &str); 3] = [
    ("comment-1", USER, "2024-01-01T01:00:00Z"),
    ("comment-2", "user-456", "2024-01-01T02:00:00Z"),
    ("comment-3", USER, "2024-01-01T03:00:00Z"),
];

/// Post, user and time of a like.
pub(crate) const LIKES: [(&str, &str, &str); 4] = [
    (POST, "user-456", "2024-01-01T05:00:00Z"),
    (POST, USER, "2024-01-01T06:00:00Z"),
    ("post-110", USER, "2024-01-01T07:00:00Z"),
    ("post-122", USER, "2024-01-01T04:00:00Z"),
];

/// Returns the days with posts.
pub(crate) fn days() -> Days {
    Days { newest: id::<Day>("2024-01-04"), oldest: id::<Day>("2023-12-30") }
}

fn own_items() -> Vec<Item> {
    let mut all = Vec::new();
    for post in posts() {
        let PostFact { id, owner, feed, status, likes, created } = post;
        all.push(own! { S2, "Post",
            "postId" => id.as_str(), "feedId" => feed, "Caption" => format!("Hello from {id}!"),
            "PhotoStorageKey" => "posts/123.jpg", "OwnerId" => owner, "ModerationStatus" => status,
            "LikeCount" => likes, "CommentCount" => 0, "CreatedAt" => created.as_str(),
            "UpdatedAt" => created.as_str(),
        });
        all.push(own! { S2, "UserPost",
            "userId" => owner, "postId" => id, "CreatedAt" => created,
        });
    }
    all.extend(COMMENTS.map(|(comment, _, ts)| {
        own! { S2, "Comment", "postId" => POST, "commentId" => comment, "CreatedAt" => ts }
    }));
    all.extend(LIKES.map(|(post, user, ts)| {
        own! { S2, "Like", "postId" => post, "userId" => user, "CreatedAt" => ts }
    }));
    all.push(own! { S2, "User", "userId" => USER });
    all
}

/// Returns the post as our entity, published unless pending or rejected.
pub(crate) fn our_post(fact: &PostFact) -> Post {
    let status: ModerationStatus = id(fact.status);
    let approved = status == ModerationStatus::Approved;
    let post = Post {
        content: format!("Hello from {}!", fact.id),
        feed_id: id(fact.feed),
        moderation_status: status,
        published_at: approved.then(|| at(&fact.created)),
        ..ours::post(&fact.id, fact.owner, &fact.created)
    };
    if fact.likes < POPULAR_LIKES_MIN { post } else { ours::popular(post, fact.likes) }
}

/// Returns the case of a post that was not approved at once.
pub(crate) fn our_case(fact: &PostFact) -> ModerationCase {
    ModerationCase {
        id: id(&fact.id),
        post_id: Some(id(&fact.id)),
        comment_id: None,
        status: id(fact.status),
        created_at: at(&fact.created),
        ..samples::moderation_case()
    }
}

fn our_items() -> Vec<Item> {
    let mut all = Vec::new();
    for fact in posts() {
        all.push(our_post(&fact).item());
        all.push(ours::post_counter(&fact.id, fact.likes, 0, fact.likes).item());
        if fact.status != "APPROVED" {
            all.push(our_case(&fact).item());
        }
    }
    all.extend(items(COMMENTS.map(|(comment, user, ts)| ours::comment(POST, comment, user, ts))));
    all.extend(items(LIKES.map(|(post, user, ts)| ours::like(post, user, USER, ts))));
    all.extend(items([ours::user(USER, "john_doe", "john@example.com", "2023-12-01T00:00:00Z")]));
    all
}

pub(crate) async fn sides() -> Sides {
    Sides::of(&S2, own_items(), our_items()).await
}
