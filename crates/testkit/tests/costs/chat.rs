//! Rooms, messages, help threads and notifications.

use roundtable_domain::{NewMessage, NewRoom, Notifications};
use roundtable_model::{UserId, samples};

use crate::book::CostBook;
use crate::scene::{ANA, BO, CLEO, Scene};

const HOUR_MS: u64 = 60 * 60 * 1000;

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("createRoom", &[], async |scene| {
        let (rooms, me, request) = (scene.town.rooms(), scene.ana(), scene.request());
        let new = NewRoom::with(scene.town.id(BO));
        scene.record(rooms.create(&me, &new, request.as_ref())).await;
    })
    .await;
    // Recipients beyond the first, in the room of a group.
    book.mutation("sendMessage", &[("more_recipients", 0.0)], async |scene| {
        let room = if scene.has("more_recipients") {
            let group = scene.town.create_group(ANA, "runners").await;
            scene.town.join(BO, &group).await;
            scene.town.join(CLEO, &group).await;
            scene.town.room_of(ANA, &group).await
        } else {
            scene.town.room_with(ANA, BO).await
        };
        let new = NewMessage::text(room, samples::message().text);
        let (messages, me, request) = (scene.town.messages(), scene.ana(), scene.request());
        scene.record(messages.send(&me, &new, request.as_ref())).await;
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
    // Helpers beyond the first.
    book.mutation("createAssistThread", &[("more_helpers", 1.0)], async |scene| {
        let (assistance, me, request) = (scene.town.assistance(), scene.ana(), scene.request());
        scene.record(assistance.ask(&me, &helpers(scene), request.as_ref())).await;
    })
    .await;
    book.mutation("sendAssistMessage", &[("more_helpers", 1.0)], async |scene| {
        let (assistance, me, request) = (scene.town.assistance(), scene.ana(), scene.request());
        let thread = assistance.ask(&me, &helpers(scene), None).await.unwrap().thread_id;
        let text = samples::assist_msg().text;
        scene.record(assistance.send(&me, &thread, &text, request.as_ref())).await;
    })
    .await;
    // Unread notifications beyond the first.
    book.mutation("markNotificationsRead", &[("more_notifications", 9.0)], async |scene| {
        scene.town.follow(BO, ANA).await;
        if scene.has("more_notifications") {
            scene.town.follow(CLEO, ANA).await;
        }
        let notifications = Notifications::new(scene.town.context().clone());
        let (me, request) = (scene.ana(), scene.request());
        let before = scene.town.now().plus_ms(HOUR_MS);
        scene.record(notifications.mark_read(&me, before, request.as_ref())).await;
    })
    .await;
}

fn helpers(scene: &Scene) -> Vec<UserId> {
    let more: &[&str] = if scene.has("more_helpers") { &[CLEO] } else { &[] };
    [BO].iter().chain(more).map(|name| scene.town.id(name)).collect()
}
