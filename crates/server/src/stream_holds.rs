//! Keeps the log of an embedded store until every processor has read it.

use std::time::Duration;

use async_trait::async_trait;
use roundtable_engine::{Engine, StreamHold};
use roundtable_model::ProcessorName;
use roundtable_streams::{Runner, ShardAssignment, SingleWorker};
use roundtable_table::{Result, Sequence, ShardInfo};

/// The only reader of the embedded stream. The checkpoints of its processors are holds of the engine.
#[derive(Debug)]
pub(crate) struct StreamKeeper {
    worker: SingleWorker,
    engine: Engine,
}

impl StreamKeeper {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { worker: SingleWorker::new(), engine }
    }
}

/// Lets the engine trim its log once every processor of this runner has reported its checkpoint.
pub(crate) fn expect_processors(engine: &Engine, runner: &Runner) {
    let names = runner.processor_names();
    for warning in unknown_hold_warnings(engine, &names) {
        tracing::warn!("{warning}");
    }
    engine.expect_consumers(names.iter().map(ToString::to_string));
}

/// Names the holds of consumers that this version does not have: nobody will move them on.
pub(crate) fn unknown_hold_warnings(engine: &Engine, processors: &[ProcessorName]) -> Vec<String> {
    let (holds, end) = (engine.holds().into_iter(), engine.metrics().sequence);
    let unknown = holds.filter(|hold| !is_known(processors, &hold.consumer));
    let warning = |StreamHold { consumer, sequence }: StreamHold| {
        let behind = end.saturating_sub(sequence);
        format!(
            "the log is kept for {consumer}, {behind} changes behind, which is no consumer of this version: \
             if no other version will run on this store, `roundtable admin holds drop {consumer}`"
        )
    };
    unknown.map(warning).collect()
}

/// Returns whether a hold belongs to one of these processors, or to the archive.
pub(crate) fn is_known(processors: &[ProcessorName], consumer: &str) -> bool {
    consumer == Engine::ARCHIVE || processors.iter().any(|name| name.as_str() == consumer)
}

#[async_trait]
impl ShardAssignment for StreamKeeper {
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
            Some(sequence) => self.engine.hold(processor.as_str(), Some(sequence)).await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use roundtable_domain::{Context, ContextParts, Entropy, Settings};
    use roundtable_engine::Options;
    use roundtable_model::entities::Post;
    use roundtable_model::{Entity as _, IdGenerator, samples};
    use roundtable_streams::{Batch, Effects, ProcessingError, Processor};
    use roundtable_table::{Clock, ManualClock, Store};

    use super::*;

    /// A processor that remembers the changes it has seen.
    #[derive(Clone, Debug, Default)]
    struct Witness(Arc<Mutex<Vec<Sequence>>>);

    #[async_trait]
    impl Processor for Witness {
        fn name(&self) -> ProcessorName {
            ProcessorName::from_static("witness")
        }

        fn entity_types(&self) -> &'static [&'static str] {
            const TYPES: &[&str] = &[Post::SHAPE.name];
            TYPES
        }

        fn may_overtake(&self) -> bool {
            true
        }

        async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
            self.0.lock().extend(batch.changes.iter().map(|change| change.sequence.clone()));
            Ok(Effects::new())
        }
    }

    async fn context(engine: &Engine, clock: &Arc<ManualClock>) -> Context {
        let clock = Arc::clone(clock) as Arc<dyn Clock>;
        let parts = ContextParts {
            store: Store::new(engine.clone()),
            ids: IdGenerator::new(Arc::clone(&clock), [1; 32]),
            entropy: Entropy::seeded([2; 32]),
            clock,
            settings: Settings::default(),
            fingerprint_key: [3; 32],
        };
        Context::open(parts).await.unwrap()
    }

    /// Waits for an effect of another thread.
    async fn until(holds: impl Fn() -> bool) {
        let wait = async {
            while !holds() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), wait).await.unwrap();
    }

    /// Once it was trimmed up to the tree as soon as it was a day old, whoever had not read it.
    #[tokio::test]
    async fn after_a_clock_jump_the_log_is_kept_until_the_processors_have_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
        let options = Options {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            segment_bytes: 4 << 10,
            upkeep_interval: Duration::from_millis(1),
            awaits_consumers: true,
            ..Options::default()
        };
        let engine = Engine::open(directory.path(), options).unwrap();
        let context = context(&engine, &clock).await;
        let witness = Witness::default();
        let build = || {
            Runner::builder(context.clone(), [0; 32])
                .with(witness.clone())
                .with_shard_assignment(StreamKeeper::new(engine.clone()))
                .without_delays()
                .build()
        };
        expect_processors(&engine, &build());
        for n in 0..50 {
            let item = samples::post().item().with("text", format!("{n} {}", "x".repeat(500)));
            context.core().table().put(roundtable_table::Put::new(item)).await.unwrap();
        }
        engine.checkpoint().unwrap();
        clock.advance_ms(48 * 3_600_000);
        let oldest = || {
            let logs = std::fs::read_dir(directory.path().join("log")).unwrap();
            let names = logs.map(|log| log.unwrap().file_name().into_string().unwrap());
            names.filter(|name| name.strip_suffix(".log").is_some()).min().unwrap()
        };
        let beginning = oldest();
        // Sweeps follow trims, so an item that is swept shows that a trim has passed.
        for _ in 0..2 {
            let swept = engine.metrics().expired;
            let item = roundtable_table::item! {
                "PK" => "BRIEF", "SK" => "BRIEF", "ttl" => clock.now_seconds(),
            };
            context.core().table().put(roundtable_table::Put::new(item)).await.unwrap();
            until(|| engine.metrics().expired > swept).await;
        }
        assert_eq!(oldest(), beginning, "the processor has read nothing");
        let runner = build();
        runner.drain().await.unwrap();
        assert!(runner.metrics().lanes.iter().all(|lane| lane.gaps == 0));
        assert_eq!(witness.0.lock().len(), 50);
        // Its checkpoint is a hold now, and what it has read may go.
        engine.checkpoint().unwrap();
        until(|| oldest() != beginning).await;
    }
}
