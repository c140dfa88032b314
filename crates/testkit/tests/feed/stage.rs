//! Where a history happens: one store, three processes that serve people, and a worker, each with a
//! clock of its own.

use std::collections::HashMap;
use std::sync::Arc;

use roundtable_domain::{FeedPolicy, FeedSettings, Feeds, PromotionSettings, Settings, TableNames};
use roundtable_model::table::{Clock, ManualClock, Store};
use roundtable_model::{CommentId, GroupId, PostId};
use roundtable_testkit::{Town, Yielding};

use crate::cast::{Club, Door, Name};
use crate::hearing::Hearing;
use crate::mishaps::{LAG_MS, Mishaps};
use crate::oracle::Facts;
use crate::pages::Run;
use crate::place::{BEGIN_MS, Place};
use crate::stalling::Stalled;
use crate::step::Opening;
use crate::tally::Tally;

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How long after a follow copies can be relied on.
const MARGIN_MS: u64 = 1_000;
/// How far a clock may be beside the true time: two of them, and an index that is behind, together
/// stay within the margin.
pub(crate) const SKEW_MS: u64 = 200;
/// Copies held in one feed.
const CAP: usize = 5;

const _: () = assert!(2 * SKEW_MS + LAG_MS < MARGIN_MS, "histories keep to the margin");

/// A process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) town: Arc<Town>,
    feeds: Feeds,
    hearing: Hearing,
    /// How far its clock is beside the true time.
    beside_ms: i64,
}

/// Where a history happens.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) mishaps: Mishaps,
    doors: [Process; 3],
    pub(crate) worker: Process,
    /// What a worker left undone, to go on with.
    pub(crate) stalled: Option<Stalled>,
    opening: Opening,
    /// How many processes there were.
    started: u8,
    pub(crate) posts: Vec<(PostId, Name)>,
    pub(crate) comments: Vec<(CommentId, Name)>,
    pub(crate) runs: HashMap<Name, Run>,
    pub(crate) tally: Tally,
    /// What has happened so far, one sentence each.
    pub(crate) story: Vec<String>,
}

impl Stage {
    pub(crate) async fn set(place: Place, opening: &Opening) -> Self {
        let mishaps = place.mishaps();
        let behind = Store::new(Yielding::new(mishaps.for_worker()));
        let settled = settings(&place.tables, Door::North, opening, 1);
        let worker = Process::start(behind, &place.clock, settled, 1).await;
        let door = async |door: Door, number: u8| {
            let settings = settings(&place.tables, door, opening, 1);
            let front = Store::new(Yielding::new(mishaps.clone()));
            Process::start(front, &place.clock, settings, number).await
        };
        let doors =
            [door(Door::North, 2).await, door(Door::East, 3).await, door(Door::South, 4).await];
        Self {
            place,
            mishaps,
            doors,
            worker,
            stalled: None,
            opening: opening.clone(),
            started: 4,
            posts: Vec::new(),
            comments: Vec::new(),
            runs: HashMap::new(),
            tally: Tally::default(),
            story: Vec::new(),
        }
    }

    pub(crate) fn door(&self, at: Door) -> &Process {
        let [north, east, south] = &self.doors;
        match at {
            Door::North => north,
            Door::East => east,
            Door::South => south,
        }
    }

    fn door_mut(&mut self, at: Door) -> &mut Process {
        let [north, east, south] = &mut self.doors;
        match at {
            Door::North => north,
            Door::East => east,
            Door::South => south,
        }
    }

    pub(crate) fn club(&self, club: Club) -> GroupId {
        let [runners, bakers] = &self.place.clubs;
        match club {
            Club::Runners => runners.clone(),
            Club::Bakers => bakers.clone(),
        }
    }

    /// Everything as it is in the table.
    pub(crate) async fn facts(&self) -> Facts {
        let store = Store::shared(self.place.backend.clone());
        let core = self.worker.town.ground().core().table().definition();
        Facts::of(&store.table_as(Arc::clone(core))).await
    }

    /// Milliseconds since the beginning, by the true time.
    pub(crate) fn now_ms(&self) -> u64 {
        self.place.clock.now_ms() - BEGIN_MS
    }

    /// Lets time pass, for everybody.
    pub(crate) fn wait(&self, ms: u64) {
        self.place.clock.advance_ms(ms);
        let true_ms = self.place.clock.now_ms();
        self.doors.iter().chain([&self.worker]).for_each(|process| process.set_clock(true_ms));
    }

    /// Somebody's clock is set, or the worker's.
    pub(crate) fn set_clock(&mut self, at: Option<Door>, beside_ms: i64) {
        let true_ms = self.place.clock.now_ms();
        let process = match at {
            Some(at) => self.door_mut(at),
            None => &mut self.worker,
        };
        process.beside_ms = beside_ms;
        process.set_clock(true_ms);
    }

    pub(crate) fn set_policy(&self, at: Option<Door>, policy: FeedPolicy) {
        for door in Door::ALL.into_iter().filter(|door| at.is_none_or(|at| at == *door)) {
            self.door(door).town.ground().set_feed_policy(policy);
        }
    }

    /// A process reads the latest activities into memory.
    pub(crate) async fn warm_up(&self, at: Door) {
        self.door(at).feeds().await.warm_up().await.unwrap();
    }

    /// A process ends, and another one begins in its place, with nothing in memory.
    pub(crate) async fn restart(&mut self, at: Door, ttl_days: u32) {
        self.started += 1;
        let settings = settings(&self.place.tables, at, &self.opening, ttl_days);
        let store = Store::new(Yielding::new(self.mishaps.clone()));
        let next = Process::start(store, &self.place.clock, settings, self.started).await;
        let before = self.door(at);
        next.town.ground().set_feed_policy(before.town.ground().feed_policy());
        *self.door_mut(at) = Process { beside_ms: before.beside_ms, ..next };
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
        let (feeds, hearing) = (Feeds::new(town.ground().clone()), Hearing::default());
        if !town.ground().store().capabilities().one_process {
            hearing.skip(town.ground().core().table()).await;
        }
        Self { town, feeds, hearing, beside_ms: 0 }
    }

    /// Its feeds, when they have heard of everything that has happened so far.
    pub(crate) async fn feeds(&self) -> &Feeds {
        let ground = self.town.ground();
        if !ground.store().capabilities().one_process {
            self.hearing.hear(ground.core().table(), &self.feeds).await;
        }
        &self.feeds
    }

    fn set_clock(&self, true_ms: u64) {
        self.town.clock().set_ms(true_ms.saturating_add_signed(self.beside_ms));
    }
}

fn settings(tables: &TableNames, door: Door, opening: &Opening, ttl_days: u32) -> Settings {
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
        memory: door.memory(),
    };
    let (tables, moderation) = (tables.clone(), door.moderation(opening.is_moderated));
    Settings { tables, moderation, feed, ..Town::settings() }
}
