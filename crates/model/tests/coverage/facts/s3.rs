//! One busy day of a small network, for both designs.

use roundtable_model::entities::*;
use roundtable_model::{Day, Entity, UserCount, Visibility};
use roundtable_table::{Item, item};

use crate::documents::{Document, S3, S3_MVP};
use crate::ours::{self, at, id, items, later};
use crate::sides::{Sides, item_of, own};

pub(crate) const USER: &str = "user123";
pub(crate) const POST: &str = "post456";
pub(crate) const DAY: &str = "2025-01-27";

/// A post of both tables.
pub(crate) struct PostFact {
    pub(crate) id: String,
    pub(crate) author: &'static str,
    pub(crate) visibility: &'static str,
    pub(crate) deleted: bool,
    pub(crate) score: u64,
    pub(crate) created: String,
}

/// More than a page of posts of the day, and a few of the day before. The document's own post is at
/// half past three; of the newest posts, one is private and one deleted.
pub(crate) fn posts() -> Vec<PostFact> {
    let post = |n: u64| PostFact {
        id: if n == 50 { POST.into() } else { format!("post{n:03}") },
        author: if n.is_multiple_of(2) { USER } else { "user456" },
        visibility: if n == 58 { "private" } else { "public" },
        deleted: n == 57,
        score: if n == 50 { 1000 } else { n * 41 % 997 },
        created: later("2025-01-26T22:50:00Z", n * 20),
    };
    (0..70).map(post).collect()
}

/// Follower, followee and time.
pub(crate) const FOLLOWS: [(&str, &str, &str); 5] = [
    (USER, "user456", "2025-01-27T12:00:00Z"),
    (USER, "userB", "2025-01-27T09:00:00Z"),
    ("userA", USER, "2025-01-27T10:00:00Z"),
    ("user456", USER, "2025-01-26T10:00:00Z"),
    ("userA", "userB", "2025-01-27T11:00:00Z"),
];

/// Post, user and time of a like.
pub(crate) const LIKES: [(&str, &str, &str); 4] = [
    (POST, USER, "2025-01-27T16:00:00Z"),
    (POST, "userB", "2025-01-27T15:45:00Z"),
    (POST, "userA", "2025-01-27T15:50:00Z"),
    ("post003", USER, "2025-01-27T17:00:00Z"),
];

/// Comments of the document's post, more than a page: id, author, time. One is on another post.
pub(crate) fn comments() -> Vec<(&'static str, String, &'static str, String)> {
    let comment = |n: u64| {
        let who = if n.is_multiple_of(5) { USER } else { "userA" };
        (POST, format!("comment{:03}", 765 + n), who, later("2025-01-27T16:06:00Z", n))
    };
    let elsewhere = ("post003", "comment700".into(), USER, "2025-01-27T16:00:00Z".into());
    (0..25).map(comment).chain([elsewhere]).collect()
}

/// Returns the feed of the document's reader: the posts of the other author.
pub(crate) fn feed() -> Vec<PostFact> {
    posts().into_iter().filter(|post| post.author == "user456").collect()
}

pub(crate) fn day() -> Day {
    id(DAY)
}

fn day_of(time: &str) -> &str {
    time.get(..10).unwrap()
}

fn own_items(document: &'static Document) -> Vec<Item> {
    let full = document.name == S3.name;
    let mut all = Vec::new();
    for user in [USER, "user456", "userA", "userB"] {
        all.push(own! { document, "USER",
            "user_id" => user, "followers_count" => 0, "following_count" => 0,
            "status" => "active", "created_at" => "2025-01-01T10:00:00Z",
        });
    }
    for PostFact { id, author, visibility, deleted, score, created } in posts() {
        let likes = LIKES.iter().filter(|(post, ..)| *post == id).count() as u64;
        let post = item! {
            "post_id" => id.as_str(), "author_id" => author, "content" => "Just launched!",
            "created_at" => created.as_str(), "day" => day_of(&created), "visibility" => visibility,
            "is_deleted" => deleted, "likes_count" => likes,
        };
        let post = if full { post.with("engagement_score", score) } else { post };
        all.push(item_of(document, "POST", &post));
    }
    for (follower, followed, ts) in FOLLOWS {
        let follow = item! {
            "follower_id" => follower, "followed_id" => followed, "created_at" => ts,
            "status" => "active",
        };
        let follow = if full { follow } else { follow.with("day", day_of(ts)) };
        all.push(item_of(document, "FOLLOW", &follow));
    }
    all.extend(LIKES.map(|(post, user, ts)| {
        own! { document, "LIKE", "post_id" => post, "user_id" => user, "created_at" => ts }
    }));
    if full {
        all.extend(comments().into_iter().map(|(post, comment, user, ts)| {
            own! { document, "COMMENT",
                "post_id" => post, "comment_id" => comment, "user_id" => user, "created_at" => ts,
            }
        }));
        all.extend(feed().into_iter().map(|post| {
            own! { document, "FEED",
                "user_id" => USER, "post_id" => post.id, "author_id" => post.author,
                "created_at" => post.created,
            }
        }));
    }
    all
}

/// Returns the id of a post's activity.
fn activity_of(post: &str) -> String {
    format!("posted-{post}")
}

fn our_items() -> Vec<Item> {
    let mut all = Vec::new();
    for (user, nickname) in
        [(USER, "john_doe"), ("user456", "jane_doe"), ("userA", "ann"), ("userB", "ben")]
    {
        let email = format!("{nickname}@example.com");
        all.push(ours::user(user, nickname, &email, "2025-01-01T10:00:00Z").item());
        for counter in [UserCount::Followers, UserCount::Following] {
            all.push(ours::counter(user, counter, 0, "2025-01-01T10:00:00Z").item());
        }
    }
    for fact in posts() {
        let post = Post {
            visibility: id::<Visibility>(fact.visibility),
            is_deleted: fact.deleted,
            ..ours::post(&fact.id, fact.author, &fact.created)
        };
        all.push(ours::popular(post, fact.score).item());
    }
    all.extend(items(FOLLOWS.map(|(a, b, ts)| ours::follow(a, b, ts))));
    all.extend(items(LIKES.map(|(post, user, ts)| ours::like(post, user, USER, ts))));
    all.extend(
        comments()
            .iter()
            .map(|(post, comment, user, ts)| ours::comment(post, comment, user, ts).item()),
    );
    all.extend(feed().iter().map(|post| {
        let activity = activity_of(&post.id);
        let item = ours::feed_item(USER, post.author, &activity, &post.created);
        FeedItem { object_id: id(&post.id), inserted_at: at(&post.created), ..item }.item()
    }));
    all
}

/// Returns the small design beside ours.
pub(crate) async fn small() -> Sides {
    Sides::of(&S3_MVP, own_items(&S3_MVP), our_items()).await
}

/// Returns the full design beside ours.
pub(crate) async fn full() -> Sides {
    Sides::of(&S3, own_items(&S3), our_items()).await
}
