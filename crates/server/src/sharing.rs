//! Sharing the stream with the other workers, by leases in the table for bookkeeping.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_dynamo::{Keeper, Leases, Worker};
use roundtable_model::JobId;
use roundtable_streams::Sharing;
use roundtable_table::{Result, Shard};

/// What all workers call themselves together.
const CONSUMER: &str = "workers";
/// How long a worker that says nothing keeps its shards.
const LEASE: Duration = Duration::from_secs(15);

/// One of several workers.
#[derive(Debug)]
pub(crate) struct Shared(Worker);

impl Shared {
    pub(crate) fn on(ground: &Ground) -> Self {
        let owner: JobId = ground.ids().next();
        let keeper = Keeper {
            stream: ground.settings().tables.core.clone(),
            consumer: CONSUMER.to_owned(),
            owner: owner.to_string(),
            duration: LEASE,
        };
        let (ops, clock) = (ground.ops().table().clone(), Arc::clone(ground.clock()));
        Self(Worker::new(Leases::new(ops, clock, keeper)))
    }
}

#[async_trait]
impl Sharing for Shared {
    fn interval(&self) -> Duration {
        self.0.interval()
    }

    async fn share(&self, shards: &[Shard]) -> Result<Vec<String>> {
        self.0.share(shards).await
    }

    fn holds(&self, shard: &str) -> bool {
        self.0.holds(shard)
    }

    async fn end(&self, shard: &str) -> Result<()> {
        self.0.end(shard).await
    }

    async fn leave(&self) -> Result<()> {
        self.0.leave().await
    }
}
