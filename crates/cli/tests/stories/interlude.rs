//! What happens in the middle of the evening: servers die while people talk. What was answered is there,
//! what was not is sent again under its request id, and whoever listened comes back for the rest: everything
//! is there, once, and in its order.

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::chatting::{HEAR, SAY};
use super::people::Person;
use super::scene::{Doors, Scene, text};

/// What is said, beside the first word.
const WORDS: usize = 60;
/// After so much of it servers die.
const HALF: usize = 20;

impl Person<'_> {
    /// Says something, and again if nobody answers, until somebody does; also elsewhere.
    async fn says_surely(&self, room: &str, words: &str) {
        let once = format!("surely {}", self.scene.number());
        let said = json!({ "room": room, "text": words, "once": once });
        let deadline = self.scene.deadline();
        let mut door = self.door;
        loop {
            match self.try_send(door, SAY, &said).await {
                Ok(answer) if answer["errors"].is_null() => return,
                answer => deadline.wait(format_args!("{words} is not said: {answer:?}")).await,
            }
            door += 1;
        }
    }

    /// Everything that is said in a room after a message, heard at one server after the other.
    async fn hears_all(&self, room: &str, mut last: String) -> Vec<Value> {
        let (mut heard, mut door) = (Vec::new(), self.door);
        let deadline = self.scene.deadline();
        while heard.len() < WORDS {
            let listening = json!({ "room": room, "after": last });
            let mut ear = self.try_resume(door, HEAR, listening).await;
            while let Some(ear) = &mut ear
                && heard.len() < WORDS
                && let Some(mut told) = ear.try_hears().await
            {
                last = text(&told["id"]);
                heard.push(told["text"].take());
            }
            deadline.wait(format_args!("{} heard only {heard:?}", self.nickname)).await;
            door += 1;
        }
        heard
    }
}

/// Two people talk while `dies` kills something, and tells where servers are from then on.
pub(crate) async fn a_talk_outlives_its_server<T: Send + 'static>(
    scene: &Scene,
    dies: impl FnOnce() -> (Doors, T) + Send + 'static,
) -> T {
    let [mut ana, mut bo, cleo] =
        [scene.newcomer("ana").await, scene.newcomer("bo").await, scene.newcomer("cleo").await];
    // Whoever dies is first: both are with them.
    (ana.door, bo.door) = (0, 0);
    let post = bo.posts("do you hear me?").await;
    let room = ana.room_with(&bo).await;
    let first = ana.says(&room, "hello").await;
    let half = Notify::new();
    let talking = async {
        for number in 0..WORDS {
            ana.says_surely(&room, &format!("word {number}")).await;
            if number == HALF {
                half.notify_one();
            }
        }
    };
    let dying = async {
        half.notified().await;
        let (doors, left) = tokio::task::spawn_blocking(dies).await.unwrap();
        scene.moves_to(doors);
        left
    };
    let (heard, (), left) = tokio::join!(bo.hears_all(&room, first), talking, dying);
    let words: Vec<Value> = (0..WORDS).map(|number| format!("word {number}").into()).collect();
    assert_eq!(heard, words);
    bo.has_unread(&room, WORDS as u64 + 1).await;
    // Whoever works behind the scenes now does what the other would have done.
    cleo.likes(&post).await;
    cleo.comments(&post, "I do").await;
    ana.counts(&post, [1, 1, 0]).await;
    left
}
