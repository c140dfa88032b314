//! Groups and their members.

use roundtable_domain::{Edit, GroupChange, NewGroup};
use roundtable_model::{GroupId, GroupRole, samples};

use crate::book::CostBook;
use crate::scene::{ANA, BO, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("createGroup", &[("tags", 2.0)], async |scene| {
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.create(&me, new_group(scene), request.as_ref())).await;
    })
    .await;
    // `tags` counts tags that the change adds.
    book.mutation("updateGroup", &[("tags", 0.0)], async |scene| {
        let group = create(scene, false, &[]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        let description = Edit::Set(String::from("Every morning at six. Bring a lamp."));
        let tags = scene.has("tags").then(|| scene.tags());
        let change = GroupChange { description, tags, ..GroupChange::default() };
        scene.record(groups.update(&me, &group, change, request.as_ref())).await;
    })
    .await;
    let counts = [("tags", 2.0), ("members", 37.0), ("rooms", 1.0), ("messages", 400.0), ("posts", 50.0)];
    book.mutation("deleteGroup", &counts, async |scene| {
        let members: &[&str] = if scene.has("members") { &[BO] } else { &[] };
        let group = create(scene, false, members).await;
        if scene.has("posts") {
            scene.town.post_into(ANA, &group, &scene.text()).await;
        }
        if scene.has("rooms") {
            scene.town.room_of(ANA, &group).await;
        }
        if scene.has("messages") {
            let room = scene.town.room_of(ANA, &group).await;
            scene.town.send_message(ANA, &room, &samples::message().text).await;
        }
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.delete(&me, &group, request.as_ref())).await;
    })
    .await;
    record_members(book).await;
}

async fn record_members(book: &mut CostBook) {
    book.mutation("joinGroup", ROOMS, async |scene| {
        let group = with_room(scene, false, &[]).await;
        let (groups, bo, request) = (scene.town.groups(), scene.bo(), scene.request());
        scene.record(groups.join(&bo, &group, request.as_ref())).await;
    })
    .await;
    book.mutation("leaveGroup", ROOMS, async |scene| {
        let group = with_room(scene, false, &[BO]).await;
        let (groups, bo, request) = (scene.town.groups(), scene.bo(), scene.request());
        scene.record(groups.leave(&bo, &group, request.as_ref())).await;
    })
    .await;
    book.mutation("setGroupRole", &[], async |scene| {
        let group = create(scene, false, &[BO]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        let (bo, role) = (scene.town.id(BO), GroupRole::Admin);
        scene.record(groups.set_role(&me, &group, &bo, role, request.as_ref())).await;
    })
    .await;
    book.mutation("inviteToGroup", &[], async |scene| {
        let group = create(scene, true, &[]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.invite(&me, &group, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation("approveMember", ROOMS, async |scene| {
        let group = with_room(scene, true, &[BO]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.approve(&me, &group, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation("removeMember", ROOMS, async |scene| {
        let group = with_room(scene, false, &[BO]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.remove(&me, &group, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
}

/// A group has one room, or none.
const ROOMS: &[(&str, f64)] = &[("rooms", 1.0)];

fn new_group(scene: &Scene) -> NewGroup {
    let sample = samples::group();
    let description = sample.description;
    NewGroup { description, tags: scene.tags(), ..NewGroup::named(&sample.name) }
}

async fn create(scene: &Scene, is_private: bool, members: &[&str]) -> GroupId {
    let group = NewGroup { is_private, ..new_group(scene) };
    let id = scene.town.groups().create(&scene.ana(), group, None).await.unwrap().id;
    for member in members {
        scene.town.join(member, &id).await;
    }
    id
}

/// A group, with a room if the count `rooms` is one.
async fn with_room(scene: &Scene, is_private: bool, members: &[&str]) -> GroupId {
    let group = create(scene, is_private, &[]).await;
    if scene.has("rooms") {
        scene.town.room_of(ANA, &group).await;
    }
    for member in members {
        scene.town.join(member, &group).await;
    }
    group
}
