//! Decides which shards of the stream this process reads, where several processes share them.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::ProcessorName;
use roundtable_model::table::{Result, Sequence, ShardInfo};

/// Assigns shards to this process. A shard is read once its parent has ended.
///
/// Effects are exactly once even if two processes read the same shard at the same time: the
/// assignment only avoids duplicate work.
#[async_trait]
pub trait ShardAssignment: Send + Sync + fmt::Debug + 'static {
    /// The interval at which [`ShardAssignment::assign`] must be called.
    fn interval(&self) -> Duration;

    /// Runs one round of assignment. Returns those of `shards`, parents before children, that this
    /// process reads now.
    async fn assign(&self, shards: &[ShardInfo]) -> Result<Vec<String>>;

    /// Returns whether a shard is still assigned to this process, without asking the store.
    fn is_assigned(&self, shard: &str) -> bool;

    /// Records that all processors have read a shard to its end, so that its children can be read.
    async fn mark_ended(&self, shard: &str) -> Result<()>;

    async fn release_all(&self) -> Result<()>;

    /// Reports the time of the oldest change that a processor of this process has read and not completed, for
    /// processes that run none. Called before each round of assignment.
    fn report_backlog(&self, since_ms: Option<u64>) {
        let _ = since_ms;
    }

    /// Reports that a processor no longer needs a shard up to `sequence`, for stores that keep the stream
    /// until then. Called once the checkpoint is loaded, and again while it moves.
    async fn report_checkpoint(
        &self,
        processor: &ProcessorName,
        shard: &str,
        sequence: &Sequence,
    ) -> Result<()> {
        let _ = (processor, shard, sequence);
        Ok(())
    }
}

/// The only reader of the embedded store, or of a table that one process works on alone.
#[derive(Debug, Default)]
pub struct SingleWorker {
    ended: Mutex<HashSet<String>>,
}

impl SingleWorker {
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl ShardAssignment for SingleWorker {
    fn interval(&self) -> Duration {
        Duration::from_secs(10)
    }

    async fn assign(&self, shards: &[ShardInfo]) -> Result<Vec<String>> {
        let listed: HashSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
        let mut ended = self.ended.lock();
        ended.retain(|shard| listed.contains(shard.as_str()));
        let open = |shard: &&ShardInfo| {
            let parent = shard.parent.as_deref().filter(|parent| listed.contains(parent));
            !ended.contains(&shard.id) && parent.is_none_or(|parent| ended.contains(parent))
        };
        Ok(shards.iter().filter(open).map(|shard| shard.id.clone()).collect())
    }

    fn is_assigned(&self, _: &str) -> bool {
        true
    }

    async fn mark_ended(&self, shard: &str) -> Result<()> {
        self.ended.lock().insert(shard.to_owned());
        Ok(())
    }

    async fn release_all(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: &str, parent: Option<&str>) -> ShardInfo {
        ShardInfo { id: id.into(), parent: parent.map(str::to_owned) }
    }

    #[test]
    fn parents_are_read_before_their_children() {
        let worker = SingleWorker::new();
        let listed = [
            shard("old", Some("forgotten")),
            shard("left", Some("old")),
            shard("right", Some("old")),
            shard("leaf", Some("left")),
        ];
        let assign = || futures::executor::block_on(worker.assign(&listed)).unwrap();
        assert_eq!(assign(), ["old"]);
        futures::executor::block_on(worker.mark_ended("old")).unwrap();
        assert_eq!(assign(), ["left", "right"]);
        futures::executor::block_on(worker.mark_ended("left")).unwrap();
        assert_eq!(assign(), ["right", "leaf"]);
    }
}
