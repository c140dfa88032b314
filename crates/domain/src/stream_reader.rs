//! Reads the stream for caches and subscriptions where all writes go through this process: callers
//! that need to be current read it to its end. Where other processes write as well, the relay
//! delivers the changes instead.

use std::sync::Arc;

use futures::FutureExt;
use parking_lot::Mutex;
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{
    self, Change, Sequence, StreamPage, StreamRead, StreamStart, Table, attribute,
};
use roundtable_model::{Entity as _, TYPE};

use crate::catch_up::{CatchUp, WAIT, repeat_until_stopped};
use crate::{Context, ServiceError};

/// A receiver of changes.
pub(crate) trait ChangeSink: Send + Sync + 'static {
    fn stream_reader(&self) -> &StreamReader;

    /// Receives changes in order, except copies in feeds, which are many and which no sink needs.
    fn receive(&self, changes: &[Change]);

    /// Tells the sink that it receives everything from now on. It received nothing from before, or,
    /// if `is_gap`, not everything.
    fn start(&self, is_gap: bool);
}

/// A sink's position in the stream.
#[derive(Debug, Default)]
pub(crate) struct StreamReader {
    catch_up: CatchUp,
    /// `None` before the first read. Written only by runs, of which there is one at a time; locked
    /// briefly.
    position: Mutex<Option<StreamPosition>>,
}

/// The position in the single shard.
#[derive(Clone, Debug)]
struct StreamPosition {
    shard: String,
    after: Sequence,
}

impl StreamReader {
    /// Delivers everything that happened before this call. Concurrent callers share a read.
    pub(crate) async fn catch_up<Sink: ChangeSink>(
        sink: &Arc<Sink>,
        context: &Context,
    ) -> Result<(), ServiceError> {
        if !context.store().capabilities().single_process {
            return Ok(());
        }
        let run = || {
            let (sink, context) = (Arc::clone(sink), context.clone());
            async move { read_to_end(&*sink, context.core().table()).await }.boxed()
        };
        sink.stream_reader().catch_up.wait_for_run(run).await
    }

    /// Delivers changes until `stop` resolves; `name` appears in the log. Does nothing where other
    /// processes write as well.
    pub(crate) async fn keep_up<Sink: ChangeSink>(
        sink: &Arc<Sink>,
        context: &Context,
        stop: impl Future<Output = ()>,
        name: &str,
    ) {
        if !context.store().capabilities().single_process {
            return stop.await;
        }
        repeat_until_stopped(stop, name, || async {
            Self::catch_up(sink, context).await?;
            sink.stream_reader().wait(context).await
        })
        .await;
    }

    /// Waits until there is an undelivered change, or for [`WAIT`].
    pub(crate) async fn wait(&self, context: &Context) -> Result<(), ServiceError> {
        let Some(StreamPosition { shard, after }) = self.position() else { return Ok(()) };
        // One change is enough to know that there are more.
        let read = StreamRead::new(shard, StreamStart::After(after)).limit(1).wait(WAIT);
        match context.core().table().stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn position(&self) -> Option<StreamPosition> {
        self.position.lock().clone()
    }
}

/// Reads at least to what is the end of the stream now.
async fn read_to_end(sink: &impl ChangeSink, table: &Table) -> Result<(), ServiceError> {
    let Some(mut here) = sink.stream_reader().position() else {
        return start_reading(sink, table, false).await;
    };
    let mut end: Option<Sequence> = None;
    loop {
        let page = match here.read(table, StreamStart::After(here.after.clone())).await {
            Err(table::Error::StreamTrimmed { .. }) => {
                let after = &here.after;
                tracing::warn!(?after, "the unread stream was trimmed; restarting at its end");
                return start_reading(sink, table, true).await;
            }
            page => page?,
        };
        // Nothing is awaited in between, so that each change is delivered once.
        let new = page.changes.partition_point(|change| change.sequence <= here.after);
        sink.receive(page.changes.get(new..).unwrap_or_default());
        let Some(next) = page.next.filter(|next| *next > here.after) else { return Ok(()) };
        here.after = next;
        *sink.stream_reader().position.lock() = Some(here.clone());
        // Other tasks may write faster than this reads; their later changes can wait.
        if end.is_none() {
            end = here.read(table, StreamStart::Latest).await?.next;
        }
        if end.as_ref().is_none_or(|end| here.after >= *end) {
            return Ok(());
        }
    }
}

/// Starts at the end of the stream. The sink is notified only once the position is fixed: what it then
/// reads from the table includes all changes it will not receive.
async fn start_reading(
    sink: &impl ChangeSink,
    table: &Table,
    is_gap: bool,
) -> Result<(), ServiceError> {
    let latest = StreamPosition::latest(table).await?;
    sink.start(is_gap);
    *sink.stream_reader().position.lock() = Some(latest);
    Ok(())
}

impl StreamPosition {
    async fn latest(table: &Table) -> Result<Self, ServiceError> {
        let shards = table.stream_shards().await?;
        let [shard] = shards.as_slice() else {
            let found = shards.len();
            return Err(ServiceError::Internal(format!(
                "a stream of one process has {found} shards"
            )));
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
impl StreamReader {
    /// Simulates a gap in the stream.
    pub(crate) async fn simulate_gap<Sink: ChangeSink>(sink: &Arc<Sink>, context: &Context) {
        let run = || {
            let (sink, context) = (Arc::clone(sink), context.clone());
            async move { start_reading(&*sink, context.core().table(), true).await }.boxed()
        };
        sink.stream_reader().catch_up.wait_for_run(run).await.unwrap();
    }
}
