//! The runner: brings every change to every processor, and works on what they leave for later.

mod passing;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::Ground;
use roundtable_model::entities::Checkpoint;
use roundtable_model::table::Shard;
use roundtable_model::{Entity, StreamShard};
use tokio::task::JoinSet;

use crate::asked::Asked;
use crate::figures::{Figures, Snapshot};
use crate::jobs::{Work, Worked, Worker};
use crate::lane::{Lane, Step};
use crate::shared::{Retries, Shared};
use crate::stop::Stop;
use crate::tail::Tail;
use crate::{Alone, Backoff, DeadLetters, Failure, Processor, Sharing};

/// How often a failing change or page is tried, unless configured otherwise.
const ATTEMPTS_MAX: u32 = 5;
/// How long the second try waits; up to how long any does.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long to wait after a shard was lost, before it may be read again.
const LOST_WAIT: Duration = Duration::from_secs(1);
/// Checkpoints of shards that the stream forgot are kept for so long: a stream forgets after a day.
const FORGOTTEN_MS: u64 = 3 * 24 * 60 * 60 * 1000;
/// Rounds of sharing between two looks for these.
const TIDY_ROUNDS: u32 = 360;

/// What a [`Runner`] is made of.
#[derive(Debug)]
pub struct Setup {
    pub(crate) ground: Ground,
    processors: Vec<Arc<dyn Processor>>,
    works: Vec<Arc<dyn Work>>,
    sharing: Arc<dyn Sharing>,
    retries: Retries,
}

impl Setup {
    /// With this processor, too. Their names must differ.
    #[must_use]
    pub fn with(mut self, processor: impl Processor) -> Self {
        self.processors.push(Arc::new(processor));
        self
    }

    /// With this kind of work, too.
    #[must_use]
    pub fn working(mut self, work: impl Work) -> Self {
        self.works.push(Arc::new(work));
        self
    }

    /// Sharing the stream with other processes, instead of reading all of it.
    #[must_use]
    pub fn sharing(mut self, sharing: impl Sharing) -> Self {
        self.sharing = Arc::new(sharing);
        self
    }

    /// Answering failures so.
    #[must_use]
    pub fn retrying(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Trying again at once, for tests: time is theirs.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.retries.backoff = Backoff::none();
        self
    }

    /// The runner.
    pub fn build(self) -> Runner {
        let Self { ground, processors, works, sharing, retries } = self;
        let (figures, stop, asked) = (Figures::default(), Stop::default(), Asked::default());
        let shared = Arc::new(Shared { ground, sharing, retries, figures, stop, asked });
        Runner { shared, processors, works }
    }
}

/// Brings every change to every processor. Cheap to clone; clones are the same runner.
#[derive(Clone, Debug)]
pub struct Runner {
    shared: Arc<Shared>,
    processors: Vec<Arc<dyn Processor>>,
    works: Vec<Arc<dyn Work>>,
}

impl Runner {
    /// A runner on this ground, without processors yet. `seed` is where the differences between the
    /// waits of several processes come from.
    pub fn on(ground: Ground, seed: [u8; 32]) -> Setup {
        let backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT, seed);
        Setup {
            ground,
            processors: Vec::new(),
            works: Vec::new(),
            sharing: Arc::new(Alone::new()),
            retries: Retries { attempts_max: ATTEMPTS_MAX, backoff },
        }
    }

    /// The dead letters of its processors and jobs.
    pub fn dead_letters(&self) -> DeadLetters {
        let jobs = self.works.iter().map(|work| work.queue()).collect();
        DeadLetters::new(Arc::clone(&self.shared), self.processors.clone(), jobs)
    }

    /// How far behind everything is, and what was done since the start.
    pub fn figures(&self) -> Snapshot {
        for work in &self.works {
            let counts = work.counts();
            if counts.iter().any(|(_, count)| *count > 0) {
                self.shared.figures.queue(&work.queue(), |figures| figures.counts = counts);
            }
        }
        self.shared.figures.snapshot(&**self.shared.ground.clock())
    }

    /// Runs until `stop` comes: what is under way is finished, checkpoints are written, and shards
    /// given back.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        self.shared.stop.set(false);
        let wish = async {
            stop.await;
            self.shared.stop.set(true);
        };
        futures::future::join(wish, self.follow()).await;
    }

    async fn follow(&self) {
        let shared = &self.shared;
        let mut workers = JoinSet::new();
        for work in &self.works {
            workers.spawn(Worker::new(shared, work).follow());
        }
        let mut readers = JoinSet::new();
        let mut shards: HashMap<tokio::task::Id, String> = HashMap::new();
        let mut rounds = 0;
        while !shared.stop.is_set() {
            match self.share(rounds % TIDY_ROUNDS == 0).await {
                Ok(held) => {
                    for shard in held {
                        if !shards.values().any(|read| *read == shard) {
                            let reader = readers.spawn(self.clone().read(shard.clone()));
                            shards.insert(reader.id(), shard);
                        }
                    }
                }
                Err(failure) => tracing::warn!(%failure, "cannot share the stream"),
            }
            rounds += 1;
            // A shard that has ended makes room for its children: do not wait for the next round.
            let ended = async {
                match readers.join_next_with_id().await {
                    Some(Ok(ended)) => ended,
                    Some(Err(panicked)) => (panicked.id(), false),
                    None => std::future::pending().await,
                }
            };
            let round = tokio::time::timeout(shared.sharing.interval(), ended);
            if let Some(Ok((id, to_its_end))) = shared.stop.unless(round).await {
                shards.remove(&id);
                if !to_its_end {
                    shared.stop.pause(LOST_WAIT).await;
                }
            }
        }
        while readers.join_next().await.is_some() {}
        while workers.join_next().await.is_some() {}
        if let Err(error) = shared.sharing.leave().await {
            tracing::warn!(%error, "cannot give the shards back; others wait until they expire");
        }
    }

    /// One round of sharing: the shards to read.
    async fn share(&self, tidy: bool) -> Result<Vec<String>, Failure> {
        let shards = self.shared.ground.core().table().stream_shards().await?;
        let held = self.shared.sharing.share(&shards).await?;
        if tidy {
            self.forget_old(&shards).await?;
        }
        Ok(held)
    }

    /// Reads a shard with every processor; whether it has come to the shard's end.
    async fn read(self, shard: String) -> bool {
        let Some(lanes) = self.lanes(&shard) else { return false };
        let mut following = JoinSet::new();
        for lane in lanes {
            following.spawn(lane.follow());
        }
        let mut ended = true;
        while let Some(end) = following.join_next().await {
            ended &= matches!(end, Ok(Step::Ended));
        }
        if ended && let Err(error) = self.shared.sharing.end(&shard).await {
            tracing::warn!(shard, %error, "cannot note that a shard has ended; it is read again");
        }
        ended
    }

    fn lanes(&self, shard: &str) -> Option<Vec<Lane>> {
        let name: StreamShard = match shard.parse() {
            Ok(name) => name,
            Err(misfit) => {
                tracing::error!(shard, %misfit, "this is no name for a shard");
                return None;
            }
        };
        let table = self.shared.ground.core().table().clone();
        let wanted = self.processors.iter().flat_map(|each| each.wants()).copied();
        let tail = Arc::new(Tail::new(table, shard.to_owned(), wanted));
        let lane = |each| Lane::new(&self.shared, each, &tail, name.clone());
        Some(self.processors.iter().map(lane).collect())
    }

    /// Processes everything there is, and does every job that is due, until nothing is left; then
    /// writes checkpoints. For checks of a quiet store, and for tests.
    pub async fn drain(&self) -> Result<(), Failure> {
        let mut lanes: BTreeMap<String, Vec<Lane>> = BTreeMap::new();
        let mut moved = true;
        while moved {
            moved = false;
            for shard in self.share(false).await? {
                if !lanes.contains_key(&shard) {
                    lanes.insert(shard.clone(), self.lanes(&shard).unwrap_or_default());
                }
                let Some(lanes) = lanes.get_mut(&shard) else { continue };
                let mut ended = true;
                for lane in lanes.iter_mut() {
                    let last = loop {
                        match lane.step(Duration::ZERO).await? {
                            Step::Moved => moved = true,
                            other => break other,
                        }
                    };
                    moved |= last == Step::Lost;
                    ended &= last == Step::Ended;
                }
                if ended {
                    moved = true;
                    self.shared.sharing.end(&shard).await?;
                }
            }
            for work in &self.works {
                moved |= Worker::new(&self.shared, work).step().await? == Worked::Some;
            }
        }
        for lane in lanes.values_mut().flatten() {
            lane.flush().await?;
        }
        Ok(())
    }

    /// Forgets checkpoints of shards that the stream has long forgotten.
    async fn forget_old(&self, shards: &[Shard]) -> Result<(), Failure> {
        let ops = self.shared.ground.ops();
        let old = self.shared.ground.now().minus_ms(FORGOTTEN_MS);
        for processor in &self.processors {
            for checkpoint in ops.checkpoints(&processor.name()).all().await? {
                let listed = shards.iter().any(|s| s.id == checkpoint.stream_shard.as_str());
                if !listed && checkpoint.updated_at < old {
                    let unchanged = Checkpoint::SEQUENCE.is(&checkpoint.sequence);
                    let gone = checkpoint.key().delete().when(unchanged);
                    // Somebody else may be tidying, too.
                    let _ = ops.table().delete(gone).await;
                }
            }
        }
        Ok(())
    }
}
