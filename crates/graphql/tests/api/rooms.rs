//! Chat: opening a room, sending, reading, and what is unread.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

const OPEN: &str = "mutation { createRoom(input: { scope: dm, memberIds: [\"bo\"] })
    { id scope memberIds unreadCount } }";

async fn send(stage: &Stage, name: &str, room: &Value, text: &str) -> Value {
    let sent =
        format!("mutation {{ sendMessage(roomId: {room}, text: \"{text}\") {{ id text }} }}");
    stage.ask(name, &sent).await["sendMessage"].take()
}

/// R15, R28: what is sent is unread by the other one until they have read it.
#[tokio::test]
async fn a_message_is_unread_until_it_was_read() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let room = stage.ask("ana", OPEN).await["createRoom"].take();
    assert_eq!((&room["scope"], &room["unreadCount"]), (&json!("dm"), &json!(0)));
    assert_eq!(room["memberIds"], json!(["ana", "bo"]));
    assert_eq!(
        stage.ask("ana", OPEN).await["createRoom"]["id"],
        room["id"],
        "there is one for two"
    );
    send(&stage, "ana", &room["id"], "hello").await;
    let last = send(&stage, "ana", &room["id"], "anybody?").await;
    let rooms = "{ listMyRooms { items { unreadCount memberIds members { items { nickname } }
        messages { items { text user { nickname } } } } } }";
    let seen = stage.ask("bo", rooms).await["listMyRooms"]["items"][0].take();
    assert_eq!(seen["unreadCount"], 2);
    assert_eq!(each(&seen["messages"], "text"), ["anybody?", "hello"]);
    assert_eq!(each(&seen["members"], "nickname"), ["ana", "bo"]);
    let read = format!(
        "mutation {{ markRoomRead(roomId: {}, upTo: {}) {{ unreadCount }} }}",
        room["id"], last["id"]
    );
    assert_eq!(stage.ask("bo", &read).await["markRoomRead"]["unreadCount"], 0);
    let messages = format!(
        "{{ listMessages(roomId: {}, sortDirection: ASC) {{ items {{ text }} }} }}",
        room["id"]
    );
    assert_eq!(
        each(&stage.ask("bo", &messages).await["listMessages"], "text"),
        ["hello", "anybody?"]
    );
    assert_eq!(stage.refused("cleo", &messages).await, "NOT_FOUND");
    let room = format!("{{ getRoom(id: {}) {{ id }} }}", room["id"]);
    assert_eq!(stage.ask("cleo", &room).await["getRoom"], Value::Null);
}

/// A request that is sent again has the effect of one.
#[tokio::test]
async fn a_message_sent_again_is_one_message() {
    let stage = Stage::of(["ana", "bo"]).await;
    let room = stage.ask("ana", OPEN).await["createRoom"]["id"].take();
    let sent = |text: &str| {
        format!(
            "mutation {{ sendMessage(roomId: {room}, text: \"{text}\", requestId: \"r1\") {{ id }} }}"
        )
    };
    let first = stage.ask("ana", &sent("hello")).await;
    assert_eq!(stage.ask("ana", &sent("hello")).await, first);
    assert_eq!(stage.refused("ana", &sent("other")).await, "IDEMPOTENCY_MISMATCH");
}

/// R15: the room of a group is found with the group, by its members.
#[tokio::test]
async fn a_group_has_a_room_for_its_members() {
    let stage = Stage::of(["ana", "bo"]).await;
    let group = stage.town.found("ana", "Runners").await;
    let open = format!(
        "mutation {{ createRoom(input: {{ scope: group, memberIds: [], groupId: \"{group}\" }})
            {{ id scope groupId }} }}"
    );
    let room = stage.ask("ana", &open).await["createRoom"].take();
    assert_eq!(room["groupId"], group.to_string());
    let found = format!("{{ getGroup(id: \"{group}\") {{ room {{ id }} }} }}");
    assert_eq!(stage.ask("ana", &found).await["getGroup"]["room"]["id"], room["id"]);
    assert_eq!(stage.ask("bo", &found).await["getGroup"]["room"], Value::Null);
}
