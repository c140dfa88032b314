//! s4: the purpose of each index.

use roundtable_model::entities::*;
use roundtable_model::{Entity, Shards, UserId, samples};
use roundtable_table::{Item, Key};

use crate::documents::S4;
use crate::ours::{self, at, id, items, texts};
use crate::sides::{Sides, covers, each, ends, own, reversed};

const USER: &str = "user123";

/// Id, username, e-mail address, handle.
const PEOPLE: [(&str, &str, &str, &str); 2] = [
    (USER, "john_doe", "john@example.com", "john"),
    ("user456", "jane_doe", "jane@example.com", "jane"),
];

/// Follower and followee. The second user follows no other user.
const FOLLOWS: [(&str, &str); 3] = [("user456", USER), ("userA", USER), (USER, "userB")];

/// Post, author and time; the order of ids differs from the order of times.
const POSTS: [(&str, &str, &str); 4] = [
    ("post456", USER, "2025-01-27T15:30:00Z"),
    ("post123", USER, "2025-01-27T16:30:00Z"),
    ("post789", USER, "2025-01-27T14:30:00Z"),
    ("post001", "user456", "2025-01-27T13:30:00Z"),
];

/// Comment, post, author and time.
const COMMENTS: [(&str, &str, &str, &str); 3] = [
    ("comment789", "post456", USER, "2025-01-27T16:30:00Z"),
    ("comment790", "post456", "user456", "2025-01-27T16:40:00Z"),
    ("comment791", "post001", USER, "2025-01-27T16:50:00Z"),
];

/// Post, user and time of a like, not in the order of the posts' ids.
const LIKES: [(&str, &str, &str); 3] = [
    ("post001", USER, "2025-01-27T17:00:00Z"),
    ("post456", USER, "2025-01-27T16:00:00Z"),
    ("post456", "user456", "2025-01-27T16:00:00Z"),
];

fn author_of(post: &str) -> (&'static str, String) {
    let (_, author, ts) = POSTS.into_iter().find(|(id, ..)| *id == post).unwrap();
    (author, format!("POST#{ts}#{post}"))
}

/// The document does not specify most primary keys; these are the simplest that fit it.
fn own_items() -> Vec<Item> {
    let mut all = Vec::new();
    all.extend(PEOPLE.map(|(user, username, email, handle)| {
        own! { S4, "USER_PROFILE",
            "PK" => format!("USER#{user}"), "SK" => "PROFILE", "userId" => user,
            "username" => username, "email" => email, "handle" => handle,
        }
    }));
    all.extend(FOLLOWS.map(|(a, b)| {
        own! { S4, "FOLLOW",
            "PK" => format!("USER#{a}"), "SK" => format!("FOLLOW#{b}"), "followerId" => a,
            "followeeId" => b,
        }
    }));
    all.extend(POSTS.map(|(post, author, _)| {
        own! { S4, "POST",
            "userId" => author, "postId" => post, "postSK" => author_of(post).1,
        }
    }));
    all.extend(COMMENTS.map(|(comment, post, user, ts)| {
        let (author, sort) = author_of(post);
        own! { S4, "COMMENT",
            "PK" => format!("POST#{post}"), "SK" => format!("COMMENT#{comment}"),
            "commentId" => comment, "postId" => post, "userId" => user, "timestamp" => ts,
            "postUserId" => author, "postSK" => sort,
        }
    }));
    all.extend(LIKES.map(|(post, user, _)| {
        let (author, sort) = author_of(post);
        own! { S4, "LIKE",
            "PK" => format!("POST#{post}"), "SK" => format!("LIKE#{user}"), "postId" => post,
            "userId" => user, "postUserId" => author, "postSK" => sort,
        }
    }));
    all
}

fn our_items() -> Vec<Item> {
    let (joined, followed) = ("2025-01-01T10:00:00Z", "2025-01-27T12:00:00Z");
    let mut all = Vec::new();
    for (user, username, email, handle) in PEOPLE {
        let user = ours::user(user, username, email, joined);
        all.push(User { handle: Some(id(handle)), ..user.clone() }.item());
        let lock = HandleLock { handle: id(handle), user_id: user.id, ..samples::handle_lock() };
        all.push(lock.item());
    }
    all.extend(items(FOLLOWS.map(|(a, b)| ours::follow(a, b, followed))));
    all.extend(items(POSTS.map(|(post, author, ts)| ours::post(post, author, ts))));
    all.extend(items(COMMENTS.map(|(comment, post, user, ts)| Comment {
        post_user_id: id(author_of(post).0),
        ..ours::comment(post, comment, user, ts)
    })));
    all.extend(items(LIKES.map(|(post, user, ts)| ours::like(post, user, author_of(post).0, ts))));
    all
}

async fn sides() -> Sides {
    Sides::of(&S4, own_items(), our_items()).await
}

covers! {
    people: "by_email", "by_username", "by_handle";
    posts: "post_by_id", "posts_by";
    followers: "followers", "follows_of";
    comments: "comment_by_id", "comments_by";
    likes: "likes_by";
    counters: "post_of_reaction";
}

fn user() -> UserId {
    id(USER)
}

/// R21. A lock makes a handle unique, which an index cannot.
async fn people(sides: &Sides) {
    for (user, username, email, handle) in PEOPLE {
        let own = sides.ask("by_email", &[("email", email)]).await;
        let ours = sides.core.user_by_email(&id(email)).get().await.unwrap().unwrap();
        assert_eq!(ends(&own, "GSI1SK"), texts([ours.id]));
        let own = sides.ask("by_username", &[("username", username)]).await;
        let ours = sides.core.user_by_nickname(&id(username)).get().await.unwrap().unwrap();
        assert_eq!(ends(&own, "GSI2SK"), texts([ours.id]));
        let own = sides.ask("by_handle", &[("handle", handle)]).await;
        let ours = sides.core.user_by_handle(&id(handle)).await.unwrap().unwrap();
        assert_eq!(ends(&own, "GSI3SK"), texts([&ours.id]));
        assert_eq!(ours.id, id(user));
    }
}

/// R27. Posts are stored by id in our table, so no index is needed for one; a user's posts are in
/// an index.
async fn posts(sides: &Sides) {
    let own = sides.ask("post_by_id", &[("post", "post456")]).await;
    let ours = sides.core.post(&id("post456")).get().await.unwrap().unwrap();
    assert_eq!(ends(&own, "GSI1SK"), texts([ours.author_id]));
    let own = sides.ask("posts_by", &[("user", USER)]).await;
    let ours = sides.core.posts_by(&user()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|post| &post.id));
    assert_eq!(reversed(ends(&own, "SK")), ours, "newest first");
    assert_eq!(ours, ["post123", "post456", "post789"]);
}

/// R22. One listing is enough: the second index mixed these with the user's own actions.
async fn followers(sides: &Sides) {
    let ours = sides.core.followers(&user(), Shards::ONE).page().await.unwrap().items;
    let followers = texts(ours.iter().map(|follow| &follow.follower_id));
    assert_eq!(followers, ["user456", "userA"]);
    assert_eq!(ends(&sides.ask("followers", &[("user", USER)]).await, "GSI1SK"), followers);
    let own = sides.ask("follows_of", &[("user", USER)]).await;
    assert_eq!(ends(&own, "GSI2SK"), followers);
    // A processor reads the owner of a counter from the fields, never from a key.
    assert_eq!(ends(&own, "GSI2PK"), texts(ours.iter().map(|follow| &follow.followee_id)));
}

/// R27, R19.
async fn comments(sides: &Sides) {
    let own = sides.ask("comment_by_id", &[("comment", "comment790")]).await;
    let ours = sides.core.comment(&id("comment790")).get().await.unwrap().unwrap();
    assert_eq!(ends(&own, "GSI1SK"), texts([ours.post_id]));
    let own = sides.ask("comments_by", &[("user", USER)]).await;
    let ours = sides.core.comments_by(&user()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|comment| &comment.id));
    assert_eq!(reversed(ends(&own, "GSI2SK")), ours, "newest first");
    assert_eq!(ours.len(), 2);
}

/// R27. Newest first, while the document has the order of the posts' ids.
async fn likes(sides: &Sides) {
    let own = ends(&sides.ask("likes_by", &[("user", USER)]).await, "GSI2SK");
    let ours = sides.core.likes_by(&user()).page().await.unwrap().items;
    assert!(ours.is_sorted_by(|one, next| one.created_at > next.created_at));
    let mut by_id = texts(ours.iter().map(|like| &like.post_id));
    by_id.sort();
    assert_eq!(own, by_id);
    assert_eq!(ours.first().unwrap().created_at, at("2025-01-27T17:00:00Z"));
}

/// R37: a like or comment contains the key of its post and the post's author.
async fn counters(sides: &Sides) {
    let reactions = sides.own.scan(roundtable_table::Scan::new()).await.unwrap().items;
    let reactions = reactions.into_iter().filter(|item| item.text("postUserId").is_some());
    let mut found = 0;
    for reaction in reactions {
        let names = ["postUserId", "postSK"];
        let with = names.map(|name| (name, reaction.text(name).unwrap()));
        let own = sides.ask("post_of_reaction", &with).await;
        let post = each(&own, "GSI1PK").concat();
        let table = sides.core.table();
        let key = Key::new(reaction.text("PK").unwrap(), reaction.text("SK").unwrap());
        let ours = table.get(roundtable_table::Get::new(key)).await.unwrap().item.unwrap();
        let sort = ours.text("postSK").unwrap();
        let ours_post =
            table.get(roundtable_table::Get::new((post, sort))).await.unwrap().item.unwrap();
        assert_eq!(ours_post.text("authorId"), ours.text("postUserId"));
        assert_eq!(ours_post.text("authorId"), reaction.text("postUserId"));
        found += 1;
    }
    assert_eq!(found, COMMENTS.len() + LIKES.len());
}
