//! The runner delivers every change to every processor and works on the jobs they enqueue.

mod skip;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::Context;
use roundtable_model::entities::Checkpoint;
use roundtable_model::table::{ShardInfo, essential};
use roundtable_model::{Entity, ProcessorName, StreamShard};
use tokio::task::JoinSet;

use crate::jobs::{JobHandler, JobWorker, WorkOutcome};
use crate::lane::{Lane, LaneStep};
use crate::metrics::{MetricsRegistry, StreamMetrics};
use crate::runner_state::{RetrySettings, RunnerState};
use crate::shard_tail::ShardTail;
use crate::stop_signal::StopSignal;
use crate::work_signal::WorkSignal;
use crate::{Backoff, DeadLetters, Processor, Result, ShardAssignment, SingleWorker};

/// Attempts at a failing change or page, unless configured otherwise.
const ATTEMPTS_MAX: u32 = 5;
/// The delay before the second attempt, and the longest delay.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(30);
/// The delay before a lost shard may be read again.
const LOST_SHARD_DELAY: Duration = Duration::from_secs(1);
/// Checkpoints of shards that left the stream are kept this long. A stream trims after a day.
const CHECKPOINT_RETENTION_MS: u64 = 3 * 24 * 60 * 60 * 1000;
/// Assignment rounds between two cleanups of stale checkpoints.
const CLEANUP_INTERVAL_ROUNDS: u32 = 360;

/// Builds a [`Runner`].
#[derive(Debug)]
pub struct RunnerBuilder {
    pub(crate) context: Context,
    processors: Vec<Arc<dyn Processor>>,
    handlers: Vec<Arc<dyn JobHandler>>,
    shard_assignment: Arc<dyn ShardAssignment>,
    retries: RetrySettings,
}

impl RunnerBuilder {
    /// Adds a processor. Names must be distinct.
    #[must_use]
    pub fn with(mut self, processor: impl Processor) -> Self {
        self.processors.push(Arc::new(processor));
        self
    }

    #[must_use]
    pub fn with_job_handler(mut self, handler: impl JobHandler) -> Self {
        self.handlers.push(Arc::new(handler));
        self
    }

    /// Shares the stream with other processes instead of reading all of it.
    #[must_use]
    pub fn with_shard_assignment(mut self, shard_assignment: impl ShardAssignment) -> Self {
        self.shard_assignment = Arc::new(shard_assignment);
        self
    }

    #[must_use]
    pub fn with_retries(mut self, retries: RetrySettings) -> Self {
        self.retries = retries;
        self
    }

    /// Retries without delays, for tests that control the clock.
    #[must_use]
    pub fn without_delays(mut self) -> Self {
        self.retries.backoff = Backoff::none();
        self
    }

    pub fn build(self) -> Runner {
        let Self { context, processors, handlers, shard_assignment, retries } = self;
        let shared = Arc::new(RunnerState {
            context,
            shard_assignment,
            retries,
            metrics: MetricsRegistry::default(),
            stop: StopSignal::default(),
            work_signal: WorkSignal::default(),
        });
        Runner { shared, processors, handlers }
    }
}

/// Delivers every change to every processor. Cheap to clone; clones share the same state.
#[derive(Clone, Debug)]
pub struct Runner {
    shared: Arc<RunnerState>,
    processors: Vec<Arc<dyn Processor>>,
    handlers: Vec<Arc<dyn JobHandler>>,
}

#[boxed]
impl Runner {
    /// Creates a builder without processors. `seed` randomizes the retry delays, so that processes
    /// differ.
    pub fn builder(context: Context, seed: [u8; 32]) -> RunnerBuilder {
        let backoff = Backoff::new(FIRST_WAIT, WAIT_MAX, seed);
        RunnerBuilder {
            context,
            processors: Vec::new(),
            handlers: Vec::new(),
            shard_assignment: Arc::new(SingleWorker::new()),
            retries: RetrySettings { attempts_max: ATTEMPTS_MAX, backoff },
        }
    }

    pub fn dead_letters(&self) -> DeadLetters {
        let jobs = self.handlers.iter().map(|handler| handler.queue()).collect();
        DeadLetters::new(Arc::clone(&self.shared), self.processors.clone(), jobs)
    }

    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    /// Returns the names of all processors, under which they report their checkpoints.
    pub fn processor_names(&self) -> Vec<ProcessorName> {
        self.processors.iter().map(|processor| processor.name()).collect()
    }

    /// Returns the backlog of each processor, and counts since the start.
    pub fn metrics(&self) -> StreamMetrics {
        for handler in &self.handlers {
            let counts = handler.counts();
            if counts.iter().any(|(_, count)| *count > 0) {
                self.shared
                    .metrics
                    .update_queue(&handler.queue(), |metrics| metrics.counts = counts);
            }
        }
        self.shared.metrics.snapshot(&**self.shared.context.clock())
    }

    /// Runs until `stop` completes. Then finishes running work, writes checkpoints and releases the
    /// shards.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        self.shared.stop.set(false);
        let stopping = async {
            stop.await;
            self.shared.stop.set(true);
        };
        futures::future::join(stopping, self.run_until_stopped()).await;
    }

    fn run_until_stopped(&self) -> BoxFuture<'_, ()> {
        // Where the store is short of space, this is what lets it trim its log.
        Box::pin(essential(self.run_shards_and_jobs()))
    }

    async fn run_shards_and_jobs(&self) {
        let shared = &self.shared;
        let mut workers = JoinSet::new();
        for handler in &self.handlers {
            workers.spawn(essential(JobWorker::new(shared, handler).run()));
        }
        let mut readers = JoinSet::new();
        let mut shards: HashMap<tokio::task::Id, String> = HashMap::new();
        let mut rounds = 0;
        while !shared.stop.is_set() {
            match self.assign_shards(rounds % CLEANUP_INTERVAL_ROUNDS == 0).await {
                Ok(assigned) => {
                    for shard in assigned {
                        if !shards.values().any(|read| *read == shard) {
                            let reader =
                                readers.spawn(essential(self.clone().read_shard(shard.clone())));
                            shards.insert(reader.id(), shard);
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "cannot assign stream shards; retrying"),
            }
            rounds += 1;
            // The children of an ended shard need not wait for the next round.
            let ended = async {
                match readers.join_next_with_id().await {
                    Some(Ok(ended)) => ended,
                    Some(Err(panicked)) => (panicked.id(), false),
                    None => std::future::pending().await,
                }
            };
            let round = tokio::time::timeout(shared.shard_assignment.interval(), ended);
            if let Some(Ok((id, has_ended))) = shared.stop.run_until_set(round).await {
                shards.remove(&id);
                if !has_ended {
                    shared.stop.sleep(LOST_SHARD_DELAY).await;
                }
            }
        }
        while readers.join_next().await.is_some() {}
        while workers.join_next().await.is_some() {}
        if let Err(error) = shared.shard_assignment.release_all().await {
            tracing::warn!(
                %error,
                "cannot release the shards; other processes wait until the leases expire"
            );
        }
    }

    /// Runs one round of shard assignment and returns the shards to read.
    async fn assign_shards(&self, cleanup: bool) -> Result<Vec<String>> {
        let shards = self.shared.context.core().table().stream_shards().await?;
        let assignment = &self.shared.shard_assignment;
        assignment.report_backlog(self.shared.metrics.behind_since_ms());
        let assigned = assignment.assign(&shards).await?;
        if cleanup {
            self.remove_stale_checkpoints(&shards).await?;
        }
        Ok(assigned)
    }

    /// Reads a shard with every processor. Returns whether it was read to its end.
    async fn read_shard(self, shard: String) -> bool {
        let Some(lanes) = self.lanes(&shard) else { return false };
        let mut running = JoinSet::new();
        for lane in lanes {
            running.spawn(essential(lane.run()));
        }
        let mut ended = true;
        while let Some(end) = running.join_next().await {
            ended &= matches!(end, Ok(LaneStep::Ended));
        }
        if ended && let Err(error) = self.shared.shard_assignment.mark_ended(&shard).await {
            tracing::warn!(
                shard, %error,
                "cannot record that a shard has ended; it will be read again"
            );
        }
        ended
    }

    fn lanes(&self, shard: &str) -> Option<Vec<Lane>> {
        let name: StreamShard = match shard.parse() {
            Ok(name) => name,
            Err(error) => {
                tracing::error!(shard, %error, "invalid shard name; the shard is skipped");
                return None;
            }
        };
        let table = self.shared.context.core().table().clone();
        let wanted = self.processors.iter().flat_map(|each| each.entity_types()).copied();
        let tail = Arc::new(ShardTail::new(table, shard.to_owned(), wanted));
        let lane = |each| Lane::new(&self.shared, each, &tail, name.clone());
        Some(self.processors.iter().map(lane).collect())
    }

    /// Processes all changes and due jobs until none are left, then writes checkpoints. For checks
    /// of an idle store, and for tests.
    pub async fn drain(&self) -> Result<()> {
        let mut lanes: BTreeMap<String, Vec<Lane>> = BTreeMap::new();
        let mut moved = true;
        while moved {
            moved = false;
            for shard in self.assign_shards(false).await? {
                if !lanes.contains_key(&shard) {
                    lanes.insert(shard.clone(), self.lanes(&shard).unwrap_or_default());
                }
                let Some(lanes) = lanes.get_mut(&shard) else { continue };
                let mut ended = true;
                for lane in lanes.iter_mut() {
                    let last = loop {
                        match lane.step(Duration::ZERO).await? {
                            LaneStep::Advanced => moved = true,
                            other => break other,
                        }
                    };
                    moved |= last == LaneStep::Lost;
                    ended &= last == LaneStep::Ended;
                }
                if ended {
                    moved = true;
                    self.shared.shard_assignment.mark_ended(&shard).await?;
                }
            }
            for handler in &self.handlers {
                moved |= JobWorker::new(&self.shared, handler).run_due_jobs().await?
                    == WorkOutcome::Progressed;
            }
        }
        for lane in lanes.values_mut().flatten() {
            lane.flush().await?;
            lane.report_checkpoint().await?;
        }
        Ok(())
    }

    /// Removes checkpoints of shards that left the stream long ago.
    async fn remove_stale_checkpoints(&self, shards: &[ShardInfo]) -> Result<()> {
        let ops = self.shared.context.ops();
        let old = self.shared.context.now().minus_ms(CHECKPOINT_RETENTION_MS);
        for processor in &self.processors {
            for checkpoint in ops.checkpoints(&processor.name()).all().await? {
                let is_listed = shards.iter().any(|s| s.id == checkpoint.stream_shard.as_str());
                if !is_listed && checkpoint.updated_at < old {
                    let unchanged = Checkpoint::SEQUENCE.is(&checkpoint.sequence);
                    let delete = checkpoint.key().delete().when(unchanged);
                    // Another process may be removing it, too.
                    let _ = ops.table().delete(delete).await;
                }
            }
        }
        Ok(())
    }
}
