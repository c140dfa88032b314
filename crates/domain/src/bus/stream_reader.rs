//! Reads the stream of the embedded store, whose single shard holds the writes of this process.

use parking_lot::Mutex;
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{
    self, Sequence, StreamPage, StreamRead, StreamStart, Table, attribute,
};
use roundtable_model::{Entity as _, TYPE};

use super::Sink;
use super::catch_up::WAIT;
use crate::ServiceError;

/// The position in the stream. Changes are read by one task at a time.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    /// `None` before the first read. Locked briefly.
    position: Mutex<Option<StreamPosition>>,
}

/// The position in the single shard.
#[derive(Clone, Debug)]
struct StreamPosition {
    shard: String,
    after: Sequence,
}

impl StreamReader {
    /// Reads at least to what is the end of the stream now. The first call starts at the end.
    pub(super) async fn read_to_end(
        &self,
        table: &Table,
        sink: &impl Sink,
    ) -> Result<(), ServiceError> {
        let Some(mut here) = self.position() else {
            return self.start(table, || sink.start()).await;
        };
        let mut end: Option<Sequence> = None;
        loop {
            let page = match here.read(table, StreamStart::After(here.after.clone())).await {
                Err(table::Error::StreamTrimmed { .. }) => {
                    let after = &here.after;
                    tracing::warn!(?after, "the unread stream was trimmed; restarting at its end");
                    return self.start(table, || sink.reset(true)).await;
                }
                page => page?,
            };
            // Nothing is awaited in between, so that each change is delivered once.
            let new = page.changes.partition_point(|change| change.sequence <= here.after);
            sink.apply(page.changes.get(new..).unwrap_or_default());
            let Some(next) = page.next.filter(|next| *next > here.after) else { return Ok(()) };
            here.after = next;
            *self.position.lock() = Some(here.clone());
            // Other tasks may write faster than this reads; their later changes can wait.
            if end.is_none() {
                end = here.read(table, StreamStart::Latest).await?.next;
            }
            if end.as_ref().is_none_or(|end| here.after >= *end) {
                return Ok(());
            }
        }
    }

    /// Returns whether everything that is in the stream now has been read.
    pub(super) async fn is_at_end(&self, table: &Table) -> Result<bool, ServiceError> {
        let Some(here) = self.position() else { return Ok(false) };
        let end = here.read(table, StreamStart::Latest).await?.next;
        Ok(end.is_some_and(|end| here.after >= end))
    }

    /// Waits until there is an unread change, or for [`WAIT`].
    pub(super) async fn wait(&self, table: &Table) -> Result<(), ServiceError> {
        let Some(StreamPosition { shard, after }) = self.position() else { return Ok(()) };
        // One change is enough to know that there are more.
        let read = StreamRead::new(shard, StreamStart::After(after)).limit(1).wait(WAIT);
        match table.stream_read(read).await {
            Ok(_) | Err(table::Error::StreamTrimmed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts at the end of the stream. The sink is notified only once the position is fixed: what
    /// it then reads from the table includes all changes it will not receive.
    async fn start(&self, table: &Table, notify: impl FnOnce()) -> Result<(), ServiceError> {
        let latest = StreamPosition::latest(table).await?;
        notify();
        *self.position.lock() = Some(latest);
        Ok(())
    }

    fn position(&self) -> Option<StreamPosition> {
        self.position.lock().clone()
    }
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
