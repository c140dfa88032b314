//! Rooms, messages, help threads and notifications.

use roundtable_domain::{NewMessage, NewRoom, NotificationPreference, Notifications};
use roundtable_model::{NotificationKind, RoomId, Span, UserId, samples};

use crate::book::CostBook;
use crate::expression::at_least_one;
use crate::scene::{ANA, BO, Scene};

const HOUR_MS: u64 = 60 * 60 * 1000;

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("createRoom", &[], async |scene| {
        let (rooms, me, request) = (scene.town.rooms(), scene.ana(), scene.request());
        let new = NewRoom::with(scene.town.id(BO));
        scene.record(rooms.create(&me, &new, request.as_ref())).await;
    })
    .await;
    book.mutation("sendMessage", &[], async |scene| {
        let room = scene.town.room_with(ANA, BO).await;
        send(scene, room).await;
    })
    .await;
    // The members of a group are not notified, however many there are.
    book.mutation("sendMessageGroup", &[], async |scene| {
        let group = scene.town.create_group(ANA, "runners").await;
        scene.town.join(BO, &group).await;
        let room = scene.town.room_of(ANA, &group).await;
        send(scene, room).await;
    })
    .await;
    book.mutation("updateRoom", &[], async |scene| {
        let room = scene.town.room_with(ANA, BO).await;
        let (rooms, me, request) = (scene.town.rooms(), scene.ana(), scene.request());
        scene.record(rooms.update(&me, &room, false, request.as_ref())).await;
    })
    .await;
    book.mutation("markRoomRead", &[], async |scene| {
        let room = scene.town.room_with(ANA, BO).await;
        let text = samples::message().text;
        let message = scene.town.send_message(BO, &room, &text).await;
        let (rooms, me, request) = (scene.town.rooms(), scene.ana(), scene.request());
        scene.record(rooms.mark_read(&me, &room, &message.id, request.as_ref())).await;
    })
    .await;
    book.mutation("createAssistThread", &[at_least_one("helpers", 2.0)], async |scene| {
        let (assistance, me, request) = (scene.town.assistance(), scene.ana(), scene.request());
        scene.record(assistance.ask(&me, &helpers(scene), request.as_ref())).await;
    })
    .await;
    book.mutation("sendAssistMessage", &[at_least_one("helpers", 2.0)], async |scene| {
        let (assistance, me, request) = (scene.town.assistance(), scene.ana(), scene.request());
        let thread = assistance.ask(&me, &helpers(scene), None).await.unwrap().thread_id;
        let text = samples::assist_msg().text;
        scene.record(assistance.send(&me, &thread, &text, request.as_ref())).await;
    })
    .await;
    book.mutation("markNotificationsRead", &[at_least_one("notifications", 10.0)], async |scene| {
        for follower in scene.others("notifications") {
            scene.town.follow(follower, ANA).await;
        }
        let notifications = Notifications::new(scene.town.context().clone());
        let (me, request) = (scene.ana(), scene.request());
        let before = scene.town.now().plus_ms(HOUR_MS);
        scene.record(notifications.mark_read(&me, before, request.as_ref())).await;
    })
    .await;
    book.mutation("markNotificationRead", &[], async |scene| {
        scene.town.follow(BO, ANA).await;
        scene.town.settle().await;
        let notifications = Notifications::new(scene.town.context().clone());
        let (me, request) = (scene.ana(), scene.request());
        let notes = scene.town.context().core().notifications(&me.user_id, Span::ALL);
        let id = notes.all().await.unwrap().remove(0).id;
        scene.record(notifications.mark_one_read(&me, &id, request.as_ref())).await;
    })
    .await;
    book.mutation("updateNotificationPreferences", &[], async |scene| {
        let notifications = Notifications::new(scene.town.context().clone());
        let (me, request) = (scene.ana(), scene.request());
        let off = NotificationPreference { kind: NotificationKind::Like, is_enabled: false };
        scene.record(notifications.update_preferences(&me, &[off], request.as_ref())).await;
    })
    .await;
}

async fn send(scene: &Scene, room: RoomId) {
    let new = NewMessage::text(room, samples::message().text);
    let (messages, me, request) = (scene.town.messages(), scene.ana(), scene.request());
    scene.record(messages.send(&me, &new, request.as_ref())).await;
}

fn helpers(scene: &Scene) -> Vec<UserId> {
    scene.others("helpers").iter().map(|name| scene.town.id(name)).collect()
}
