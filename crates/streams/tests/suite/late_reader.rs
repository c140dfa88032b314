//! A reader that pauses between reading and writing, and resumes late.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::ProcessorName as Name;
use roundtable_streams::{Batch, Effects, ProcessingError, Processor, Runner};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::test_store::retries;

/// A runner whose processor has read a batch and not yet returned its effects.
pub(crate) struct LateReader {
    resume: Arc<Notify>,
    running: JoinHandle<Result<(), ProcessingError>>,
}

/// A processor that pauses before it returns its effects.
#[derive(Debug)]
struct PausedProcessor<P> {
    processor: P,
    reached: Arc<Notify>,
    resume: Arc<Notify>,
}

#[async_trait]
impl<P: Processor> Processor for PausedProcessor<P> {
    fn name(&self) -> Name {
        self.processor.name()
    }

    fn entity_types(&self) -> &'static [&'static str] {
        self.processor.entity_types()
    }

    fn may_overtake(&self) -> bool {
        self.processor.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        let effects = self.processor.effects(batch).await;
        self.reached.notify_one();
        self.resume.notified().await;
        effects
    }
}

impl LateReader {
    /// Starts the runner and waits until the processor is about to return.
    pub(crate) async fn start(context: &Context, processor: impl Processor) -> Self {
        let (reached, resume) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let paused = PausedProcessor {
            processor,
            reached: Arc::clone(&reached),
            resume: Arc::clone(&resume),
        };
        let runner =
            Runner::builder(context.clone(), [0; 32]).with(paused).with_retries(retries()).build();
        let running = tokio::spawn(async move { runner.drain().await });
        reached.notified().await;
        Self { resume, running }
    }

    /// Lets the processor return, for every batch.
    pub(crate) async fn resume(self) {
        while !self.running.is_finished() {
            self.resume.notify_one();
            tokio::task::yield_now().await;
        }
        self.running.await.unwrap().unwrap();
    }
}
