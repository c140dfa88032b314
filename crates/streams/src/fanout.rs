//! Copies the activities of promoted users and groups into their readers' feeds (R35), and trims
//! feeds that have become too long.
//!
//! An activity that is to be copied enqueues a job for its source: the user who did it, or the
//! group it was done in. A job copies all pending activities of its source, oldest first, to every
//! reader, and then raises the source's watermark: all activities up to it are complete. Readers
//! rely on nothing else, so a job may fail, run late or again, or run on two workers at once. Its
//! writes are the same every time, and the watermark never passes an incomplete activity.

mod copies;
mod metrics;
mod pending;
mod readers;
mod trim;
mod watermark;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::entities::{Activity, Job};
use roundtable_model::{ActorId, Entity, GroupId, JobId, ProcessorName, Queue, Time, UserId};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use self::copies::PAGES_AT_ONCE;
use self::metrics::FanOutMetrics;
use self::pending::FanOutProgress;
use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("fan-out");
/// Sources that are copied at the same time, so that one with very many readers delays few others.
const SOURCES_AT_ONCE: usize = 4;
/// Approximate copies of one page of a job. As many may be written again after a crash.
const PAGE_COPIES: usize = 50_000;
/// The minimum cost of one pass, in copies: a source may have no readers.
const PASS_COST_MIN: usize = 100;
/// Activities of one source within this window enqueue one job, until a worker takes it.
const JOB_WINDOW_MS: u64 = 1_000;

/// The processor and job handler that copy activities into feeds.
#[derive(Clone, Debug)]
pub struct FanOut {
    context: Context,
    page_copies: usize,
    metrics: Arc<FanOutMetrics>,
    /// One permit for each page of readers that is being written.
    page_permits: Arc<Semaphore>,
}

/// The user or group whose activities are copied to their readers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum FanOutSource {
    #[serde(rename = "person")]
    User(UserId),
    Group(GroupId),
}

impl FanOutSource {
    fn for_activity(activity: &Activity) -> Self {
        match &activity.group_id {
            Some(group) => Self::Group(group.clone()),
            None => Self::User(activity.actor_id.clone()),
        }
    }

    fn actor(&self) -> ActorId {
        match self {
            Self::User(id) => id.into(),
            Self::Group(id) => id.into(),
        }
    }
}

impl FanOut {
    pub const NAME: ProcessorName = ProcessorName::from_static("fan-out");

    pub fn new(context: Context) -> Self {
        let page_permits = Arc::new(Semaphore::new(PAGES_AT_ONCE));
        Self { context, page_copies: PAGE_COPIES, metrics: Arc::default(), page_permits }
    }

    /// Sets the approximate copies per page, for tests.
    #[must_use]
    pub fn with_page_size(mut self, copies: usize) -> Self {
        self.page_copies = copies;
        self
    }
}

#[async_trait]
impl Processor for FanOut {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Activity::SHAPE.name] }
    }

    /// A job copies everything that is pending.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut jobs: BTreeMap<(JobId, Time), FanOutSource> = BTreeMap::new();
        for change in batch.changes {
            let Images { old: None, new: Some(activity) } = Images::<Activity>::of(change)? else {
                continue;
            };
            if activity.fanout {
                let source = FanOutSource::for_activity(&activity);
                let at_ms = job_due_at(change, &self.context).ms();
                let due = Time::from_ms(at_ms - at_ms % JOB_WINDOW_MS);
                jobs.insert((source.actor().recast(), due), source);
            }
        }
        for ((id, due), source) in jobs {
            effects.write(self.context.ops().table(), new_job(QUEUE, id, due, &source)?.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for FanOut {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        SOURCES_AT_ONCE
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.metrics.counts()
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let source: FanOutSource = job.payload.decode()?;
        self.metrics.source_started(&source);
        let mut progress = job.cursor.as_deref().map(FanOutProgress::decode).transpose()?.flatten();
        let mut budget = self.page_copies;
        // Later activities have a job of their own.
        while let Some(pass) = self.next_pass(&source, job.created_at, progress.take()).await? {
            if let Some(next) = self.copy_to_readers(&source, &pass, &mut budget).await? {
                return Ok(PageOutcome::Continue(pass.progress(next).encode()?));
            }
            self.raise_watermark(&source, &pass).await?;
            if pass.is_last {
                break;
            }
            budget = budget.saturating_sub(PASS_COST_MIN);
            if budget == 0 {
                return Ok(PageOutcome::Continue(FanOutProgress::START.to_owned()));
            }
        }
        self.metrics.source_finished(&source);
        Ok(PageOutcome::Done)
    }
}
