//! A reader that stops between what it read and what it writes, and comes back late.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_model::Processor as Name;
use roundtable_streams::{Batch, Effects, Failure, Processor, Runner};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::stage::retries;

/// A runner whose processor has read a batch, and not yet written what follows from it.
pub(crate) struct Late {
    go_on: Arc<Notify>,
    running: JoinHandle<Result<(), Failure>>,
}

/// A processor that takes long over every batch.
#[derive(Debug)]
struct Slow<P> {
    processor: P,
    reached: Arc<Notify>,
    go_on: Arc<Notify>,
}

#[async_trait]
impl<P: Processor> Processor for Slow<P> {
    fn name(&self) -> Name {
        self.processor.name()
    }

    fn wants(&self) -> &'static [&'static str] {
        self.processor.wants()
    }

    fn may_overtake(&self) -> bool {
        self.processor.may_overtake()
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let effects = self.processor.effects(batch).await;
        self.reached.notify_one();
        self.go_on.notified().await;
        effects
    }
}

impl Late {
    /// Waits until the processor is about to answer.
    pub(crate) async fn start(ground: &Ground, processor: impl Processor) -> Self {
        let (reached, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = Slow { processor, reached: Arc::clone(&reached), go_on: Arc::clone(&go_on) };
        let runner = Runner::on(ground.clone(), [0; 32]).with(slow).retrying(retries()).build();
        let running = tokio::spawn(async move { runner.drain().await });
        reached.notified().await;
        Self { go_on, running }
    }

    /// Lets it answer, as often as it is asked.
    pub(crate) async fn go_on(self) {
        while !self.running.is_finished() {
            self.go_on.notify_one();
            tokio::task::yield_now().await;
        }
        self.running.await.unwrap().unwrap();
    }
}
