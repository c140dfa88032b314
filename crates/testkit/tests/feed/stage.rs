//! The stage of a history: one store, three servers and a worker, each with its own clock.

use std::collections::HashMap;
use std::sync::Arc;

use roundtable_domain::{
    Context, FeedPolicy, FeedSettings, Feeds, LiveBus, PromotionSettings, Settings, TableNames,
};
use roundtable_model::table::{Clock, ManualClock, Store};
use roundtable_model::{CommentId, GroupId, PostId};
use roundtable_testkit::{Town, YieldingBackend};

use crate::cast::{Club, Name, Server};
use crate::faulty_backend::{FaultyBackend, LAG_MS};
use crate::oracle::Facts;
use crate::pages::Run;
use crate::populated_store::{BEGIN_MS, PopulatedStore};
use crate::stalled::Stalled;
use crate::stats::HistoryStats;
use crate::step::Opening;
use crate::stream_reader::StreamReader;

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The time after a follow from which feeds rely on copies.
const MARGIN_MS: u64 = 1_000;
/// The largest error of a clock: two of them and the lag of an index stay within the margin.
pub(crate) const SKEW_MS: u64 = 200;
/// The maximum number of copies in a feed.
const CAP: usize = 5;

const _: () = assert!(2 * SKEW_MS + LAG_MS < MARGIN_MS, "histories keep to the margin");

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) town: Arc<Town>,
    bus: LiveBus,
    feeds: Feeds,
    stream_reader: StreamReader,
    /// The error of its clock.
    beside_ms: i64,
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) place: PopulatedStore,
    pub(crate) faulty_backend: FaultyBackend,
    doors: [Process; 3],
    pub(crate) worker: Process,
    /// The stalled work of a worker.
    pub(crate) stalled: Option<Stalled>,
    opening: Opening,
    /// The number of processes so far.
    started: u8,
    pub(crate) posts: Vec<(PostId, Name)>,
    pub(crate) comments: Vec<(CommentId, Name)>,
    pub(crate) runs: HashMap<Name, Run>,
    pub(crate) stats: HistoryStats,
    /// One sentence for each step so far.
    pub(crate) story: Vec<String>,
}

impl Stage {
    pub(crate) async fn set(place: PopulatedStore, opening: &Opening) -> Self {
        let faulty_backend = place.faulty_backend();
        let behind = Store::new(YieldingBackend::new(faulty_backend.for_worker()));
        let settled = settings(&place.tables, Server::North, opening, 1);
        let worker = Process::start(behind, &place.clock, settled, 1).await;
        let server = async |server: Server, number: u8| {
            let settings = settings(&place.tables, server, opening, 1);
            let front = Store::new(YieldingBackend::new(faulty_backend.clone()));
            Process::start(front, &place.clock, settings, number).await
        };
        let doors = [
            server(Server::North, 2).await,
            server(Server::East, 3).await,
            server(Server::South, 4).await,
        ];
        Self {
            place,
            faulty_backend,
            doors,
            worker,
            stalled: None,
            opening: opening.clone(),
            started: 4,
            posts: Vec::new(),
            comments: Vec::new(),
            runs: HashMap::new(),
            stats: HistoryStats::default(),
            story: Vec::new(),
        }
    }

    pub(crate) fn server(&self, at: Server) -> &Process {
        let [north, east, south] = &self.doors;
        match at {
            Server::North => north,
            Server::East => east,
            Server::South => south,
        }
    }

    fn server_mut(&mut self, at: Server) -> &mut Process {
        let [north, east, south] = &mut self.doors;
        match at {
            Server::North => north,
            Server::East => east,
            Server::South => south,
        }
    }

    pub(crate) fn club(&self, club: Club) -> GroupId {
        let [runners, bakers] = &self.place.clubs;
        match club {
            Club::Runners => runners.clone(),
            Club::Bakers => bakers.clone(),
        }
    }

    pub(crate) async fn facts(&self) -> Facts {
        let store = Store::shared(self.place.backend.clone());
        let core = self.worker.town.context().core().table().definition();
        Facts::of(&store.table_as(Arc::clone(core))).await
    }

    /// True milliseconds since the beginning.
    pub(crate) fn now_ms(&self) -> u64 {
        self.place.clock.now_ms() - BEGIN_MS
    }

    /// Advances all clocks.
    pub(crate) fn wait(&self, ms: u64) {
        self.place.clock.advance_ms(ms);
        let true_ms = self.place.clock.now_ms();
        self.doors.iter().chain([&self.worker]).for_each(|process| process.set_clock(true_ms));
    }

    /// Sets the clock of a server, or the worker's.
    pub(crate) fn set_clock(&mut self, at: Option<Server>, beside_ms: i64) {
        let true_ms = self.place.clock.now_ms();
        let process = match at {
            Some(at) => self.server_mut(at),
            None => &mut self.worker,
        };
        process.beside_ms = beside_ms;
        process.set_clock(true_ms);
    }

    pub(crate) fn set_policy(&self, at: Option<Server>, policy: FeedPolicy) {
        for server in Server::ALL.into_iter().filter(|server| at.is_none_or(|at| at == *server)) {
            self.server(server).town.context().set_feed_policy(policy);
        }
    }

    /// Warms up the cache of a server.
    pub(crate) async fn warm_up(&self, at: Server) {
        self.server(at).bus().await.warm_up().await.unwrap();
    }

    /// Restarts a server, with an empty cache.
    pub(crate) async fn restart(&mut self, at: Server, ttl_days: u32) {
        self.started += 1;
        let settings = settings(&self.place.tables, at, &self.opening, ttl_days);
        let store = Store::new(YieldingBackend::new(self.faulty_backend.clone()));
        let next = Process::start(store, &self.place.clock, settings, self.started).await;
        let before = self.server(at);
        next.town.context().set_feed_policy(before.town.context().feed_policy());
        *self.server_mut(at) = Process { beside_ms: before.beside_ms, ..next };
        self.wait(0);
    }
}

impl Process {
    async fn start(
        store: Store,
        true_clock: &Arc<ManualClock>,
        settings: Settings,
        number: u8,
    ) -> Self {
        let clock = Arc::new(ManualClock::at_ms(true_clock.now_ms()));
        let town = Arc::new(Town::on(store, clock, settings, number).await);
        let bus = town.new_bus();
        let feeds = Feeds::new(town.context().clone(), &bus);
        let stream_reader = StreamReader::default();
        if !town.context().store().capabilities().single_process {
            stream_reader.skip(town.context().core().table()).await;
        }
        Self { town, bus, feeds, stream_reader, beside_ms: 0 }
    }

    /// Its bus, with all changes so far applied.
    pub(crate) async fn bus(&self) -> &LiveBus {
        let context = self.town.context();
        if !context.store().capabilities().single_process {
            self.stream_reader.hear(context.core().table(), &self.bus).await;
        }
        &self.bus
    }

    /// Its context, with reads answered from memory where that is exact.
    pub(crate) fn memory_context(&self) -> Context {
        self.town.context().with_memory_of(&self.bus)
    }

    /// Its feeds, with all changes so far applied.
    pub(crate) async fn feeds(&self) -> &Feeds {
        self.bus().await;
        &self.feeds
    }

    fn set_clock(&self, true_ms: u64) {
        self.town.clock().set_ms(true_ms.saturating_add_signed(self.beside_ms));
    }
}

fn settings(tables: &TableNames, server: Server, opening: &Opening, ttl_days: u32) -> Settings {
    let promotion = if opening.automatic {
        PromotionSettings { followers_min: 3, followers_max: 4, per_day_min: 6 }
    } else {
        PromotionSettings::default()
    };
    let feed = FeedSettings {
        policy: FeedPolicy::Documents,
        promotion,
        cap: CAP,
        trim_one_in: 1,
        ttl_days,
        margin_ms: MARGIN_MS,
        walk_max: server.walk_max(),
        memory: server.memory(),
        ..FeedSettings::default()
    };
    let (tables, moderation) = (tables.clone(), server.moderation(opening.is_moderated));
    Settings { tables, moderation, feed, ..Town::settings() }
}
