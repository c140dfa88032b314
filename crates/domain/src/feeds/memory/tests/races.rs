//! Concurrent readers and writers on a slow store: a reader that has caught up sees everything
//! acknowledged before, and nothing that never existed.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::entities::Post;
use roundtable_model::{PostId, samples};

use super::*;
use crate::{FeedMemorySettings, LiveBus};

const WRITERS: usize = 3;
const READERS: usize = 5;
const STEPS: usize = 25;
const HISTORIES: u64 = 60;

/// Started and acknowledged writes.
#[derive(Clone, Debug, Default)]
struct Truth {
    /// Versions of posts; every fourth is a removal.
    begun: BTreeMap<PostId, u64>,
    acknowledged: BTreeMap<PostId, u64>,
    made: BTreeSet<FeedPosition>,
    made_for_sure: BTreeSet<FeedPosition>,
    gone: BTreeSet<FeedPosition>,
    gone_for_sure: BTreeSet<FeedPosition>,
}

struct World {
    bus: LiveBus,
    truth: Mutex<Truth>,
}

fn post_id(nth: usize) -> PostId {
    format!("post{nth}").parse().unwrap()
}

fn actor(writer: usize) -> String {
    format!("actor{writer}")
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        // So small that something is always evicted.
        let settings = FeedMemorySettings {
            recent: 12,
            each: 4,
            actors: 11,
            posts: 5,
            ..FeedMemorySettings::default()
        };
        let bus = bus_on(YieldingBackend::new(Reference::new(clock)), settings).await;
        Self { bus, truth: Mutex::default() }
    }

    fn context(&self) -> &Context {
        self.bus.context()
    }

    fn memory(&self) -> &FeedMemory {
        self.bus.feed_memory()
    }

    async fn write_post(&self, id: PostId) {
        let version = {
            let mut truth = self.truth.lock();
            let version = truth.begun.entry(id.clone()).or_default();
            *version += 1;
            *version
        };
        if version % 4 == 0 {
            self.context().core().table().delete(Post::at(&id).delete()).await.unwrap();
        } else {
            put(self.context(), &Post { id: id.clone(), version, ..samples::post() }).await;
        }
        self.truth.lock().acknowledged.insert(id, version);
    }

    async fn act(&self, writer: usize, nth: usize) {
        let activity = written(&actor(writer), nth as u64 + 1, writer * 1_000 + nth).activity();
        let position = FeedPosition::of(&activity);
        self.truth.lock().made.insert(position.clone());
        put(self.context(), &activity).await;
        self.truth.lock().made_for_sure.insert(position);
    }

    async fn undo(&self, writer: usize, nth: usize) {
        let activity = written(&actor(writer), nth as u64 + 1, writer * 1_000 + nth).activity();
        let position = FeedPosition::of(&activity);
        let is_there = {
            let mut truth = self.truth.lock();
            truth.made_for_sure.contains(&position) && truth.gone.insert(position.clone())
        };
        if is_there {
            self.context().core().table().delete(activity.key().delete()).await.unwrap();
            self.truth.lock().gone_for_sure.insert(position);
        }
    }

    async fn look_at_posts(&self, ids: &[PostId]) {
        let before = self.truth.lock().acknowledged.clone();
        self.bus.catch_up().await.unwrap();
        let found = self.bus.entity_memory().posts(self.context(), ids).await.unwrap();
        let after = self.truth.lock().begun.clone();
        for id in ids {
            let version = |truth: &BTreeMap<PostId, u64>| truth.get(id).copied().unwrap_or(0);
            let mut possible = version(&before)..=version(&after);
            match found.get(id) {
                Some(post) => assert!(possible.contains(&post.version), "{post:?}, {possible:?}"),
                None => assert!(possible.any(|version| version % 4 == 0), "{id} is gone"),
            }
        }
    }

    async fn look_at_tails(&self) {
        let before = self.truth.lock().clone();
        self.bus.catch_up().await.unwrap();
        let homes: Vec<ActorId> = (0..WRITERS).map(|writer| home(&actor(writer))).collect();
        let merged = self.memory().newest(self.context(), homes.iter(), None, 9).await.unwrap();
        let is_left_out = |position: &FeedPosition| {
            let writer = position.id.to_string()[1..2].parse().unwrap();
            merged.exhausted.contains(&home(&actor(writer)))
        };
        self.check(&before, &merged.entries, merged.down_to.as_ref(), is_left_out);
    }

    async fn look_at_ring(&self) {
        let before = self.truth.lock().clone();
        self.bus.catch_up().await.unwrap();
        if let Some(found) = self.memory().recent(None, 9, 9, |_| true) {
            self.check(&before, &found.entries, found.down_to.as_ref(), |_| false);
        }
    }

    fn check(
        &self,
        before: &Truth,
        entries: &[Arc<CachedActivity>],
        down_to: Option<&FeedPosition>,
        is_left_out: impl Fn(&FeedPosition) -> bool,
    ) {
        let after = self.truth.lock();
        let seen: BTreeSet<&FeedPosition> = entries.iter().map(|entry| &entry.position).collect();
        assert_eq!(seen.len(), entries.len(), "each once");
        for position in &seen {
            assert!(after.made.contains(*position), "{position:?} was never there");
            assert!(!before.gone_for_sure.contains(*position), "{position:?} is gone");
        }
        for position in
            before.made_for_sure.iter().filter(|position| !after.gone.contains(*position))
        {
            let is_told =
                down_to.is_none_or(|down_to| position >= down_to) && !is_left_out(position);
            assert!(!is_told || seen.contains(position), "{position:?} is missing");
        }
    }
}

async fn write(world: &World, writer: usize, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    for nth in 0..STEPS {
        for _ in 0..random.random_range(0..6) {
            tokio::task::yield_now().await;
        }
        match random.random_range(0..5) {
            0..=1 => world.write_post(post_id(writer * 2 + random.random_range(0..2))).await,
            2..=3 => world.act(writer, nth).await,
            _ => world.undo(writer, random.random_range(0..=nth)).await,
        }
    }
}

async fn read(world: &World, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    for _ in 0..STEPS {
        let ids: Vec<PostId> =
            (0..3).map(|_| post_id(random.random_range(0..WRITERS * 2))).collect();
        let look = async {
            match random.random_range(0..8) {
                0..=2 => world.look_at_posts(&ids).await,
                3..=4 => world.look_at_tails().await,
                5..=6 => world.look_at_ring().await,
                _ => world.bus.warm_up().await.unwrap(),
            }
        };
        // Some readers give up.
        let patience = if seed.is_multiple_of(3) { 10 } else { usize::MAX };
        let mut look = pin!(look);
        for _ in 0..patience {
            if futures::poll!(look.as_mut()).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_caught_up_sees_everything_acknowledged_before() {
    for history in 0..HISTORIES {
        let world = World::new().await;
        let seed = |nth: usize| history * 100 + nth as u64;
        let writers = (0..WRITERS).map(|writer| write(&world, writer, seed(writer)));
        let readers = (0..READERS).map(|reader| read(&world, seed(10 + reader)));
        tokio::join!(
            futures::future::join_all(writers),
            futures::future::join_all(readers),
            world.bus.warm_up(),
        )
        .2
        .unwrap();
        world.look_at_tails().await;
        world.look_at_ring().await;
        world.look_at_posts(&(0..WRITERS * 2).map(post_id).collect::<Vec<_>>()).await;
    }
}
