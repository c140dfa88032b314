//! Stream administration for the API: lag, queue depth and dead letters.

use async_trait::async_trait;
use roundtable_domain::{Code, Context, Page, PageInput, ServiceError};
use roundtable_interface::{ApiError, StreamBacklog, StreamControl};
use roundtable_model::entities::DeadLetter;
use roundtable_model::{Queue, Shards, Span};
use roundtable_streams::Runner;

use crate::worker_leases::WorkerRegistry;

const FAN_OUT_QUEUE: Queue = Queue::from_static("fan-out");
/// Counting stops at this many waiting jobs.
const DEPTH_MAX: usize = 10_000;

#[derive(Debug)]
pub(crate) struct StreamStatus {
    context: Context,
    runner: Runner,
    /// The workers, where there may be others.
    workers: Option<WorkerRegistry>,
}

impl StreamStatus {
    pub(crate) const fn new(
        context: Context,
        runner: Runner,
        workers: Option<WorkerRegistry>,
    ) -> Self {
        Self { context, runner, workers }
    }

    async fn fan_out_depth(&self) -> Result<u64, ServiceError> {
        let (mut count, mut after) = (0, None);
        loop {
            let jobs = self.context.ops().jobs(&FAN_OUT_QUEUE, Span::ALL, Shards::ONE);
            let page = jobs.limit(100).after(after).page().await?;
            count += page.items.len();
            after = page.next;
            if after.is_none() || count >= DEPTH_MAX {
                return Ok(count as u64);
            }
        }
    }

    /// Returns the lag of the slowest processor: of this process, as other workers have announced it, or, where
    /// no worker reads a shard, by the checkpoints.
    async fn lag_ms(&self) -> Result<u64, ApiError> {
        let own = self.runner.metrics().behind_ms();
        let Some(workers) = &self.workers else { return Ok(own) };
        let active = workers.active_workers().await.map_err(ServiceError::from)?;
        let now_ms = self.context.now().ms();
        let announced = active.workers.iter().filter_map(|worker| worker.behind_since_ms);
        let announced = announced.map(|since| now_ms.saturating_sub(since)).max().unwrap_or(0);
        if active.hold_all_shards && !active.workers.is_empty() {
            return Ok(own.max(announced));
        }
        match self.runner.unread_ms().await {
            Ok(unread) => Ok(own.max(announced).max(unread)),
            Err(error) => {
                tracing::error!(%error, "the lag of the stream cannot be read");
                let problem = "the lag of the stream cannot be read at the moment; try again later";
                Err(ApiError::new(Code::Internal, problem))
            }
        }
    }
}

#[async_trait]
impl StreamControl for StreamStatus {
    async fn redrive(&self, max: usize) -> Result<usize, ApiError> {
        match self.runner.dead_letters().redrive_all(max).await {
            Ok(redriven) => Ok(redriven.done),
            Err(error) => {
                tracing::error!(%error, "retrying dead letters failed");
                Err(ApiError::new(
                    Code::Internal,
                    "dead letters cannot be retried at the moment; try again later",
                ))
            }
        }
    }

    async fn backlog(&self) -> Result<StreamBacklog, ApiError> {
        let dead = self.runner.dead_letters().count().await.map_err(ServiceError::from)?;
        Ok(StreamBacklog {
            fanout_queue_depth: self.fan_out_depth().await?,
            dlq_depth: dead as u64,
            stream_lag_ms: self.lag_ms().await?,
        })
    }

    async fn dead_letters(&self, page: &PageInput) -> Result<Page<DeadLetter>, ApiError> {
        let dead_letters = self.runner.dead_letters();
        let found = dead_letters.page(page.size()?, page.after.clone()).await;
        let (items, next) = found.map_err(ServiceError::from)?;
        Ok(Page { items, next })
    }
}
