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
    /// The room with somebody.
    pub(super) async fn room_with(&self, other: &Person<'_>) -> String {
        text(&self.ask(OPEN, json!({ "id": other.id })).await["createRoom"]["id"])
    }

    /// Says something in a room; the message's id.
    pub(super) async fn says(&self, room: &str, words: &str) -> String {
        let said = json!({ "room": room, "text": words });
        text(&self.ask(SAY, said).await["sendMessage"]["id"])
    }

    /// With what code they are kept from saying something in a room.
    pub(super) async fn is_kept_from_saying(&self, room: &str) -> String {
        self.refused(SAY, json!({ "room": room, "text": "hello?" })).await
    }

    pub(super) async fn has_unread(&self, room: &str, messages: u64) {
        let is_so = |seen: &Value| seen["getRoom"]["unreadCount"] == messages;
        self.sees(UNREAD, json!({ "room": room }), is_so).await;
    }
}

pub(super) async fn two_people_talk(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.newcomer("ana").await, scene.newcomer("bo").await, scene.newcomer("cleo").await];
    let room = ana.room_with(&bo).await;
    assert_eq!(bo.room_with(&ana).await, room, "there is one for two");
    let first = ana.says(&room, "hello").await;
    let mut hears = bo.resume(HEAR, json!({ "room": room, "after": first })).await;
    let mut said = vec![("hello", &ana.id)];
    for words in ["anybody there?", "it is me", "hm"] {
        let id = ana.says(&room, words).await;
        assert_eq!(hears.hears().await, json!({ "id": id, "text": words, "userId": ana.id }));
        said.push((words, &ana.id));
    }
    bo.has_unread(&room, 4).await;
    let third = ana.ask(LIST, json!({ "room": room })).await;
    assert_eq!(each(&third["listMessages"], "text"), ["hello", "anybody there?", "it is me", "hm"]);
    let read = json!({ "room": room, "to": first });
    assert_eq!(bo.ask(READ, read).await["markRoomRead"]["unreadCount"], 3);
    bo.has_unread(&room, 3).await;
    let answer = bo.says(&room, "yes").await;
    said.push(("yes", &bo.id));
    assert_eq!(hears.hears_of("text").await, "yes", "one hears oneself, too, and everything once");
    ana.has_unread(&room, 1).await;
    let read = json!({ "room": room, "to": answer });
    for who in [&ana, &bo] {
        assert_eq!(who.ask(READ, read.clone()).await["markRoomRead"]["unreadCount"], 0);
        who.has_unread(&room, 0).await;
    }
    let listed = bo.ask(LIST, json!({ "room": room })).await;
    let said: Vec<Value> =
        said.into_iter().map(|(words, who)| json!({ "text": words, "userId": who })).collect();
    assert_eq!(listed["listMessages"]["items"], json!(said));
    let rooms = "{ listMyRooms { items { id } } }";
    let is_listed = |seen: &Value| each(&seen["listMyRooms"], "id") == [&json!(room)];
    bo.sees(rooms, json!({}), is_listed).await;

    assert_eq!(cleo.refused(LIST, json!({ "room": room })).await, "NOT_FOUND");
    assert_eq!(cleo.is_kept_from_saying(&room).await, "NOT_FOUND");
    assert!(cleo.ask(UNREAD, json!({ "room": room })).await["getRoom"].is_null());
}
