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

/// Who works on the stream, as everybody can see it.
#[derive(Clone, Debug)]
pub(crate) struct Census {
    leases: Leases,
    /// What this process is called among them.
    pub(crate) me: Arc<str>,
}

impl Census {
    pub(crate) fn on(ground: &Ground) -> Self {
        let me: Arc<str> = ground.ids().next::<JobId>().to_string().into();
        let keeper = Keeper {
            stream: ground.settings().tables.core.clone(),
            consumer: CONSUMER.to_owned(),
            owner: me.to_string(),
            duration: LEASE,
        };
        let (ops, clock) = (ground.ops().table().clone(), Arc::clone(ground.clock()));
        Self { leases: Leases::new(ops, clock, keeper), me }
    }

    /// Those that were at work lately, by their names.
    pub(crate) async fn workers(&self) -> Result<Vec<String>> {
        self.leases.workers().await
    }
}

impl Shared {
    /// With these others.
    pub(crate) fn among(census: &Census) -> Self {
        Self(Worker::new(census.leases.clone()))
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
