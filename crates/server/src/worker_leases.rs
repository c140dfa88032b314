//! Sharding of the stream among workers, by leases in the operations table.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_dynamo::{LeaseConfig, Leases, ShardWorker};
use roundtable_model::JobId;
use roundtable_streams::ShardAssignment;
use roundtable_table::{Result, ShardInfo};

/// The consumer name that all workers share.
const CONSUMER_NAME: &str = "workers";
/// Time after which the shards of a silent worker are free.
const LEASE: Duration = Duration::from_secs(15);

/// This worker's share of the stream.
#[derive(Debug)]
pub(crate) struct LeasedShards(ShardWorker);

/// The workers of the installation, as their leases show them.
#[derive(Clone, Debug)]
pub(crate) struct WorkerRegistry {
    leases: Leases,
    pub(crate) own_name: Arc<str>,
}

impl WorkerRegistry {
    pub(crate) fn new(context: &Context) -> Self {
        let own_name: Arc<str> = context.ids().next::<JobId>().to_string().into();
        let config = LeaseConfig {
            stream: context.settings().tables.core.clone(),
            consumer: CONSUMER_NAME.to_owned(),
            owner: own_name.to_string(),
            duration: LEASE,
        };
        let (ops, clock) = (context.ops().table().clone(), Arc::clone(context.clock()));
        Self { leases: Leases::new(ops, clock, config), own_name }
    }

    /// The names of recently active workers.
    pub(crate) async fn workers(&self) -> Result<Vec<String>> {
        self.leases.workers().await
    }
}

impl LeasedShards {
    pub(crate) fn new(registry: &WorkerRegistry) -> Self {
        Self(ShardWorker::new(registry.leases.clone()))
    }
}

#[async_trait]
impl ShardAssignment for LeasedShards {
    fn interval(&self) -> Duration {
        self.0.interval()
    }

    async fn assign(&self, shards: &[ShardInfo]) -> Result<Vec<String>> {
        self.0.balance(shards).await
    }

    fn is_assigned(&self, shard: &str) -> bool {
        self.0.holds(shard)
    }

    async fn mark_ended(&self, shard: &str) -> Result<()> {
        self.0.end(shard).await
    }

    async fn release_all(&self) -> Result<()> {
        self.0.leave().await
    }
}
