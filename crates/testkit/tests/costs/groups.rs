//! Groups and their members.

use roundtable_domain::{Edit, GroupChange, NewGroup};
use roundtable_model::{GroupId, GroupRole, samples};

use crate::book::CostBook;
use crate::expression::number;
use crate::scene::{ANA, BO, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("createGroup", &[number("tags", 2.0)], async |scene| {
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.create(&me, new_group(scene), request.as_ref())).await;
    })
    .await;
    // `tags` counts tags that the change adds.
    book.mutation("updateGroup", &[number("tags", 0.0)], async |scene| {
        let group = scene.town.create_group(ANA, &samples::group().name).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        let description = Edit::Set(String::from("Every morning at six. Bring a lamp."));
        let tags = scene.has("tags").then(|| scene.tags());
        let change = GroupChange { description, tags, ..GroupChange::default() };
        scene.record(groups.update(&me, &group, change, request.as_ref())).await;
    })
    .await;
    book.mutation("reviveGroup", &[], async |scene| {
        let group = scene.town.create_group(ANA, &samples::group().name).await;
        scene.town.archive_group(&group).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.revive(&me, &group, request.as_ref())).await;
    })
    .await;
    let counts = [
        number("tags", 2.0),
        number("members", 37.0),
        number("messages", 400.0),
        number("posts", 50.0),
    ];
    book.mutation("deleteGroup", &counts, async |scene| {
        let group = create(scene, false, scene.others("members")).await;
        for _ in 0..scene.count("posts") {
            scene.town.post_into(ANA, &group, &scene.text()).await;
        }
        let room = scene.town.room_of(ANA, &group).await;
        for _ in 0..scene.count("messages") {
            scene.town.send_message(ANA, &room, &samples::message().text).await;
        }
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.delete(&me, &group, request.as_ref())).await;
    })
    .await;
    record_members(book).await;
}

async fn record_members(book: &mut CostBook) {
    book.mutation("joinGroup", &[], async |scene| {
        let group = create(scene, false, &[]).await;
        let (groups, bo, request) = (scene.town.groups(), scene.bo(), scene.request());
        scene.record(groups.join(&bo, &group, request.as_ref())).await;
    })
    .await;
    book.mutation("leaveGroup", &[], async |scene| {
        let group = create(scene, false, &[BO]).await;
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
    book.mutation("approveMember", &[], async |scene| {
        let group = create(scene, true, &[BO]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.approve(&me, &group, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation("removeMember", &[], async |scene| {
        let group = create(scene, false, &[BO]).await;
        let (groups, me, request) = (scene.town.groups(), scene.ana(), scene.request());
        scene.record(groups.remove(&me, &group, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
}

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
