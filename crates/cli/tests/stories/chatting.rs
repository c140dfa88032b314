//! Conversations.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const OPEN: &str = "mutation ($id: ID!, $once: ID) {
    createRoom(input: { scope: dm, memberIds: [$id] }, requestId: $once) { id scope } }";
pub(super) const SAY: &str = "mutation ($room: ID!, $text: String!, $once: ID) {
    sendMessage(roomId: $room, text: $text, requestId: $once) { id text } }";
pub(super) const HEAR: &str = "subscription ($room: ID!, $after: ID) {
    onSendMessage(roomId: $room, after: $after) { id text userId } }";
const UNREAD: &str = "query ($room: ID!) { getRoom(id: $room) { unreadCount } }";
const READ: &str = "mutation ($room: ID!, $to: ID!, $once: ID) {
    markRoomRead(roomId: $room, upTo: $to, requestId: $once) { unreadCount } }";
const LIST: &str = "query ($room: ID!) {
    listMessages(roomId: $room, sortDirection: ASC) { items { text userId } } }";

impl Person<'_> {
    pub(super) async fn room_with(&self, other: &Person<'_>) -> String {
        text(&self.ask(OPEN, json!({ "id": other.id })).await["createRoom"]["id"])
    }

    /// Sends a message; returns its id.
    pub(super) async fn send_message(&self, room: &str, words: &str) -> String {
        let arguments = json!({ "room": room, "text": words });
        text(&self.ask(SAY, arguments).await["sendMessage"]["id"])
    }

    /// The error code for a message that may not be sent.
    pub(super) async fn message_error(&self, room: &str) -> String {
        self.refused(SAY, json!({ "room": room, "text": "hello?" })).await
    }

    pub(super) async fn has_unread(&self, room: &str, messages: u64) {
        let is_so = |response: &Value| response["getRoom"]["unreadCount"] == messages;
        self.wait_for(UNREAD, json!({ "room": room }), is_so).await;
    }
}

pub(super) async fn two_people_talk(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    let room = ana.room_with(&bo).await;
    assert_eq!(bo.room_with(&ana).await, room, "there is one for two");
    let first = ana.send_message(&room, "hello").await;
    let mut next_event = bo.resume(HEAR, json!({ "room": room, "after": first })).await;
    let mut arguments = vec![("hello", &ana.id)];
    for words in ["anybody there?", "it is me", "hm"] {
        let id = ana.send_message(&room, words).await;
        assert_eq!(
            next_event.next_event().await,
            json!({ "id": id, "text": words, "userId": ana.id })
        );
        arguments.push((words, &ana.id));
    }
    bo.has_unread(&room, 4).await;
    let third = ana.ask(LIST, json!({ "room": room })).await;
    assert_eq!(each(&third["listMessages"], "text"), ["hello", "anybody there?", "it is me", "hm"]);
    let read = json!({ "room": room, "to": first });
    assert_eq!(bo.ask(READ, read).await["markRoomRead"]["unreadCount"], 3);
    bo.has_unread(&room, 3).await;
    let answer = bo.send_message(&room, "yes").await;
    arguments.push(("yes", &bo.id));
    assert_eq!(
        next_event.next_event_field("text").await,
        "yes",
        "one hears oneself, too, and everything once"
    );
    ana.has_unread(&room, 1).await;
    let read = json!({ "room": room, "to": answer });
    for who in [&ana, &bo] {
        assert_eq!(who.ask(READ, read.clone()).await["markRoomRead"]["unreadCount"], 0);
        who.has_unread(&room, 0).await;
    }
    let listed = bo.ask(LIST, json!({ "room": room })).await;
    let arguments: Vec<Value> =
        arguments.into_iter().map(|(words, who)| json!({ "text": words, "userId": who })).collect();
    assert_eq!(listed["listMessages"]["items"], json!(arguments));
    let rooms = "{ listMyRooms { items { id } } }";
    let is_listed = |response: &Value| each(&response["listMyRooms"], "id") == [&json!(room)];
    bo.wait_for(rooms, json!({}), is_listed).await;

    assert_eq!(cleo.refused(LIST, json!({ "room": room })).await, "NOT_FOUND");
    assert_eq!(cleo.message_error(&room).await, "NOT_FOUND");
    assert!(cleo.ask(UNREAD, json!({ "room": room })).await["getRoom"].is_null());
}
