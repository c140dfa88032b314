//! Live events: replays all changes to live subscriptions.

use futures::FutureExt;
use roundtable_domain::{Caller, LiveSource as _, LiveUpdates, Topic, TopicSubscription};
use roundtable_model::ActorId;
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::{SecretTown, VIEWERS};
use tokio::task::unconstrained;

use super::reads::Reader;

/// Changes per batch: the buffer of a subscription is small.
const AT_ONCE: usize = 32;

fn topics(secrets: &SecretTown) -> Vec<Topic> {
    let mut topics = vec![Topic::Activities(None), Topic::NewPosts(None), Topic::Decisions(None)];
    for name in VIEWERS {
        let id = secrets.town.id(name);
        topics.push(Topic::Activities(Some(ActorId::from(&id))));
        topics.extend([Topic::Followers(id.clone()), Topic::Quests(id)]);
    }
    for group in &secrets.groups {
        topics.push(Topic::Activities(Some(ActorId::from(group))));
        topics.push(Topic::Members(group.clone()));
    }
    for post in &secrets.posts {
        topics.extend([Topic::Post(post.clone()), Topic::Likes(post.clone())]);
        topics.extend([Topic::Comments(post.clone()), Topic::Decisions(Some(post.clone()))]);
    }
    topics
}

async fn changes(secrets: &SecretTown) -> Vec<Change> {
    let table = secrets.town.context().core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let (mut all, mut start) = (Vec::new(), StreamStart::Oldest);
    loop {
        let page = table.stream_read(StreamRead::new(&shard, start)).await.unwrap();
        if page.changes.is_empty() {
            return all;
        }
        all.extend(page.changes);
        start = StreamStart::After(page.next.unwrap());
    }
}

impl Reader<'_> {
    /// Subscribes to all topics and records all events.
    pub(crate) async fn live(&mut self, caller: &Caller) {
        let town = &self.secrets.town;
        let bus = town.new_bus();
        let live = LiveUpdates::new(town.context().clone(), &bus);
        let mut listeners: Vec<(String, TopicSubscription)> = Vec::new();
        for topic in topics(self.secrets) {
            let by = format!("live {topic:?}");
            match live.subscribe(caller, topic).await {
                Ok(listener) => listeners.push((by, listener)),
                Err(refused) => self.note::<(), _>(by, Err(refused)),
            }
        }
        for changes in changes(self.secrets).await.chunks(AT_ONCE) {
            bus.apply(changes);
            for (by, listener) in &mut listeners {
                while let Some(heard) = unconstrained(listener.next()).now_or_never() {
                    assert!(heard.is_ok(), "{by}: {heard:?}");
                    self.note(&*by, heard);
                }
            }
        }
    }
}
