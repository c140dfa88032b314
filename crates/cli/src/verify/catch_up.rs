//! Lets the stream processors catch up before a check, so that derived items are current.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{Context, ContextParts, Entropy, Settings};
use roundtable_model::IdGenerator;
use roundtable_streams::{RunnerBuilder, StreamMetrics};
use roundtable_table::{Clock, Store, SystemClock};
use roundtable_verify::ProgressReporter;
use tokio::time::timeout;

use crate::error::CommandError;
use crate::progress::ProgressDisplay;

/// Interval of progress checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Checks without progress before giving up: a store that takes no writes would block for ever.
const IDLE_CHECKS_MAX: u32 = 60;
/// No other worker reads the stream of a quiet store, so retries need no jitter.
const SEED: [u8; 32] = [0; 32];

pub(super) async fn context(store: Store, settings: Settings) -> Result<Context, CommandError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let parts = ContextParts {
        store,
        ids: IdGenerator::from_os(Arc::clone(&clock)).map_err(CommandError::Start)?,
        entropy: Entropy::from_os().map_err(CommandError::Start)?,
        clock,
        settings,
        // No requests are made.
        fingerprint_key: [0; 32],
    };
    Ok(Context::open(parts).await?)
}

/// Lets every processor read the stream to its end and finish due work; returns the number of changes
/// applied.
pub(super) async fn catch_up(
    context: Context,
    progress: Arc<ProgressDisplay>,
) -> Result<u64, String> {
    let runner = RunnerBuilder::with_all_processors(&context, SEED).build();
    let mut drained = pin!(runner.drain());
    let mut detector = StallDetector::default();
    loop {
        if let Ok(done) = timeout(CHECK_INTERVAL, drained.as_mut()).await {
            return done.map(|()| applied(&runner.metrics())).map_err(|error| error.to_string());
        }
        let now = runner.metrics();
        progress.advance(applied(&now) - applied(&detector.last));
        if detector.is_stalled(now) {
            let seconds = CHECK_INTERVAL.as_secs() * u64::from(IDLE_CHECKS_MAX);
            return Err(format!("no progress for {seconds} seconds; is the store writable?"));
        }
    }
}

fn applied(metrics: &StreamMetrics) -> u64 {
    metrics.lanes.iter().map(|lane| lane.processed).sum()
}

/// Detects that nothing progresses; retries do not count as progress.
#[derive(Debug, Default)]
struct StallDetector {
    last: StreamMetrics,
    idle_checks: u32,
}

impl StallDetector {
    fn is_stalled(&mut self, now: StreamMetrics) -> bool {
        let lanes = |metrics: &StreamMetrics| -> Vec<_> {
            let lanes = metrics.lanes.iter();
            lanes.map(|lane| (lane.sequence.clone(), lane.processed, lane.parked)).collect()
        };
        let queues = |metrics: &StreamMetrics| -> Vec<_> {
            let queues = metrics.queues.iter();
            queues.map(|queue| (queue.pages, queue.finished, queue.parked)).collect()
        };
        let same = lanes(&now) == lanes(&self.last) && queues(&now) == queues(&self.last);
        self.idle_checks = if same { self.idle_checks + 1 } else { 0 };
        self.last = now;
        self.idle_checks >= IDLE_CHECKS_MAX
    }
}

#[cfg(test)]
mod tests {
    use roundtable_streams::{LaneMetrics, QueueMetrics};

    use super::*;

    fn metrics(retried: u64, processed: u64, pages: u64) -> StreamMetrics {
        let lane = LaneMetrics { retried, processed, ..LaneMetrics::default() };
        let queue = QueueMetrics { pages, ..QueueMetrics::default() };
        StreamMetrics { lanes: vec![lane], queues: vec![queue] }
    }

    #[test]
    fn retries_alone_are_no_progress() {
        let mut detector = StallDetector::default();
        let checks = (1..).take_while(|check| !detector.is_stalled(metrics(*check, 7, 1)));
        assert_eq!(checks.count(), IDLE_CHECKS_MAX as usize);
    }

    #[test]
    fn progress_may_take_any_time() {
        let mut detector = StallDetector::default();
        for check in 0..u64::from(IDLE_CHECKS_MAX) * 4 {
            assert!(!detector.is_stalled(metrics(0, check / 50, check / 20)));
        }
    }
}
