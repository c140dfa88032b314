//! Posts, likes and shares.

use roundtable_domain::{ModerationMode, NewPost, PostChange, Settings};
use roundtable_model::ModerationStatus;
use roundtable_testkit::Town;

use crate::book::CostBook;
use crate::expression::{Count, number, share};
use crate::scene::{ANA, BO, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation(
        "createPost",
        &[number("tags", 2.0), number("mentions", 1.0), number("feeds", 0.0)],
        async |scene| {
            scene.fan_out(ANA).await;
            let (posts, me, request) = (scene.town.posts(), scene.ana(), scene.request());
            let post = NewPost::text(scene.text());
            scene.record(posts.create(&me, &post, request.as_ref())).await;
        },
    )
    .await;
    book.mutation("createPostModerated", &[number("tags", 2.0)], async |scene| {
        let (posts, me, request) = (strict(scene).await.posts(), scene.ana(), scene.request());
        let post = NewPost::text(scene.text());
        scene.record(posts.create(&me, &post, request.as_ref())).await;
    })
    .await;
    book.mutation("updatePost", &[number("tags", 2.0)], async |scene| {
        let post = scene.post(ANA).await;
        let (posts, me, request) = (scene.town.posts(), scene.ana(), scene.request());
        let content = Some(format!("Again! {}", post.content));
        let change = PostChange { content, visibility: None };
        scene.record(posts.update(&me, &post.id, &change, request.as_ref())).await;
    })
    .await;
    let counts = [
        number("tags", 2.0),
        number("likes", 25.0),
        number("comments", 5.0),
        number("shares", 2.0),
    ];
    book.mutation("deletePost", &counts, delete_post).await;
    book.mutation("moderatePost", &[number("feeds", 0.0)], async |scene| {
        scene.fan_out(ANA).await;
        let post = strict(scene).await.post(ANA, &scene.text()).await;
        let (moderation, mo) = (scene.town.moderation(), scene.moderator().await);
        let (approved, request) = (ModerationStatus::Approved, scene.request());
        let decision = moderation.moderate_post(&mo, &post.id, approved, None, request.as_ref());
        scene.record(decision).await;
    })
    .await;
    book.mutation("reportPost", &[], async |scene| {
        let post = scene.post(ANA).await;
        let (moderation, bo, request) = (scene.town.moderation(), scene.bo(), scene.request());
        scene.record(moderation.report_post(&bo, &post.id, "rude", request.as_ref())).await;
    })
    .await;
    record_likes(book).await;
    record_shares(book).await;
}

/// Returns the town with moderation before publication.
async fn strict(scene: &Scene) -> Town {
    let moderation = ModerationMode::Before;
    scene.with_settings(Settings { moderation, ..Town::settings() }).await
}

async fn delete_post(scene: &Scene) {
    let (town, post) = (&scene.town, scene.post(ANA).await);
    for name in scene.others("likes") {
        town.like(name, &post.id).await;
    }
    for name in scene.others("comments") {
        scene.comment(name, &post.id).await;
    }
    for name in scene.others("shares") {
        town.share(name, &post.id).await;
    }
    let (posts, me, request) = (town.posts(), scene.ana(), scene.request());
    scene.record(posts.delete(&me, &post.id, request.as_ref())).await;
}

/// The share of reactions that move the post among the popular ones.
pub(crate) const RESCORED: Count = share("rescored", 0.1);

async fn record_likes(book: &mut CostBook) {
    book.mutation("likePost", &[RESCORED], async |scene| {
        let post = scene.post_with_reactions().await;
        let (likes, bo, request) = (scene.town.likes(), scene.bo(), scene.request());
        scene.record(likes.like(&bo, &post.id, None, request.as_ref())).await;
    })
    .await;
    book.mutation("unlikePost", &[RESCORED], async |scene| {
        let post = scene.post_with_reactions().await;
        scene.town.like(BO, &post.id).await;
        let (likes, bo, request) = (scene.town.likes(), scene.bo(), scene.request());
        scene.record(likes.unlike(&bo, &post.id, request.as_ref())).await;
    })
    .await;
    // Half of the calls undo a like.
    book.mutation("toggleLike", &[RESCORED, share("undone", 0.5)], async |scene| {
        let post = scene.post_with_reactions().await;
        if scene.has("undone") {
            scene.town.like(BO, &post.id).await;
        }
        let (likes, bo, request) = (scene.town.likes(), scene.bo(), scene.request());
        scene.record(likes.toggle(&bo, &post.id, request.as_ref())).await;
    })
    .await;
}

async fn record_shares(book: &mut CostBook) {
    book.mutation("sharePost", &[RESCORED, number("feeds", 0.0)], async |scene| {
        let post = scene.post_with_reactions().await;
        scene.fan_out(BO).await;
        let (shares, bo, request) = (scene.town.shares(), scene.bo(), scene.request());
        scene.record(shares.share(&bo, &post.id, request.as_ref())).await;
    })
    .await;
    book.mutation("unsharePost", &[RESCORED], async |scene| {
        let post = scene.post_with_reactions().await;
        scene.town.share(BO, &post.id).await;
        let (shares, bo, request) = (scene.town.shares(), scene.bo(), scene.request());
        scene.record(shares.unshare(&bo, &post.id, request.as_ref())).await;
    })
    .await;
}
