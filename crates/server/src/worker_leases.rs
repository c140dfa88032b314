//! Sharding of the stream among workers, by leases in the operations table.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::Context;
use roundtable_model::JobId;
use roundtable_streams::{ActiveWorkers, LeaseConfig, Leases, ShardWorker};
use roundtable_table::Result;

/// The consumer name that all workers share.
const CONSUMER_NAME: &str = "workers";
/// Time after which the shards of a silent worker are free.
const LEASE: Duration = Duration::from_secs(15);

/// The workers of the installation, as their leases show them.
#[derive(Clone, Debug)]
pub(crate) struct WorkerRegistry {
    leases: Leases,
    pub(crate) own_name: Arc<str>,
}

impl WorkerRegistry {
    /// `address` is where other processes reach this one, if it reads the stream.
    pub(crate) fn new(context: &Context, address: Option<String>) -> Self {
        let own_name: Arc<str> = context.ids().next::<JobId>().to_string().into();
        let config = LeaseConfig {
            stream: context.settings().tables.core.clone(),
            consumer: CONSUMER_NAME.to_owned(),
            owner: own_name.to_string(),
            duration: LEASE,
        };
        let (ops, clock) = (context.ops().table().clone(), Arc::clone(context.clock()));
        Self { leases: Leases::new(ops, clock, config).at(address), own_name }
    }

    /// The recently active workers.
    pub(crate) async fn active_workers(&self) -> Result<ActiveWorkers> {
        self.leases.active_workers().await
    }

    /// This worker's share of the stream.
    pub(crate) fn shard_worker(&self) -> ShardWorker {
        ShardWorker::new(self.leases.clone())
    }
}
