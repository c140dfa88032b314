//! The queries of both designs of s3.

use roundtable_model::entities::*;
use roundtable_model::{Days, Entity, Shard, Shards, UserCount, UserId};
use roundtable_table::{Get, Put, Query, Transaction, Update, item};

use crate::documents::DocumentSort;
use crate::facts::s3::*;
use crate::ours::{self, at, id, texts};
use crate::sides::{Sides, each, ends, reversed};

pub(crate) const WITH: [(&str, &str); 3] = [("user", USER), ("post", POST), ("day", DAY)];

pub(crate) fn user() -> UserId {
    id(USER)
}

pub(crate) fn ids(posts: &[Post]) -> Vec<String> {
    texts(posts.iter().map(|post| &post.id))
}

pub(crate) async fn a_post(sides: &Sides) {
    let own = sides.ask("post", &WITH).await;
    let ours = sides.core.post(&id(POST)).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "author_id"), texts([&ours.author_id]));
    assert_eq!(at(&each(&own, "created_at").concat()), ours.created_at);
}

pub(crate) async fn posts_by(sides: &Sides) {
    let own = sides.ask("posts_by", &WITH).await;
    let ours = sides.core.posts_by(&user()).page().await.unwrap();
    assert_eq!(ends(&own, "PK"), ids(&ours.items));
    assert!(own.len() == 20 && ours.next.is_some(), "a page of twenty");
}

/// Posts that are not public or deleted are not in our index, so our page contains visible posts
/// only.
pub(crate) async fn timeline(sides: &Sides) {
    let mut own = sides.ask("timeline", &WITH).await;
    assert_eq!(own.len(), 50);
    own.retain(|post| {
        post.text("visibility") == Some("public")
            && post.to_attributes().get("is_deleted") == Some(&false.into())
    });
    let question = || sides.core.timeline(Days::only(day()), Shards::ONE);
    let ours = question().limit(50).page().await.unwrap();
    assert_eq!((own.len(), ours.items.len()), (48, 50));
    assert!(ids(&ours.items).starts_with(&ends(&own, "PK")) && ours.next.is_some());
    let all = question().all().await.unwrap();
    assert!(all.iter().all(|post| post.created_at.day() == day()), "of that day only");
}

pub(crate) async fn follow_lists(sides: &Sides) {
    let own = sides.ask("following", &WITH).await;
    let ours = sides.core.following(&user()).page().await.unwrap().items;
    assert_eq!(each(&own, "followed_id"), texts(ours.iter().map(|follow| &follow.followee_id)));
    assert_eq!(own.len(), 2);
    let own = sides.ask("followers", &WITH).await;
    let ours = sides.core.followers(&user(), Shards::ONE).page().await.unwrap().items;
    assert_eq!(each(&own, "follower_id"), texts(ours.iter().map(|follow| &follow.follower_id)));
    assert_eq!(own.len(), 2);
}

pub(crate) async fn likes(sides: &Sides) {
    let own = sides.ask("likes", &WITH).await;
    let ours = sides.core.likes(&id(POST)).page().await.unwrap().items;
    assert_eq!(each(&own, "user_id"), texts(ours.iter().map(|like| &like.user_id)));
    assert_eq!(own.len(), 3);
    // Newest first in our table; the document leaves the order to the index.
    let own = sides.ask("likes_by", &WITH).await;
    let ours = sides.core.likes_by(&user()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|like| &like.post_id));
    assert_eq!(reversed(each(&own, "post_id")), ours);
    assert_eq!(ours, ["post003", POST]);
}

/// The document's transaction has no condition and counts a second follow, too; ours refuses it. It
/// also omits the index keys, so that the document's index of followers would miss it.
pub(crate) async fn follow(sides: &Sides) {
    let (follower, followed, ts) = ("user456", "userA", "2025-01-28T09:00:00Z");
    let written = sides.question("follow");
    let DocumentSort::Is(sort) = written.sort else { panic!("a write has a whole key") };
    let edge = item! {
        "follower_id" => follower, "followed_id" => followed, "created_at" => ts,
        "status" => "active",
    };
    let at = |partition: &str, sort: &str| Put::new(edge.with("PK", partition).with("SK", sort));
    let partition = written.partition.replace("{follower}", follower);
    let count = |user: &str, count| Update::new((format!("USER#{user}"), "PROFILE")).add(count, 1);
    let theirs = Transaction::new()
        .with(&sides.own, at(&partition, &sort.replace("{followed}", followed)))
        .with(&sides.own, at("USER#userA", "FOLLOWER#user456"))
        .with(&sides.own, count(follower, "following_count"))
        .with(&sides.own, count(followed, "followers_count"));
    let table = sides.core.table();
    let edge = ours::follow(follower, followed, ts);
    let counted =
        |user, which| UserCounter::upsert(user, &which, &Shard::ZERO).add(UserCounter::COUNT, 1);
    let ours = Transaction::new()
        .with(table, edge.create())
        .with(table, counted(&edge.follower_id, UserCount::Following))
        .with(table, counted(&edge.followee_id, UserCount::Followers));
    for time in 1..=2 {
        sides.own.store().transact(theirs.clone()).await.unwrap();
        let done = table.store().transact(ours.clone()).await;
        assert_eq!(done.is_ok(), time == 1, "the second is refused");
    }
    let follows = sides.core.follows(&edge.follower_id, &edge.followee_id).get().await.unwrap();
    assert_eq!(follows.as_ref(), Some(&edge));
    let followers = sides.core.followers(&edge.followee_id, Shards::ONE).page().await.unwrap();
    assert_eq!(followers.items, std::slice::from_ref(&edge));
    let listed = Query::new("USER#userA").index("GSI1").begins_with("FOLLOWER#");
    assert!(sides.own.query(listed).await.unwrap().items.is_empty(), "the document misses it");
    let kinds = [UserCount::Followers];
    let counts = sides.core.counts(&edge.followee_id, &kinds, Shards::ONE).get().await.unwrap();
    assert_eq!(counts.first().unwrap().as_ref().unwrap().count, 1);
    let own = sides.own.get(Get::new(("USER#userA", "PROFILE"))).await.unwrap().item.unwrap();
    assert_eq!(own.number("followers_count"), Some(2.into()), "the document counts twice");
}
