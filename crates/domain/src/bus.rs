//! The live bus: it applies each change of the stream to its sinks, which are the entities in memory,
//! the cache behind feeds, the log of notifications, the topics of live updates, chat rooms, the
//! connections of signed-in users, and the queue of the search index.
//! Nothing else reads the stream for them; the runner of `streams` reads it for processors.
//!
//! On the embedded store, where all writes go through this process, the bus reads the stream
//! itself, and callers that need to be current have it read to the end. Elsewhere the relay
//! delivers the changes that workers read.

mod catch_up;
mod channels;
mod document_changes;
mod replay_log;
mod resume_point;
mod seen_changes;
mod stream_reader;

use std::hash::Hash;
use std::pin::pin;
use std::sync::{Arc, LazyLock, OnceLock};

use futures::FutureExt;
use futures::future::{join, select};
use parking_lot::Mutex;
use roundtable_domain_macros::boxed;
use roundtable_model::Time;
use roundtable_model::table::Change;
use tokio::runtime::Handle;

use self::catch_up::{CatchUp, repeat};
pub(crate) use self::channels::{Channels, Subscriber};
pub use self::document_changes::{DocumentChange, DocumentChangeQueue, DocumentChanges};
pub(crate) use self::replay_log::ReplayLog;
pub(crate) use self::resume_point::LogStart;
use self::resume_point::{ARRIVAL_MARGIN, delay_max};
pub use self::resume_point::{BusId, ResumePoint};
use self::seen_changes::SeenChanges;
use self::stream_reader::StreamReader;
use crate::accounts::AccountWakeUps;
use crate::feeds::FeedMemory;
use crate::live::Topics;
use crate::memory::EntityMemory;
use crate::messages::RoomWakeUps;
use crate::notifications::NotificationLog;
use crate::search::DOCUMENT_TYPES;
use crate::{Context, ServiceError};

/// A receiver of changes. None of its methods waits.
pub(crate) trait Sink {
    /// Applies changes in order. On the embedded store these exclude copies in feeds, which are
    /// many and which no sink needs.
    fn apply(&self, changes: &[Change]);

    /// All changes are applied from now on; none were before.
    fn start(&self) {}

    /// Some changes were missed. `is_complete` says whether all are applied from now on.
    fn reset(&self, is_complete: bool);
}

/// The live bus. Cheap to clone; a process has one.
#[derive(Clone, Debug)]
pub struct LiveBus {
    state: Arc<BusState>,
}

#[derive(Debug)]
struct BusState {
    /// Drawn when the first client is told it.
    id: OnceLock<BusId>,
    /// The runtime that the bus was made on, whose threads have the priority of the process.
    home: Option<Handle>,
    context: Context,
    reader: StreamReader,
    catch_up: CatchUp,
    /// Locked while relayed changes are applied, so that each item's changes stay in order.
    seen: Mutex<SeenChanges>,
    sinks: Sinks,
}

#[derive(Debug)]
struct Sinks {
    entities: EntityMemory,
    feeds: FeedMemory,
    notifications: NotificationLog,
    topics: Topics,
    rooms: RoomWakeUps,
    accounts: AccountWakeUps,
    documents: DocumentChangeQueue,
}

/// The types that are relayed. Not for entities in memory: where changes are relayed, other processes
/// write, and no entity is cached. Nor are sessions and keys: connections poll
/// them there, because a relay may be late.
static ENTITY_TYPES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut all = [
        FeedMemory::ENTITY_TYPES,
        NotificationLog::ENTITY_TYPES,
        Topics::ENTITY_TYPES,
        RoomWakeUps::ENTITY_TYPES,
        DOCUMENT_TYPES,
    ]
    .concat();
    all.sort_unstable();
    all.dedup();
    all
});

#[boxed]
impl LiveBus {
    pub fn new(context: Context) -> Self {
        let is_exact = context.store().capabilities().single_process;
        let memory = &context.settings().feed.memory;
        let sinks = Sinks {
            entities: EntityMemory::new(memory, is_exact),
            feeds: FeedMemory::new(memory, is_exact),
            notifications: NotificationLog::default(),
            topics: Topics::default(),
            rooms: RoomWakeUps::default(),
            accounts: AccountWakeUps::default(),
            documents: DocumentChangeQueue::default(),
        };
        let (id, reader, catch_up, seen) = Default::default();
        let home = Handle::try_current().ok();
        Self { state: Arc::new(BusState { id, home, context, reader, catch_up, seen, sinks }) }
    }

    fn id(&self) -> BusId {
        let entropy = self.state.context.entropy();
        *self.state.id.get_or_init(|| BusId(u64::from_le_bytes(entropy.bytes())))
    }

    /// Returns the point from which a client that has received this event from this bus resumes.
    pub fn resume_point<K>(&self, id: K) -> ResumePoint<K> {
        ResumePoint { id, bus: Some(self.id()) }
    }

    /// Returns where a subscription starts in a log of this bus, so that it skips nothing that arrived
    /// after the event where the client received it. It may repeat what arrived shortly before.
    pub(crate) fn log_start<K: Clone + Eq + Hash, T: Clone>(
        &self,
        log: &ReplayLog<K, T>,
        after: Option<&ResumePoint<K>>,
    ) -> LogStart {
        let end = LogStart { next: log.end(), misses_some: false };
        let Some(after) = after else { return end };
        // Without an id of a bus it may have been any, unless there is only one.
        let is_same = after.bus.map_or_else(|| self.is_exact(), |bus| bus == self.id());
        let next = if is_same {
            log.number_after(&after.id)
        } else {
            log.number_before(&after.id, ARRIVAL_MARGIN)
        };
        next.map_or(LogStart { misses_some: true, ..end }, |next| LogStart { next, ..end })
    }

    /// Returns the time from which everything is to be read that may have arrived after an event of this
    /// time.
    pub(crate) fn read_since(&self, at: Time) -> Time {
        at.minus_ms(u64::try_from(delay_max(self.is_exact()).as_millis()).unwrap_or(u64::MAX))
    }

    /// The entity types whose changes the bus needs where they are relayed.
    pub fn entity_types() -> &'static [&'static str] {
        &ENTITY_TYPES
    }

    /// Applies changes until `stop` resolves, and keeps the latest activities of all actors
    /// loaded. Where other processes write as well, [`LiveBus::apply`] takes its place.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        if !self.is_exact() {
            return stop.await;
        }
        let table = self.state.context.core().table();
        // While this fails, readers of feeds read the stream themselves and get its errors.
        let deliver = repeat("live", || async {
            self.catch_up().await?;
            self.state.reader.wait(table).await
        });
        // Concurrently, because it takes a while.
        let load = repeat("feeds", || async {
            let mut changed = self.feed_memory().log().changes();
            self.warm_up().await?;
            // A gap, after which they have to be loaded again, changes the log.
            let _ = changed.changed().await;
            Ok(())
        });
        select(pin!(stop), pin!(join(deliver, load))).await;
    }

    /// Applies everything that happened before this call. Concurrent callers share a read. Does
    /// nothing where other processes write as well.
    ///
    /// Callers on another runtime have the read made on that of the bus. Their threads may have a low
    /// priority, and so be without a processor in the middle of a read that all others wait for.
    pub async fn catch_up(&self) -> Result<(), ServiceError> {
        if !self.is_exact() {
            return Ok(());
        }
        let BusState { home, context, reader, .. } = &*self.state;
        let is_here = |home: &&Handle| Handle::try_current().is_ok_and(|it| it.id() == home.id());
        let Some(home) = home.as_ref().filter(|home| !is_here(home)) else {
            return self.catch_up_here().await;
        };
        // Most readers that catch up find nothing new.
        if reader.is_at_end(context.core().table()).await? {
            return Ok(());
        }
        let bus = self.clone();
        match home.spawn(async move { bus.catch_up_here().await }).await {
            Ok(done) => done,
            // That runtime has ended.
            Err(_) => self.catch_up_here().await,
        }
    }

    async fn catch_up_here(&self) -> Result<(), ServiceError> {
        let run = || {
            let state = Arc::clone(&self.state);
            async move {
                let BusState { context, reader, sinks, .. } = &*state;
                reader.read_to_end(context.core().table(), sinks).await
            }
            .boxed()
        };
        self.state.catch_up.wait_for_run(run).await
    }

    /// Loads the latest activities of all actors, unless they are loaded or other processes write
    /// as well. Pages of feeds are correct without it, but some cost more.
    pub async fn warm_up(&self) -> Result<(), ServiceError> {
        let may_load = self.state.context.store().capabilities().walks;
        if may_load && self.feed_memory().needs_ring() {
            // Changes during the load are applied only once the position in the stream is fixed.
            self.catch_up().await?;
            self.feed_memory().fill_ring(&self.state.context).await?;
        }
        Ok(())
    }

    /// Applies changes read by another task or process, except those applied before; each item's
    /// changes must arrive in order.
    pub fn apply(&self, changes: &[Change]) {
        let mut seen = self.state.seen.lock();
        self.state.sinks.apply(&seen.take_new(changes));
    }

    /// Sets whether [`LiveBus::apply`] receives all changes from now on. Until then feeds are read
    /// from the table. Either way some may have been missed, so subscribers are told to refetch.
    pub fn set_complete(&self, is_complete: bool) {
        self.state.sinks.reset(is_complete);
    }

    /// The number of topics with a subscription.
    pub fn topic_count(&self) -> usize {
        self.topics().len()
    }

    /// Returns whether all changes are applied before a reader looks.
    pub(crate) fn is_exact(&self) -> bool {
        self.state.context.store().capabilities().single_process
    }

    #[cfg(test)]
    pub(crate) fn context(&self) -> &Context {
        &self.state.context
    }

    /// The changes of documents, for the search index.
    pub fn document_changes(&self) -> &DocumentChangeQueue {
        &self.state.sinks.documents
    }

    pub(crate) fn entity_memory(&self) -> &EntityMemory {
        &self.state.sinks.entities
    }

    pub(crate) fn feed_memory(&self) -> &FeedMemory {
        &self.state.sinks.feeds
    }

    pub(crate) fn notification_log(&self) -> &NotificationLog {
        &self.state.sinks.notifications
    }

    pub(crate) fn topics(&self) -> &Topics {
        &self.state.sinks.topics
    }

    pub(crate) fn rooms(&self) -> &RoomWakeUps {
        &self.state.sinks.rooms
    }

    pub(crate) fn accounts(&self) -> &AccountWakeUps {
        &self.state.sinks.accounts
    }
}

impl Sinks {
    /// Entities come first: the others wake subscriptions, which then look them up.
    fn each(&self) -> [&dyn Sink; 7] {
        let Self { entities, feeds, notifications, topics, rooms, accounts, documents } = self;
        [entities, feeds, notifications, topics, rooms, accounts, documents]
    }
}

impl Sink for Sinks {
    fn apply(&self, changes: &[Change]) {
        // Most readers that catch up find nothing new.
        if changes.is_empty() {
            return;
        }
        self.each().into_iter().for_each(|sink| sink.apply(changes));
    }

    fn start(&self) {
        self.each().into_iter().for_each(Sink::start);
    }

    fn reset(&self, is_complete: bool) {
        self.each().into_iter().for_each(|sink| sink.reset(is_complete));
    }
}
