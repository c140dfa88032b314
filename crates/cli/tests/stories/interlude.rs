//! Servers die during a conversation. Acknowledged messages are there, unacknowledged ones are repeated
//! under their request ids, and subscribers reconnect: every message arrives once and in order.

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::chatting::{HEAR, SAY};
use super::people::Person;
use super::scene::{Scene, ServerAddresses, text};

/// Messages sent after the first.
const WORDS: usize = 60;
/// Servers die after this many.
const HALF: usize = 20;

impl Person<'_> {
    /// Sends a message, repeating it at any server until it is acknowledged.
    async fn send_until_acknowledged(&self, room: &str, words: &str) {
        let once = format!("surely {}", self.scene.number());
        let arguments = json!({ "room": room, "text": words, "once": once });
        let deadline = self.scene.deadline();
        let mut server = self.server;
        loop {
            match self.try_send(server, SAY, &arguments).await {
                Ok(answer) if answer["errors"].is_null() => return,
                answer => {
                    deadline.wait(format_args!("{words} is not acknowledged: {answer:?}")).await;
                }
            }
            server += 1;
        }
    }

    /// Receives all messages of a room after `last`, reconnecting to the next server as needed.
    async fn receive_all(&self, room: &str, mut last: String) -> Vec<Value> {
        let (mut received, mut server) = (Vec::new(), self.server);
        let deadline = self.scene.deadline();
        while received.len() < WORDS {
            let listening = json!({ "room": room, "after": last });
            let mut subscription = self.try_resume(server, HEAR, listening).await;
            while let Some(subscription) = &mut subscription
                && received.len() < WORDS
                && let Some(mut message) = subscription.try_next_event().await
            {
                last = text(&message["id"]);
                received.push(message["text"].take());
            }
            deadline.wait(format_args!("{} received only {received:?}", self.nickname)).await;
            server += 1;
        }
        received
    }
}

/// Two users talk while `dies` kills a server; it returns the addresses from then on.
pub(crate) async fn a_talk_outlives_its_server<T: Send + 'static>(
    scene: &Scene,
    dies: impl FnOnce() -> (ServerAddresses, T) + Send + 'static,
) -> T {
    let [mut ana, mut bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    // Both are connected to the first server, which dies.
    (ana.server, bo.server) = (0, 0);
    let post = bo.posts("do you hear me?").await;
    let room = ana.room_with(&bo).await;
    let first = ana.send_message(&room, "hello").await;
    let half = Notify::new();
    let talking = async {
        for number in 0..WORDS {
            ana.send_until_acknowledged(&room, &format!("word {number}")).await;
            if number == HALF {
                half.notify_one();
            }
        }
    };
    let dying = async {
        half.notified().await;
        let (servers, left) = tokio::task::spawn_blocking(dies).await.unwrap();
        scene.set_servers(servers);
        left
    };
    let (received, (), left) = tokio::join!(bo.receive_all(&room, first), talking, dying);
    let words: Vec<Value> = (0..WORDS).map(|number| format!("word {number}").into()).collect();
    assert_eq!(received, words);
    bo.has_unread(&room, WORDS as u64 + 1).await;
    // The remaining worker takes over the derived work.
    cleo.likes(&post).await;
    cleo.comments(&post, "I do").await;
    ana.counts(&post, [1, 1, 0]).await;
    left
}
