//! Stream administration for the API: lag, queue depth and dead letters.

use async_trait::async_trait;
use roundtable_domain::{Code, Context, ServiceError};
use roundtable_interface::{ApiError, StreamBacklog, StreamControl};
use roundtable_model::{Queue, Shards, Span};
use roundtable_streams::Runner;

const FAN_OUT_QUEUE: Queue = Queue::from_static("fan-out");
/// Counting stops at this many waiting jobs.
const DEPTH_MAX: usize = 10_000;

#[derive(Debug)]
pub(crate) struct StreamStatus {
    context: Context,
    runner: Runner,
}

impl StreamStatus {
    pub(crate) const fn new(context: Context, runner: Runner) -> Self {
        Self { context, runner }
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
            stream_lag_ms: self.runner.metrics().behind_ms(),
        })
    }
}
