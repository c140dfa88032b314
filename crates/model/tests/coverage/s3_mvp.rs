//! s3, the small design.

use roundtable_model::entities::*;
use roundtable_model::{Days, Entity, Shards};
use roundtable_table::{Error, Get, Put, Query, Transaction, Update, item, not_exists};

use crate::facts::s3::*;
use crate::ours::{self, id, texts};
use crate::s3::{self, WITH, user};
use crate::sides::{Sides, covers, each, ends, reversed};

covers! {
    profiles: "profile", "profile_in_index";
    posts_and_timeline: "post", "posts_by", "timeline";
    follow_lists: "following", "followers", "follows", "follow_activity";
    following_a_user: "follow";
    likes: "likes", "likes_by";
    liking: "like";
}

async fn sides() -> Sides {
    small().await
}

/// R21.
async fn profiles(sides: &Sides) {
    let ours = sides.core.profile(&user()).get().await.unwrap().unwrap();
    assert_eq!(ends(&sides.ask("profile", &WITH).await, "PK"), texts([&ours.id]));
    let card = sides.core.user_card(&user()).page().await.unwrap().items;
    assert_eq!(ends(&sides.ask("profile_in_index", &WITH).await, "PK"), texts([&ours.id]));
    assert_eq!(card, [ours]);
}

/// R26, R27.
async fn posts_and_timeline(sides: &Sides) {
    s3::a_post(sides).await;
    s3::posts_by(sides).await;
    s3::timeline(sides).await;
}

/// R22.
async fn follow_lists(sides: &Sides) {
    s3::follow_lists(sides).await;
    for (follower, followed) in [(USER, "userB"), ("userB", USER)] {
        let own = sides.ask("follows", &[("follower", follower), ("followed", followed)]).await;
        let ours = sides.core.follows(&id(follower), &id(followed)).get().await.unwrap();
        assert_eq!(each(&own, "followed_id"), texts(ours.map(|follow| follow.followee_id)));
    }
    // Newest first in our table; the document leaves the order to the index.
    let own = sides.ask("follow_activity", &WITH).await;
    let ours =
        sides.core.follow_activity(Days::only(day()), Shards::ONE).page().await.unwrap().items;
    let pairs = |follow: &Follow| format!("{}#{}", follow.follower_id, follow.followee_id);
    let ours: Vec<_> = ours.iter().map(pairs).collect();
    let own: Vec<_> =
        own.iter().map(|item| item.text("GSI2SK").unwrap().split_once('#').unwrap().1).collect();
    assert_eq!(reversed(own), ours);
    assert_eq!(ours.len(), 4, "one was the day before");
}

/// R22, R33.
async fn following_a_user(sides: &Sides) {
    s3::follow(sides).await;
}

/// R27.
async fn likes(sides: &Sides) {
    s3::likes(sides).await;
}

/// R20, R33: a like is stored; both tables refuse another one. Our count is updated from the
/// stream. The document omits the index keys, so that its index of likes would miss this one.
async fn liking(sides: &Sides) {
    let written = sides.question("like");
    let partition = written.partition.replace("{post}", POST);
    let put = Put::new(item! { "PK" => partition.as_str(), "SK" => "LIKE#user456" });
    let theirs = Transaction::new()
        .with(&sides.own, put.when(not_exists("PK")))
        .with(&sides.own, Update::new((partition.as_str(), "METADATA")).add("likes_count", 1));
    let (table, like) =
        (sides.core.table(), ours::like(POST, "user456", USER, "2025-01-28T09:00:00Z"));
    let ours = Transaction::new()
        .with(table, like.create())
        .with(table, Post::at(&like.post_id).check(Post::IS_DELETED.is(&false)));
    for time in 1..=2 {
        let own = sides.own.store().transact(theirs.clone()).await;
        let ours = table.store().transact(ours.clone()).await;
        assert_eq!((own.is_ok(), ours.is_ok()), (time == 1, time == 1));
        for done in [own, ours] {
            assert!(time == 1 || matches!(done, Err(Error::Cancelled { .. })));
        }
    }
    let listed = Query::new("USER#user456").index("GSI1").begins_with("LIKE#");
    assert!(sides.own.query(listed).await.unwrap().items.is_empty(), "the document misses it");
    let listed = sides.core.likes_by(&id("user456")).page().await.unwrap().items;
    assert_eq!(listed, std::slice::from_ref(&like));
    let liked = sides.core.liked(&[id(POST)], &id("user456")).get().await.unwrap();
    assert_eq!(liked, [Some(like)]);
    let likes = sides.core.likes(&id(POST)).page().await.unwrap().items.len() as u64;
    let own = sides.own.get(Get::new((partition, "METADATA"))).await.unwrap().item.unwrap();
    assert_eq!(own.number("likes_count"), Some(likes.into()), "one more, once");
}
