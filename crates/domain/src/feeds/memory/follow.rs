//! How memory hears of changes where all writes go through this process: whoever looks at it reads the
//! stream to its end before, and those who come at the same time share a read.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use roundtable_model::table::{
    self, Sequence, StreamPage, StreamRead, StreamStart, Table, limits::STREAM_CHANGES_MAX,
};

use super::Memory;
use crate::rounds::Rounds;
use crate::{Failure, Ground};

/// How far the stream was read.
#[derive(Debug, Default)]
pub(super) struct Follower {
    rounds: Rounds,
    /// Written by rounds alone, of which there is one at a time; held for moments only.
    reached: Mutex<Reached>,
}

#[derive(Clone, Debug, Default)]
struct Reached {
    /// The one shard; unknown before the first read.
    shard: String,
    /// Everything up to here was heard; `None` while nothing is listened to.
    after: Option<Sequence>,
}

impl Memory {
    /// Hears of everything that happened before this call. Where writes of others are not seen by this
    /// process, it does nothing: whoever reads the stream there tells by [`Memory::apply`].
    pub(crate) async fn catch_up(self: &Arc<Self>, ground: &Ground) -> Result<(), Failure> {
        if !self.is_exact {
            return Ok(());
        }
        let round = || {
            let (memory, ground) = (Arc::clone(self), ground.clone());
            async move { memory.read_on(ground.core().table()).await }.boxed()
        };
        self.follower.rounds.wait_for_one(round).await
    }

    /// Waits until something happens that nobody here has heard of, or the time is over.
    pub(crate) async fn wait(&self, ground: &Ground, patience: Duration) -> Result<(), Failure> {
        let Reached { shard, after } = self.reached();
        let Some(after) = after else { return Ok(()) };
        let start = StreamStart::After(after);
        // One is enough to know that there is more.
        let read = StreamRead { shard, start, limit: 1, wait: patience };
        match ground.core().table().stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads to the end as of now, or further.
    async fn read_on(&self, table: &Table) -> Result<(), Failure> {
        let mut reached = self.reached();
        let mut end: Option<Sequence> = None;
        while let Some(after) = reached.after.clone() {
            let page = match reached.read(table, StreamStart::After(after.clone())).await {
                Err(table::Error::StreamTrimmed { .. }) => {
                    tracing::warn!(?after, "the stream was trimmed: feeds forget what they know");
                    break;
                }
                page => page?,
            };
            // Together, with nothing awaited in between: what was heard is heard once.
            let new = page.changes.partition_point(|change| change.sequence <= after);
            self.apply(page.changes.get(new..).unwrap_or_default());
            let next = page.next.filter(|next| *next > after);
            let Some(next) = next else { return Ok(()) };
            reached.after = Some(next);
            *self.follower.reached.lock() = reached.clone();
            // Others may write faster than this reads; what they do from now on can wait.
            if end.is_none() {
                end = reached.read(table, StreamStart::Latest).await?.next;
            }
            if reached.after >= end {
                return Ok(());
            }
        }
        self.listen(table).await
    }

    /// Listens to whatever comes from now on. Nothing that was read before can be relied on.
    async fn listen(&self, table: &Table) -> Result<(), Failure> {
        self.follower.reached.lock().after = None;
        {
            let mut state = self.state.write();
            state.is_listening = false;
            state.forget_all();
        }
        let shards = table.stream_shards().await?;
        let [shard] = shards.as_slice() else {
            let found = shards.len();
            return Err(Failure::Internal(format!("a stream of one process has {found} shards")));
        };
        let mut reached = Reached { shard: shard.id.clone(), after: None };
        let latest = reached.read(table, StreamStart::Latest).await?.next;
        reached.after = Some(latest.unwrap_or_else(|| Sequence::from(0)));
        *self.follower.reached.lock() = reached;
        self.state.write().is_listening = true;
        Ok(())
    }

    fn reached(&self) -> Reached {
        self.follower.reached.lock().clone()
    }
}

#[cfg(test)]
impl Memory {
    /// As if a part of the stream had been missed.
    pub(super) async fn listen_anew(self: &Arc<Self>, ground: &Ground) {
        let round = || {
            let (memory, ground) = (Arc::clone(self), ground.clone());
            async move { memory.listen(ground.core().table()).await }.boxed()
        };
        self.follower.rounds.wait_for_one(round).await.unwrap();
    }
}

impl Reached {
    async fn read(&self, table: &Table, start: StreamStart) -> table::Result<StreamPage> {
        let (shard, limit, wait) = (self.shard.clone(), STREAM_CHANGES_MAX, Duration::ZERO);
        table.stream_read(StreamRead { shard, start, limit, wait }).await
    }
}
