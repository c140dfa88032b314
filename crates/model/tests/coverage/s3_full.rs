//! s3, the full design.

use roundtable_model::entities::*;
use roundtable_model::{Day, Days, Shards, Span};
use roundtable_table::Order;

use crate::facts::s3::*;
use crate::ours::{id, texts};
use crate::s3::{self, WITH, ids, user};
use crate::sides::{Sides, covers, each, ends, reversed};

covers! {
    profiles: "profile";
    posts_and_timeline: "post", "posts_by", "timeline";
    personal_feed: "feed", "feed_management";
    follow_lists: "following", "followers", "follow_graph";
    following_a_user: "follow";
    likes: "likes", "likes_by";
    comments: "comments", "comments_by", "comment";
    popular: "popular";
}

async fn sides() -> Sides {
    full().await
}

/// R21.
async fn profiles(sides: &Sides) {
    let ours = sides.core.profile(&user()).get().await.unwrap().unwrap();
    assert_eq!(ends(&sides.ask("profile", &WITH).await, "PK"), texts([&ours.id]));
}

/// R26, R27.
async fn posts_and_timeline(sides: &Sides) {
    s3::a_post(sides).await;
    s3::posts_by(sides).await;
    s3::timeline(sides).await;
}

/// R25. Activities that name the post, in the same order, page by page.
async fn personal_feed(sides: &Sides) {
    let posts = |items: &[FeedItem]| texts(items.iter().map(|item| &item.object_id));
    let question = || sides.core.feed_items(&user(), Span::ALL).limit(20);
    let first = question().page().await.unwrap();
    assert_eq!(each(&sides.ask("feed", &WITH).await, "post_id"), posts(&first.items));
    assert_eq!(first.items.len(), 20);
    let second = question().after(first.next).page().await.unwrap();
    let ours = [posts(&first.items), posts(&second.items)].concat();
    assert_eq!(each(&sides.ask_all("feed", &WITH).await, "post_id"), ours);
    assert_eq!(ours.len(), feed().len());
    // The document stores the same order twice.
    let own = each(&sides.ask("feed_management", &WITH).await, "post_id");
    assert_eq!(reversed(own), ours);
}

/// R22. By day instead of one hot partition; the sequence of days is the document's graph.
async fn follow_lists(sides: &Sides) {
    s3::follow_lists(sides).await;
    let own = each(&sides.ask("follow_graph", &[]).await, "GSI2SK");
    let own: Vec<_> = own.iter().map(|key| key.split_once('#').unwrap().1.to_owned()).collect();
    let mut ours = Vec::new();
    for day in ["2025-01-26", "2025-01-27"].map(id::<Day>) {
        let question =
            sides.core.follow_activity(Days::only(day), Shards::ONE).order(Order::Ascending);
        let found = question.page().await.unwrap().items;
        ours.extend(
            found.iter().map(|follow| format!("{}#{}", follow.follower_id, follow.followee_id)),
        );
    }
    assert_eq!(own, ours);
    assert_eq!(ours.len(), FOLLOWS.len());
}

/// R22, R33.
async fn following_a_user(sides: &Sides) {
    s3::follow(sides).await;
}

/// R27.
async fn likes(sides: &Sides) {
    s3::likes(sides).await;
}

/// R27: oldest first, as in the document; by user; one by its id.
async fn comments(sides: &Sides) {
    let found = |comments: &[Comment]| texts(comments.iter().map(|comment| &comment.id));
    let own = sides.ask("comments", &WITH).await;
    let ours = sides.core.comments(&id(POST)).order(Order::Ascending).page().await.unwrap();
    assert_eq!(each(&own, "comment_id"), found(&ours.items));
    assert!(own.len() == 20 && ours.next.is_some(), "a page of twenty");

    // Newest first in our table; the document leaves the order to the index.
    let own = sides.ask("comments_by", &WITH).await;
    let ours = sides.core.comments_by(&user()).page().await.unwrap().items;
    assert_eq!(reversed(each(&own, "comment_id")), found(&ours));
    assert_eq!(found(&ours).last().unwrap(), "comment700", "the first of them, under another post");

    let own = sides.ask("comment", &[("comment", "comment789")]).await;
    let ours = sides.core.comment(&id("comment789")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "post_id"), texts([&ours.post_id]));
    assert_eq!(each(&own, "user_id"), texts([&ours.user_id]));
}

/// R26. Padded scores: as text, the document sorts 999 above 1000. Hidden posts are omitted.
async fn popular(sides: &Sides) {
    let mut own = sides.ask("popular", &[]).await;
    assert_ne!(ends(&own, "PK").first().unwrap(), POST, "the document's best is not its first");
    own.retain(|post| {
        post.text("visibility") == Some("public")
            && post.to_attributes().get("is_deleted") == Some(&false.into())
    });
    let place = |post: &roundtable_table::Item| {
        let score = post.number("engagement_score").unwrap();
        std::cmp::Reverse((score, post.text("created_at").unwrap().to_owned()))
    };
    own.sort_by_key(place);
    let ours = ids(&sides.core.popular(Shards::ONE).all().await.unwrap());
    assert_eq!(ends(&own, "PK"), ours);
    assert_eq!(ours.first().unwrap(), POST);
    let page = sides.core.popular(Shards::ONE).page().await.unwrap();
    assert!(page.items.len() == 20 && page.next.is_some(), "a full page");
}
