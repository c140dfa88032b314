//! What is told while it happens: everything that ever did, told again.

use futures::FutureExt;
use roundtable_domain::{Caller, Listener, Live, Matter};
use roundtable_model::ActorId;
use roundtable_model::table::{Change, StreamRead, StreamStart};
use roundtable_testkit::{Hidden, VIEWERS};
use tokio::task::unconstrained;

use super::reads::Reader;

/// Changes at a time: whoever listens to one thing has little room.
const AT_ONCE: usize = 32;

/// Everything that can be listened to.
fn matters(hidden: &Hidden) -> Vec<Matter> {
    let mut matters =
        vec![Matter::Activities(None), Matter::NewPosts(None), Matter::Decisions(None)];
    for name in VIEWERS {
        let id = hidden.town.id(name);
        matters.push(Matter::Activities(Some(ActorId::from(&id))));
        matters.extend([Matter::Followers(id.clone()), Matter::Quests(id)]);
    }
    for group in &hidden.groups {
        matters.push(Matter::Activities(Some(ActorId::from(group))));
        matters.push(Matter::Members(group.clone()));
    }
    for post in &hidden.posts {
        matters.extend([Matter::Post(post.clone()), Matter::Likes(post.clone())]);
        matters.extend([Matter::Comments(post.clone()), Matter::Decisions(Some(post.clone()))]);
    }
    matters
}

async fn changes(hidden: &Hidden) -> Vec<Change> {
    let table = hidden.town.ground().core().table();
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
    /// Everything that somebody is told who listens to all there is.
    pub(crate) async fn live(&mut self, caller: &Caller) {
        let live = Live::new(self.hidden.town.ground().clone());
        let mut listeners: Vec<(String, Listener)> = Vec::new();
        for matter in matters(self.hidden) {
            let by = format!("live {matter:?}");
            match live.listen(caller, matter).await {
                Ok(listener) => listeners.push((by, listener)),
                Err(refused) => self.note::<(), _>(by, Err(refused)),
            }
        }
        for changes in changes(self.hidden).await.chunks(AT_ONCE) {
            live.apply(changes);
            for (by, listener) in &mut listeners {
                while let Some(heard) = unconstrained(listener.next()).now_or_never() {
                    assert!(heard.is_ok(), "{by}: {heard:?}");
                    self.note(&*by, heard);
                }
            }
        }
    }
}
