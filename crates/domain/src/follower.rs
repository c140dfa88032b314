//! How those who remember or tell hear of changes where all writes go through this process: the stream
//! is read to its end, by whoever needs to have heard of everything. Where other processes write as
//! well, whoever reads the stream there tells them.

use std::sync::Arc;

use futures::FutureExt;
use parking_lot::Mutex;
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{
    self, Change, Sequence, StreamPage, StreamRead, StreamStart, Table, attribute,
};
use roundtable_model::{Entity as _, TYPE};

use crate::rounds::{Rounds, WAIT, until_stopped};
use crate::{Failure, Ground};

/// Somebody who hears of changes.
pub(crate) trait Hears: Send + Sync + 'static {
    /// How far they have read.
    fn follower(&self) -> &Follower;

    /// Hears of changes, in their order, but for copies in feeds: there are many, and nobody asks.
    fn hear(&self, changes: &[Change]);

    /// Everything that happens from now on will be heard of. Of what happened before nothing was, or,
    /// if `is_gap`, not all.
    fn begin(&self, is_gap: bool);
}

/// How far somebody has read the stream.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    rounds: Rounds,
    /// `None` before the first read. Written by rounds alone, of which there is one at a time; held for
    /// moments only.
    reached: Mutex<Option<Reached>>,
}

/// The one shard, and up to where it was read.
#[derive(Clone, Debug)]
struct Reached {
    shard: String,
    after: Sequence,
}

impl Follower {
    /// Lets them hear of everything that happened before this call; those who ask at the same time share
    /// a read.
    pub(crate) async fn catch_up<Ears: Hears>(
        ears: &Arc<Ears>,
        ground: &Ground,
    ) -> Result<(), Failure> {
        if !ground.store().capabilities().one_process {
            return Ok(());
        }
        let round = || {
            let (ears, ground) = (Arc::clone(ears), ground.clone());
            async move { read_on(&*ears, ground.core().table()).await }.boxed()
        };
        ears.follower().rounds.wait_for_one(round).await
    }

    /// Lets them hear of what happens all the time, until `stop` comes; `who` they are. Does nothing where
    /// other processes write as well.
    pub(crate) async fn keep_up<Ears: Hears>(
        ears: &Arc<Ears>,
        ground: &Ground,
        stop: impl Future<Output = ()>,
        who: &str,
    ) {
        if !ground.store().capabilities().one_process {
            return stop.await;
        }
        until_stopped(stop, who, || async {
            Self::catch_up(ears, ground).await?;
            ears.follower().wait(ground).await
        })
        .await;
    }

    /// Waits until something happens that nobody here has heard of, or the time is over.
    pub(crate) async fn wait(&self, ground: &Ground) -> Result<(), Failure> {
        let Some(Reached { shard, after }) = self.reached() else { return Ok(()) };
        // One is enough to know that there is more.
        let read = StreamRead::new(shard, StreamStart::After(after)).limit(1).wait(WAIT);
        match ground.core().table().stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn reached(&self) -> Option<Reached> {
        self.reached.lock().clone()
    }
}

/// Reads to the end as of now, or further.
async fn read_on(ears: &impl Hears, table: &Table) -> Result<(), Failure> {
    let Some(mut here) = ears.follower().reached() else {
        return begin(ears, table, false).await;
    };
    let mut end: Option<Sequence> = None;
    loop {
        let page = match here.read(table, StreamStart::After(here.after.clone())).await {
            Err(table::Error::StreamTrimmed { .. }) => {
                tracing::warn!(after = ?here.after, "the stream was trimmed before it was read");
                return begin(ears, table, true).await;
            }
            page => page?,
        };
        // Together, with nothing awaited in between: what was heard is heard once.
        let new = page.changes.partition_point(|change| change.sequence <= here.after);
        ears.hear(page.changes.get(new..).unwrap_or_default());
        let Some(next) = page.next.filter(|next| *next > here.after) else { return Ok(()) };
        here.after = next;
        *ears.follower().reached.lock() = Some(here.clone());
        // Others may write faster than this reads; what they do from now on can wait.
        if end.is_none() {
            end = here.read(table, StreamStart::Latest).await?.next;
        }
        if end.as_ref().is_none_or(|end| here.after >= *end) {
            return Ok(());
        }
    }
}

/// Listens to whatever comes from now on. They are told once that is sure: whatever they read from the
/// table when they are told holds all that is not heard of.
async fn begin(ears: &impl Hears, table: &Table, is_gap: bool) -> Result<(), Failure> {
    let latest = Reached::latest(table).await?;
    ears.begin(is_gap);
    *ears.follower().reached.lock() = Some(latest);
    Ok(())
}

impl Reached {
    async fn latest(table: &Table) -> Result<Self, Failure> {
        let shards = table.stream_shards().await?;
        let [shard] = shards.as_slice() else {
            let found = shards.len();
            return Err(Failure::Internal(format!("a stream of one process has {found} shards")));
        };
        let mut here = Self { shard: shard.id.clone(), after: Sequence::from(0) };
        if let Some(latest) = here.read(table, StreamStart::Latest).await?.next {
            here.after = latest;
        }
        Ok(here)
    }

    async fn read(&self, table: &Table, start: StreamStart) -> table::Result<StreamPage> {
        let no_copies = attribute(TYPE).ne(FeedItem::SHAPE.name);
        table.stream_read(StreamRead::new(&self.shard, start).filter(no_copies)).await
    }
}

#[cfg(test)]
impl Follower {
    /// As if a part of the stream had been missed.
    pub(crate) async fn miss_some<Ears: Hears>(ears: &Arc<Ears>, ground: &Ground) {
        let round = || {
            let (ears, ground) = (Arc::clone(ears), ground.clone());
            async move { begin(&*ears, ground.core().table(), true).await }.boxed()
        };
        ears.follower().rounds.wait_for_one(round).await.unwrap();
    }
}
