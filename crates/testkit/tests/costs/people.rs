//! Following and blocking.

use roundtable_domain::{Caller, Follows};
use roundtable_model::{RequestId, UserId};

use crate::book::CostBook;
use crate::expression::share;
use crate::scene::{ANA, BO, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("followUser", &[], async |scene| follow(scene).await).await;
    book.mutation("followUserAsked", &[], async |scene| {
        scene.town.set_private(BO, true).await;
        follow(scene).await;
    })
    .await;
    book.mutation("unfollowUser", &[], async |scene| {
        let (follows, me, user, request) = parts(scene).await;
        scene.record(follows.unfollow(&me, &user, request.as_ref())).await;
    })
    .await;
    book.mutation("acceptFollower", &[], async |scene| {
        let (follower, request) = (asked(scene).await, scene.request());
        let (follows, me) = (scene.town.follows(), scene.ana());
        scene.record(follows.accept(&me, &follower, request.as_ref())).await;
    })
    .await;
    book.mutation("rejectFollower", &[], async |scene| {
        let (follower, request) = (asked(scene).await, scene.request());
        let (follows, me) = (scene.town.follows(), scene.ana());
        scene.record(follows.reject(&me, &follower, request.as_ref())).await;
    })
    .await;
    book.mutation("blockUser", &[share("follows", 1.0)], async |scene| {
        if scene.has("follows") {
            scene.town.follow(ANA, BO).await;
        }
        let (blocks, me, request) = (scene.town.blocks(), scene.ana(), scene.request());
        scene.record(blocks.block(&me, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation("unblockUser", &[], async |scene| {
        scene.town.block(ANA, BO).await;
        let (blocks, me, request) = (scene.town.blocks(), scene.ana(), scene.request());
        scene.record(blocks.unblock(&me, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation("muteUser", &[], async |scene| {
        let (mutes, me, request) = (scene.town.mutes(), scene.ana(), scene.request());
        scene.record(mutes.mute(&me, &scene.town.id(BO), None, request.as_ref())).await;
    })
    .await;
    book.mutation("unmuteUser", &[], async |scene| {
        scene.town.mute(ANA, BO).await;
        let (mutes, me, request) = (scene.town.mutes(), scene.ana(), scene.request());
        scene.record(mutes.unmute(&me, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    // Muting changes the circle, the other setting does not.
    book.mutation("updateFollow", &[share("mutes", 1.0)], async |scene| {
        let (follows, me, user, request) = parts(scene).await;
        let muted = scene.has("mutes").then_some(true);
        scene.record(follows.update(&me, &user, muted, Some(false), None, request.as_ref())).await;
    })
    .await;
}

async fn follow(scene: &Scene) {
    let (follows, me, request) = (scene.town.follows(), scene.ana(), scene.request());
    scene.record(follows.follow(&me, &scene.town.id(BO), request.as_ref())).await;
}

/// Ana follows Bo.
async fn parts(scene: &Scene) -> (Follows, Caller, UserId, Option<RequestId>) {
    scene.town.follow(ANA, BO).await;
    (scene.town.follows(), scene.ana(), scene.town.id(BO), scene.request())
}

/// Bo asks to follow Ana, whose account is private.
async fn asked(scene: &Scene) -> UserId {
    scene.town.set_private(ANA, true).await;
    scene.town.follow(BO, ANA).await;
    scene.town.id(BO)
}
