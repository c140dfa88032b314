//! Keeps the index current: opens or builds it, applies changes, commits.
//!
//! On the embedded store, the position of the index is a sequence of the stream, from which it goes on after a
//! restart or after changes that it missed. Elsewhere the relay delivers the changes, which cannot be resumed:
//! the index is built again at each start and after each gap, and meanwhile searches are answered from what
//! was there. The stream is not held for the index, because it can always be built again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use roundtable_domain::{Context, DocumentChange, DocumentChangeQueue, LiveBus, SearchIndex};
use roundtable_model::entities::FeedItem;
use roundtable_model::table::{
    self, Change, Sequence, StreamPage, StreamRead, StreamStart, Table, attribute,
};
use roundtable_model::{Entity as _, TYPE};
use tokio::task::spawn_blocking;

use crate::directory::{IndexPosition, StoredIndex};
use crate::error::IndexError;
use crate::handle::{IndexHandle, IndexState, SearchStatus};
use crate::rebuild::Rebuild;
use crate::writer::DocumentWriter;
use crate::{IndexLocation, IndexSettings};

/// The longest time from a change to its commit, without the time that the commit takes.
const COMMIT_INTERVAL: Duration = Duration::from_millis(250);
/// Between two commits of the position alone, and looks at the size.
const POSITION_INTERVAL: Duration = Duration::from_secs(10);
/// The time for the relay to connect before a first build.
const RELAY_WAIT: Duration = Duration::from_secs(30);
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The one that writes the index of a process. Searches use [`Indexer::index`].
#[derive(Debug)]
pub struct Indexer {
    context: Context,
    bus: Option<LiveBus>,
    queue: DocumentChangeQueue,
    handle: Arc<IndexHandle>,
    location: IndexLocation,
    settings: IndexSettings,
    /// Whether changes that were missed can be read from the stream.
    has_stream: bool,
    /// Whether a build failed, so that what is stored must not be used again.
    needs_build: bool,
    active: Option<ActiveIndex>,
}

/// The index in use.
struct ActiveIndex {
    writer: Arc<DocumentWriter>,
    position: IndexPosition,
    /// Since when changes wait for a commit.
    uncommitted: Option<Instant>,
    position_committed: Instant,
    may_grow: bool,
}

impl std::fmt::Debug for ActiveIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActiveIndex").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Indexer {
    /// An indexer fed by a bus.
    pub fn new(
        context: Context,
        bus: &LiveBus,
        location: IndexLocation,
        settings: IndexSettings,
    ) -> Self {
        let queue = bus.document_changes().clone();
        let has_stream = context.store().capabilities().single_process;
        let indexer = Self::without_bus(context, queue, location, settings);
        Self { bus: Some(bus.clone()), has_stream, ..indexer }
    }

    /// An indexer that reads the stream of a store with a single shard, when it is told to catch up.
    pub fn of_stream(context: Context, location: IndexLocation, settings: IndexSettings) -> Self {
        Self::without_bus(context, DocumentChangeQueue::default(), location, settings)
    }

    fn without_bus(
        context: Context,
        queue: DocumentChangeQueue,
        location: IndexLocation,
        settings: IndexSettings,
    ) -> Self {
        let handle = Arc::default();
        Self {
            context,
            bus: None,
            queue,
            handle,
            location,
            settings,
            has_stream: true,
            needs_build: false,
            active: None,
        }
    }

    /// The index for searches.
    pub fn index(&self) -> Arc<dyn SearchIndex> {
        Arc::clone(&self.handle) as Arc<dyn SearchIndex>
    }

    /// Reads the state of the index, also while it is being built.
    pub fn status(&self) -> impl Fn() -> SearchStatus + Send + Sync + 'static {
        let handle = Arc::clone(&self.handle);
        move || handle.status()
    }

    /// Follows the changes until `stop` resolves. No error ends it.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        self.queue.start();
        let mut stop = std::pin::pin!(stop);
        loop {
            let followed = match select(stop.as_mut(), std::pin::pin!(self.follow())).await {
                Either::Left(_) => break,
                Either::Right((followed, _)) => followed,
            };
            if let Err(error) = followed {
                self.recover(&error);
                if let Either::Left(_) =
                    select(stop.as_mut(), std::pin::pin!(tokio::time::sleep(RETRY_PAUSE))).await
                {
                    break;
                }
            }
        }
        if let Some(active) = self.active.take() {
            let written = spawn_blocking(move || active.finish()).await.map_err(IndexError::from);
            if let Err(error) = written.and_then(|written| written) {
                tracing::warn!(%error, "the last changes were not committed to the search index");
            }
        }
    }

    /// Drops what an error has left. The next round opens or builds an index.
    fn recover(&mut self, error: &IndexError) {
        tracing::warn!(%error, "the search index is not current; trying again");
        self.active = None;
    }

    async fn follow(&mut self) -> Result<(), IndexError> {
        if self.active.is_none() {
            self.open_or_build().await?;
        }
        loop {
            let wait = self.active.as_ref().map_or(COMMIT_INTERVAL, ActiveIndex::wait_max);
            let arrived = self.queue.take(wait).await;
            if self.handle.take_damage() {
                return self.build().await;
            }
            match arrived.gap {
                Some(_) if self.has_stream => self.read_stream().await?,
                Some(true) => self.build().await?,
                Some(false) | None => {}
            }
            self.apply(&arrived.changes).await?;
            self.commit_if_due().await?;
            self.advance_if_due().await?;
        }
    }

    /// Opens or builds the index and reads the stream to its end. For stores of this process.
    pub async fn catch_up(&mut self) -> Result<(), IndexError> {
        if self.handle.take_damage() {
            return self.build().await;
        }
        if self.active.is_none() {
            self.open_or_build().await?;
        }
        self.read_stream().await?;
        if self.active.as_ref().is_some_and(|active| active.uncommitted.is_none()) {
            return Ok(());
        }
        self.commit().await
    }

    async fn open_or_build(&mut self) -> Result<(), IndexError> {
        let location = self.location.clone();
        let opened = spawn_blocking(move || location.open()).await?;
        let is_usable = |it: &StoredIndex| !self.needs_build && self.can_follow(it.position);
        let Some(stored) = opened.filter(is_usable) else {
            if !self.has_stream && !self.needs_build {
                self.wait_for_relay().await;
            }
            return self.build().await;
        };
        let settings = self.settings;
        let path = stored.path.clone();
        let active = spawn_blocking(move || ActiveIndex::open(&stored, &settings)).await??;
        self.location.remove_others(path.as_deref());
        self.handle.use_index(Arc::clone(&active.writer.finder));
        self.active = Some(active);
        if self.has_stream {
            match self.read_stream().await {
                Err(IndexError::Trimmed) => return self.build().await,
                read => read?,
            }
        }
        tracing::info!(documents = self.handle.status().documents, "opened the search index");
        Ok(())
    }

    /// Returns whether an index with this position is one of this kind of store.
    fn can_follow(&self, position: IndexPosition) -> bool {
        self.has_stream == matches!(position, IndexPosition::Sequence(_))
    }

    /// Waits until all changes are relayed, which starts a build, but not for ever.
    async fn wait_for_relay(&self) {
        let start = Instant::now();
        while start.elapsed() < RELAY_WAIT {
            if self.queue.take(COMMIT_INTERVAL).await.gap == Some(true) {
                return;
            }
        }
    }

    /// Builds a new index, while the current one, if there is one, answers searches.
    async fn build(&mut self) -> Result<(), IndexError> {
        self.active = None;
        self.needs_build = true;
        self.handle.update(|status| {
            *status = SearchStatus { state: IndexState::Building, scanned: 0, ..*status };
        });
        let position = self.position_before_build().await?;
        let (location, settings) = (self.location.clone(), self.settings);
        let created = spawn_blocking(move || {
            let stored = location.create(position)?;
            let active = ActiveIndex::open(&stored, &settings)?;
            Ok::<_, IndexError>((stored.path, active))
        });
        let (path, active) = created.await??;
        let rebuild = Rebuild {
            table: self.context.core().table(),
            writer: Arc::clone(&active.writer),
            handle: Arc::clone(&self.handle),
            queue: &self.queue,
            collects: !self.has_stream,
        };
        rebuild.run().await?;
        self.active = Some(active);
        if self.has_stream {
            self.read_stream().await?;
        }
        self.commit().await?;
        self.needs_build = false;
        self.location.remove_others(path.as_deref());
        self.handle.update(|status| status.builds += 1);
        Ok(())
    }

    /// Returns the position from which changes are applied to what the table has from now on.
    async fn position_before_build(&self) -> Result<IndexPosition, IndexError> {
        if !self.has_stream {
            return Ok(IndexPosition::Relayed);
        }
        let table = self.context.core().table();
        let end = stream_page(table, StreamStart::Latest).await?.next;
        Ok(IndexPosition::Sequence(end.and_then(|end| end.to_u64()).unwrap_or_default()))
    }

    /// Applies everything in the stream behind the position.
    async fn read_stream(&mut self) -> Result<(), IndexError> {
        let table = self.context.core().table().clone();
        loop {
            let Some(ActiveIndex { position: IndexPosition::Sequence(after), .. }) = self.active
            else {
                return Ok(());
            };
            let page = stream_page(&table, StreamStart::After(Sequence::from(after))).await?;
            let changes: Vec<DocumentChange> = page
                .changes
                .iter()
                .filter(|it| is_after(it, after))
                .filter_map(DocumentChange::of)
                .collect();
            self.apply(&changes).await?;
            let next = page.next.and_then(|next| next.to_u64());
            let Some(next) = next.filter(|next| *next > after) else { return Ok(()) };
            if let Some(active) = &mut self.active {
                active.position = IndexPosition::Sequence(next);
            }
            self.commit_if_due().await?;
        }
    }

    /// Applies the changes that the index does not have.
    async fn apply(&mut self, changes: &[DocumentChange]) -> Result<(), IndexError> {
        let Some(active) = &mut self.active else { return Ok(()) };
        let mut states = Vec::with_capacity(changes.len());
        for change in changes {
            match (&mut active.position, change.sequence.to_u64()) {
                (IndexPosition::Sequence(at), Some(sequence)) if sequence > *at => *at = sequence,
                (IndexPosition::Relayed, _) => {}
                _ => continue,
            }
            states.push(change.state.clone());
        }
        if states.is_empty() {
            return Ok(());
        }
        active.uncommitted.get_or_insert_with(Instant::now);
        let (writer, may_grow) = (Arc::clone(&active.writer), active.may_grow);
        spawn_blocking(move || writer.apply(&states, may_grow)).await?
    }

    async fn commit_if_due(&mut self) -> Result<(), IndexError> {
        let uncommitted = self.active.as_ref().and_then(|active| active.uncommitted);
        match uncommitted {
            Some(since) if since.elapsed() >= COMMIT_INTERVAL => self.commit().await,
            _ => Ok(()),
        }
    }

    async fn advance_if_due(&mut self) -> Result<(), IndexError> {
        let is_due = self.active.as_ref().is_some_and(|active| {
            active.uncommitted.is_none() && active.position_committed.elapsed() >= POSITION_INTERVAL
        });
        if !is_due {
            return Ok(());
        }
        self.advance().await?;
        self.commit().await
    }

    /// Moves the position past changes that do not concern the index, so that they are not read again.
    async fn advance(&mut self) -> Result<(), IndexError> {
        let bytes = self.location.bytes();
        self.handle.update(|status| status.bytes = bytes);
        let is_full = bytes > self.settings.index_bytes_max;
        if let Some(active) = &mut self.active {
            if is_full && active.may_grow {
                tracing::warn!(bytes, "the search index is full: raise search.index-mb-max");
            }
            active.may_grow = !is_full;
        }
        let Some(bus) = self.bus.clone().filter(|_| self.has_stream) else { return Ok(()) };
        let end = stream_page(self.context.core().table(), StreamStart::Latest).await?.next;
        // Everything up to that end is in the queue afterwards.
        if bus.catch_up().await.is_err() {
            return Ok(());
        }
        let arrived = self.queue.take(Duration::ZERO).await;
        if arrived.gap.is_some() {
            return self.read_stream().await;
        }
        self.apply(&arrived.changes).await?;
        if let Some(active) = &mut self.active
            && let IndexPosition::Sequence(at) = &mut active.position
        {
            *at = end.and_then(|end| end.to_u64()).map_or(*at, |end| end.max(*at));
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), IndexError> {
        let Some(active) = &mut self.active else { return Ok(()) };
        let (writer, position) = (Arc::clone(&active.writer), active.position);
        spawn_blocking(move || writer.commit(position)).await??;
        active.uncommitted = None;
        active.position_committed = Instant::now();
        self.handle.use_index(Arc::clone(&active.writer.finder));
        Ok(())
    }
}

impl ActiveIndex {
    fn open(stored: &StoredIndex, settings: &IndexSettings) -> Result<Self, IndexError> {
        Ok(Self {
            writer: Arc::new(DocumentWriter::open(stored, settings)?),
            position: stored.position,
            uncommitted: None,
            position_committed: Instant::now(),
            may_grow: true,
        })
    }

    /// The longest time to wait for more changes.
    fn wait_max(&self) -> Duration {
        let waited = self.uncommitted.map(|since| since.elapsed());
        waited.map_or(POSITION_INTERVAL, |waited| COMMIT_INTERVAL.saturating_sub(waited))
    }

    /// Commits what was applied. Blocks.
    fn finish(self) -> Result<(), IndexError> {
        if self.uncommitted.is_some() {
            self.writer.commit(self.position)?;
        }
        Ok(())
    }
}

fn is_after(change: &Change, after: u64) -> bool {
    change.sequence.to_u64().is_none_or(|sequence| sequence > after)
}

/// Reads the single shard of the embedded stream.
async fn stream_page(table: &Table, start: StreamStart) -> Result<StreamPage, IndexError> {
    let shards = table.stream_shards().await?;
    let Some(shard) = shards.first() else {
        return Err(IndexError::Damaged("the stream has no shard".to_owned()));
    };
    let no_copies = attribute(TYPE).ne(FeedItem::SHAPE.name);
    match table.stream_read(StreamRead::new(&shard.id, start).filter(no_copies)).await {
        Err(table::Error::StreamTrimmed { .. }) => Err(IndexError::Trimmed),
        page => Ok(page?),
    }
}
