//! Metrics of processors and queues: backlog, and counts since the start.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use roundtable_model::table::{Clock, Sequence};
use roundtable_model::{ProcessorName, Queue};

/// Metrics of one processor on one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneMetrics {
    pub processor: String,
    pub shard: String,
    /// The last change it has completed, in 40 digits.
    pub sequence: Option<String>,
    /// Changes that have been read and not yet completed.
    pub behind: u64,
    /// The age of the oldest of these in milliseconds, or 0.
    pub behind_ms: u64,
    pub processed: u64,
    /// Failed attempts that were repeated.
    pub retried: u64,
    pub parked: u64,
    /// Times that changes were trimmed before they were processed: derived data may be wrong until
    /// it is repaired.
    pub gaps: u64,
}

/// Metrics of the jobs of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueMetrics {
    pub queue: String,
    pub pages: u64,
    pub finished: u64,
    /// Failed attempts that were repeated.
    pub retried: u64,
    pub parked: u64,
    /// Further counts of the job handler, each with its name.
    pub counts: Vec<(&'static str, u64)>,
}

/// A snapshot of all metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamMetrics {
    pub lanes: Vec<LaneMetrics>,
    pub queues: Vec<QueueMetrics>,
}

impl StreamMetrics {
    /// Returns the lag of the slowest processor in milliseconds.
    pub fn behind_ms(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.behind_ms).max().unwrap_or(0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct MetricsRegistry {
    lanes: Mutex<BTreeMap<(String, String), LaneState>>,
    queues: Mutex<BTreeMap<String, QueueMetrics>>,
}

#[derive(Clone, Debug, Default)]
struct LaneState {
    metrics: LaneMetrics,
    waiting_since_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum LaneEvent {
    Processed(usize),
    Retried,
    Parked,
    Gap,
}

impl MetricsRegistry {
    pub(crate) fn record(&self, processor: &ProcessorName, shard: &str, event: LaneEvent) {
        self.update_lane(processor, shard, |lane| match event {
            LaneEvent::Processed(changes) => lane.metrics.processed += changes as u64,
            LaneEvent::Retried => lane.metrics.retried += 1,
            LaneEvent::Parked => lane.metrics.parked += 1,
            LaneEvent::Gap => lane.metrics.gaps += 1,
        });
    }

    /// Sets the position of a processor, its backlog, and the time of the first change in it.
    pub(crate) fn set_position(
        &self,
        processor: &ProcessorName,
        shard: &str,
        sequence: Option<&Sequence>,
        behind: usize,
        first_ms: Option<u64>,
    ) {
        self.update_lane(processor, shard, |lane| {
            lane.metrics.sequence = sequence.map(|sequence| sequence.as_str().to_owned());
            lane.metrics.behind = behind as u64;
            lane.waiting_since_ms = first_ms;
        });
    }

    /// Returns the time of the oldest change that a processor of this process has read and not completed.
    pub(crate) fn behind_since_ms(&self) -> Option<u64> {
        self.lanes.lock().values().filter_map(|lane| lane.waiting_since_ms).min()
    }

    /// Clears the backlog of a shard that this process no longer reads.
    pub(crate) fn clear_backlog(&self, processor: &ProcessorName, shard: &str) {
        let key = (processor.as_str().to_owned(), shard.to_owned());
        if let Some(lane) = self.lanes.lock().get_mut(&key) {
            (lane.metrics.behind, lane.waiting_since_ms) = (0, None);
        }
    }

    pub(crate) fn update_queue(&self, queue: &Queue, change: impl FnOnce(&mut QueueMetrics)) {
        let mut queues = self.queues.lock();
        let metrics = queues.entry(queue.as_str().to_owned()).or_default();
        queue.as_str().clone_into(&mut metrics.queue);
        change(metrics);
    }

    pub(crate) fn snapshot(&self, clock: &dyn Clock) -> StreamMetrics {
        let now_ms = clock.now_ms();
        let with_lag = |lane: &LaneState| LaneMetrics {
            behind_ms: lane.waiting_since_ms.map_or(0, |since| now_ms.saturating_sub(since)),
            ..lane.metrics.clone()
        };
        StreamMetrics {
            lanes: self.lanes.lock().values().map(with_lag).collect(),
            queues: self.queues.lock().values().cloned().collect(),
        }
    }

    fn update_lane(
        &self,
        processor: &ProcessorName,
        shard: &str,
        change: impl FnOnce(&mut LaneState),
    ) {
        let key = (processor.as_str().to_owned(), shard.to_owned());
        let mut lanes = self.lanes.lock();
        let lane = lanes.entry(key).or_insert_with_key(|(processor, shard)| {
            let (processor, shard) = (processor.clone(), shard.clone());
            let metrics = LaneMetrics { processor, shard, ..LaneMetrics::default() };
            LaneState { metrics, waiting_since_ms: None }
        });
        change(lane);
    }
}
