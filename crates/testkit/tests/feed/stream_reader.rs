//! Passes the changes of other processes to the live bus, on stores that processes share.

use std::collections::HashMap;

use parking_lot::Mutex;
use roundtable_domain::LiveBus;
use roundtable_model::table::{Change, Sequence, StreamRead, StreamStart, Table};

/// The stream positions of one process.
#[derive(Debug, Default)]
pub(crate) struct StreamReader(Mutex<HashMap<String, Sequence>>);

impl StreamReader {
    /// Skips all changes so far.
    pub(crate) async fn skip(&self, table: &Table) {
        self.read(table, |_| {}).await;
    }

    /// Applies all changes since then to a bus.
    pub(crate) async fn hear(&self, table: &Table, bus: &LiveBus) {
        self.read(table, |changes| bus.apply(changes)).await;
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
