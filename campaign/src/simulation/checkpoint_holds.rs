//! Keeps the log of a simulated machine until every processor has read it, as a server does.

use std::time::Duration;

use async_trait::async_trait;
use roundtable_model::ProcessorName;
use roundtable_model::table::{Result, Sequence, ShardInfo};
use roundtable_streams::{ShardAssignment, SingleWorker};

use super::machine::Machine;

/// The only reader of a machine's stream. The checkpoints of its processors are holds of the engine.
#[derive(Debug)]
pub(super) struct CheckpointHolds {
    worker: SingleWorker,
    machine: Machine,
}

impl CheckpointHolds {
    pub(super) fn new(machine: Machine) -> Self {
        Self { worker: SingleWorker::new(), machine }
    }
}

#[async_trait]
impl ShardAssignment for CheckpointHolds {
    fn interval(&self) -> Duration {
        self.worker.interval()
    }

    async fn assign(&self, shards: &[ShardInfo]) -> Result<Vec<String>> {
        self.worker.assign(shards).await
    }

    fn is_assigned(&self, shard: &str) -> bool {
        self.worker.is_assigned(shard)
    }

    async fn mark_ended(&self, shard: &str) -> Result<()> {
        self.worker.mark_ended(shard).await
    }

    async fn release_all(&self) -> Result<()> {
        self.worker.release_all().await
    }

    async fn report_checkpoint(
        &self,
        processor: &ProcessorName,
        _: &str,
        sequence: &Sequence,
    ) -> Result<()> {
        match sequence.to_u64() {
            Some(sequence) => self.machine.hold(processor.as_str(), sequence).await,
            None => Ok(()),
        }
    }
}
