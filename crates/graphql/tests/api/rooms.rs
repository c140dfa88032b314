//! Chat rooms, messages and unread counts.

use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

const OPEN: &str = "mutation { createRoom(input: { scope: dm, memberIds: [\"bo\"] })
    { id scope memberIds unreadCount } }";

async fn send(api: &ApiTown, name: &str, room: &Value, text: &str) -> Value {
    let sent =
        format!("mutation {{ sendMessage(roomId: {room}, text: \"{text}\") {{ id text }} }}");
    api.run(name, &sent).await["sendMessage"].take()
}

/// R15, R28: a message is unread for the recipient until they mark it read.
#[tokio::test]
async fn a_message_is_unread_until_it_is_read() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let room = api.run("ana", OPEN).await["createRoom"].take();
    assert_eq!((&room["scope"], &room["unreadCount"]), (&json!("dm"), &json!(0)));
    assert_eq!(room["memberIds"], json!(["ana", "bo"]));
    assert_eq!(api.run("ana", OPEN).await["createRoom"]["id"], room["id"], "there is one for two");
    send(&api, "ana", &room["id"], "hello").await;
    let last = send(&api, "ana", &room["id"], "anybody?").await;
    let rooms = "{ listMyRooms { items { unreadCount memberIds members { items { nickname } }
        messages { items { text user { nickname } } } } } }";
    let data = api.run("bo", rooms).await["listMyRooms"]["items"][0].take();
    assert_eq!(data["unreadCount"], 2);
    assert_eq!(fields(&data["messages"], "text"), ["anybody?", "hello"]);
    assert_eq!(fields(&data["members"], "nickname"), ["ana", "bo"]);
    let read = format!(
        "mutation {{ markRoomRead(roomId: {}, upTo: {}) {{ unreadCount }} }}",
        room["id"], last["id"]
    );
    assert_eq!(api.run("bo", &read).await["markRoomRead"]["unreadCount"], 0);
    let messages = format!(
        "{{ listMessages(roomId: {}, sortDirection: ASC) {{ items {{ text }} }} }}",
        room["id"]
    );
    assert_eq!(
        fields(&api.run("bo", &messages).await["listMessages"], "text"),
        ["hello", "anybody?"]
    );
    assert_eq!(api.error_code("cleo", &messages).await, "NOT_FOUND");
    let room = format!("{{ getRoom(id: {}) {{ id }} }}", room["id"]);
    assert_eq!(api.run("cleo", &room).await["getRoom"], Value::Null);
}

#[tokio::test]
async fn a_resent_message_is_stored_once() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let room = api.run("ana", OPEN).await["createRoom"]["id"].take();
    let sent = |text: &str| {
        format!(
            "mutation {{ sendMessage(roomId: {room}, text: \"{text}\", requestId: \"r1\") {{ id }} }}"
        )
    };
    let first = api.run("ana", &sent("hello")).await;
    assert_eq!(api.run("ana", &sent("hello")).await, first);
    assert_eq!(api.error_code("ana", &sent("other")).await, "IDEMPOTENCY_MISMATCH");
}

/// R15: members find the room through the group.
#[tokio::test]
async fn a_group_has_a_room_for_its_members() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let group = api.town.create_group("ana", "Runners").await;
    let open = format!(
        "mutation {{ createRoom(input: {{ scope: group, memberIds: [], groupId: \"{group}\" }})
            {{ id scope groupId }} }}"
    );
    let room = api.run("ana", &open).await["createRoom"].take();
    assert_eq!(room["groupId"], group.to_string());
    let found = format!("{{ getGroup(id: \"{group}\") {{ room {{ id }} }} }}");
    assert_eq!(api.run("ana", &found).await["getGroup"]["room"]["id"], room["id"]);
    assert_eq!(api.run("bo", &found).await["getGroup"]["room"], Value::Null);
}

/// s1: a room may keep messages out of the timelines of their authors.
#[tokio::test]
async fn a_room_may_keep_messages_out_of_timelines() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let room = api.run("ana", OPEN).await["createRoom"]["id"].take();
    let set = |listed: bool| {
        format!(
            "mutation {{ updateRoom(roomId: {room}, messageTimeline: {listed}) {{ messageTimeline }} }}"
        )
    };
    let shown = format!("{{ getRoom(id: {room}) {{ messageTimeline }} }}");
    assert_eq!(api.run("bo", &shown).await["getRoom"]["messageTimeline"], true);
    send(&api, "ana", &room, "listed").await;
    api.town.advance_ms(10);
    assert_eq!(api.run("bo", &set(false)).await["updateRoom"]["messageTimeline"], false);
    assert_eq!(api.run("bo", &shown).await["getRoom"]["messageTimeline"], false);
    send(&api, "ana", &room, "not listed").await;
    api.town.advance_ms(10);
    api.run("ana", &set(true)).await;
    send(&api, "ana", &room, "listed again").await;
    let timeline = r#"{ listUserEntities(userId: "ana", entity: Message) { items { ... on Message { text } } } }"#;
    let listed = api.run("ana", timeline).await["listUserEntities"].take();
    assert_eq!(fields(&listed, "text"), ["listed again", "listed"]);
}
