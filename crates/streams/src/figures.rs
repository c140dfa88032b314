//! How far behind the processors are, and what they have done since the start.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use roundtable_model::table::{Clock, Sequence};
use roundtable_model::{Processor as Name, Queue};

/// What one processor has done with one shard of the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneFigures {
    /// The processor.
    pub processor: String,
    /// The shard of the stream.
    pub shard: String,
    /// The last change it has dealt with, in 40 digits.
    pub sequence: Option<String>,
    /// Changes that have been read and not yet dealt with.
    pub behind: u64,
    /// How long the oldest of these has been waiting, in milliseconds; 0 when there are none.
    pub behind_ms: u64,
    /// Changes that were processed.
    pub processed: u64,
    /// Tries that failed and were repeated.
    pub retried: u64,
    /// Changes that were parked.
    pub parked: u64,
    /// Times that the stream no longer held what should have come next: derived data may be wrong
    /// until it is repaired.
    pub gaps: u64,
}

/// What was done with the jobs of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFigures {
    /// The queue.
    pub queue: String,
    /// Pages that were done.
    pub pages: u64,
    /// Jobs that were finished.
    pub finished: u64,
    /// Tries that failed and were repeated.
    pub retried: u64,
    /// Jobs that were parked.
    pub parked: u64,
    /// What this kind of work counts beside, each under its name.
    pub counts: Vec<(&'static str, u64)>,
}

/// All figures at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Of every processor and shard.
    pub lanes: Vec<LaneFigures>,
    /// Of every queue.
    pub queues: Vec<QueueFigures>,
}

impl Snapshot {
    /// How far the slowest processor is behind, in milliseconds.
    pub fn behind_ms(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.behind_ms).max().unwrap_or(0)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Figures {
    lanes: Mutex<BTreeMap<(String, String), Lane>>,
    queues: Mutex<BTreeMap<String, QueueFigures>>,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    told: LaneFigures,
    waiting_since_ms: Option<u64>,
}

/// Something that happened to changes or jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Processed(usize),
    Retried,
    Parked,
    Gap,
}

impl Figures {
    pub(crate) fn lane(&self, processor: &Name, shard: &str, event: Event) {
        self.change(processor, shard, |lane| match event {
            Event::Processed(changes) => lane.told.processed += changes as u64,
            Event::Retried => lane.told.retried += 1,
            Event::Parked => lane.told.parked += 1,
            Event::Gap => lane.told.gaps += 1,
        });
    }

    /// Where a processor is, how many changes it knows to come, and when the first of them was made.
    pub(crate) fn at(
        &self,
        processor: &Name,
        shard: &str,
        sequence: Option<&Sequence>,
        behind: usize,
        first_ms: Option<u64>,
    ) {
        self.change(processor, shard, |lane| {
            lane.told.sequence = sequence.map(|sequence| sequence.as_str().to_owned());
            lane.told.behind = behind as u64;
            lane.waiting_since_ms = first_ms;
        });
    }

    /// A shard is no longer read here.
    pub(crate) fn forget(&self, processor: &Name, shard: &str) {
        let key = (processor.as_str().to_owned(), shard.to_owned());
        if let Some(lane) = self.lanes.lock().get_mut(&key) {
            (lane.told.behind, lane.waiting_since_ms) = (0, None);
        }
    }

    pub(crate) fn queue(&self, queue: &Queue, change: impl FnOnce(&mut QueueFigures)) {
        let mut queues = self.queues.lock();
        let figures = queues.entry(queue.as_str().to_owned()).or_default();
        queue.as_str().clone_into(&mut figures.queue);
        change(figures);
    }

    pub(crate) fn snapshot(&self, clock: &dyn Clock) -> Snapshot {
        let now_ms = clock.now_ms();
        let told = |lane: &Lane| LaneFigures {
            behind_ms: lane.waiting_since_ms.map_or(0, |since| now_ms.saturating_sub(since)),
            ..lane.told.clone()
        };
        Snapshot {
            lanes: self.lanes.lock().values().map(told).collect(),
            queues: self.queues.lock().values().cloned().collect(),
        }
    }

    fn change(&self, processor: &Name, shard: &str, change: impl FnOnce(&mut Lane)) {
        let key = (processor.as_str().to_owned(), shard.to_owned());
        let mut lanes = self.lanes.lock();
        let lane = lanes.entry(key).or_insert_with_key(|(processor, shard)| {
            let (processor, shard) = (processor.clone(), shard.clone());
            let told = LaneFigures { processor, shard, ..LaneFigures::default() };
            Lane { told, waiting_since_ms: None }
        });
        change(lane);
    }
}
