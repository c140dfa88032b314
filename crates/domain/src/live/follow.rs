//! How those who listen hear of changes where all writes go through this process: the stream is read
//! here. Elsewhere whoever reads it tells by `apply`.

use std::time::Duration;

use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{self, Sequence, StreamPage, StreamRead, StreamStart, Table};

use super::{Live, LiveError};
use crate::Failure;
use crate::rounds::{WAIT, until_stopped};

/// The one shard, and up to where it was read.
#[derive(Debug)]
pub(super) struct Reached {
    shard: String,
    after: Sequence,
}

impl Live {
    /// Keeps up with what happens until it is told to stop, so that those who listen are told. Where
    /// other processes write as well, [`Live::apply`] takes its place.
    pub async fn follow(&self, stop: impl Future<Output = ()>) {
        if !self.ground.store().capabilities().one_process {
            return stop.await;
        }
        until_stopped(stop, "live updates", || async {
            self.catch_up().await?;
            self.wait().await
        })
        .await;
    }

    /// Hears of everything that happened before this call. [`Live::follow`] does it all the time.
    pub async fn catch_up(&self) -> Result<(), LiveError> {
        if !self.ground.store().capabilities().one_process {
            return Ok(());
        }
        let table = self.ground.core().table();
        let mut reached = self.reached.lock().await;
        let Some(here) = reached.as_mut() else {
            *reached = Some(Reached::latest(table).await?);
            return Ok(());
        };
        // As of now: others may write faster than this reads.
        let end = here.read(table, StreamStart::Latest, Duration::ZERO).await;
        let end = end.map_err(Failure::from)?.next;
        while end.as_ref().is_some_and(|end| here.after < *end) {
            let start = StreamStart::After(here.after.clone());
            let page = match here.read(table, start, Duration::ZERO).await {
                Err(table::Error::StreamTrimmed { .. }) => {
                    // What was missed cannot be told: all who listen learn that they missed something.
                    self.hub.hang_up();
                    *reached = Some(Reached::latest(table).await?);
                    return Ok(());
                }
                page => page.map_err(Failure::from)?,
            };
            let new = page.changes.partition_point(|change| change.sequence <= here.after);
            self.hub.tell(page.changes.get(new..).unwrap_or_default());
            let Some(next) = page.next.filter(|next| *next > here.after) else { break };
            here.after = next;
        }
        Ok(())
    }

    /// Waits until something happens, or the time is over.
    async fn wait(&self) -> Result<(), LiveError> {
        let (shard, after) = match &*self.reached.lock().await {
            Some(reached) => (reached.shard.clone(), reached.after.clone()),
            None => return Ok(()),
        };
        let read = StreamRead { shard, start: StreamStart::After(after), limit: 1, wait: WAIT };
        match self.ground.core().table().stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(Failure::from(error).into()),
        }
    }
}

impl Reached {
    /// Whatever comes from now on.
    async fn latest(table: &Table) -> Result<Self, Failure> {
        let shards = table.stream_shards().await?;
        let [shard] = shards.as_slice() else {
            let found = shards.len();
            return Err(Failure::Internal(format!("a stream of one process has {found} shards")));
        };
        let mut here = Self { shard: shard.id.clone(), after: Sequence::from(0) };
        if let Some(latest) = here.read(table, StreamStart::Latest, Duration::ZERO).await?.next {
            here.after = latest;
        }
        Ok(here)
    }

    async fn read(
        &self,
        table: &Table,
        start: StreamStart,
        wait: Duration,
    ) -> table::Result<StreamPage> {
        let (shard, limit) = (self.shard.clone(), STREAM_CHANGES_MAX);
        table.stream_read(StreamRead { shard, start, limit, wait }).await
    }
}
