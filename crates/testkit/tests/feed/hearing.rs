//! How processes hear of each other where the store is not one's own: each reads the stream, and tells
//! its feeds.

use std::collections::HashMap;

use parking_lot::Mutex;
use roundtable_domain::Feeds;
use roundtable_model::table::{Change, Sequence, StreamRead, StreamStart, Table};

/// How far one process has read the stream.
#[derive(Debug, Default)]
pub(crate) struct Hearing(Mutex<HashMap<String, Sequence>>);

impl Hearing {
    /// Passes over everything that has happened so far: the process begins now.
    pub(crate) async fn skip(&self, table: &Table) {
        self.read(table, |_| {}).await;
    }

    /// Tells feeds of everything that has happened since.
    pub(crate) async fn hear(&self, table: &Table, feeds: &Feeds) {
        self.read(table, |changes| feeds.apply(changes)).await;
    }

    async fn read(&self, table: &Table, tell: impl Fn(&[Change])) {
        for shard in table.stream_shards().await.unwrap() {
            loop {
                let known = self.0.lock().get(&shard.id).cloned();
                let start = known.clone().map_or(StreamStart::Oldest, StreamStart::After);
                let page = table.stream_read(StreamRead::new(&shard.id, start)).await.unwrap();
                tell(&page.changes);
                let next = page.next.filter(|next| Some(next) > known.as_ref());
                let Some(next) = next else { break };
                self.0.lock().insert(shard.id.clone(), next);
            }
        }
    }
}
