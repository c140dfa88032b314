//! The streams, for those who look after them through the API.

use async_trait::async_trait;
use roundtable_domain::{Code, Failure, Ground};
use roundtable_graphql::{Backstage, BackstageFigures, Refused};
use roundtable_model::{Queue, Shards, Span};
use roundtable_streams::Runner;

/// Where the homes wait whose activities are to be copied.
const FAN_OUT: Queue = Queue::named("fan-out");
/// More than so many waiting ones are not counted.
const DEPTH_MAX: usize = 10_000;

/// What is behind the streams of this process.
#[derive(Debug)]
pub(crate) struct Behind {
    ground: Ground,
    runner: Runner,
}

impl Behind {
    pub(crate) const fn new(ground: Ground, runner: Runner) -> Self {
        Self { ground, runner }
    }

    async fn waiting(&self) -> Result<u64, Failure> {
        let (mut count, mut after) = (0, None);
        loop {
            let jobs = self.ground.ops().jobs(&FAN_OUT, Span::ALL, Shards::ONE);
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
impl Backstage for Behind {
    async fn redrive(&self, max: usize) -> Result<usize, Refused> {
        match self.runner.dead_letters().redrive_all(max).await {
            Ok(redriven) => Ok(redriven.done),
            Err(error) => {
                tracing::error!(%error, "cannot redrive");
                Err(Refused::new(Code::Internal, "dead letters cannot be redriven at the moment"))
            }
        }
    }

    async fn figures(&self) -> Result<BackstageFigures, Refused> {
        let dead = self.runner.dead_letters().count().await.map_err(Failure::from)?;
        Ok(BackstageFigures {
            fanout_queue_depth: self.waiting().await?,
            dlq_depth: dead as u64,
            stream_lag_ms: self.runner.figures().behind_ms(),
        })
    }
}
