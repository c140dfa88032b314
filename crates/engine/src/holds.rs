//! The consumers of the stream and the position of each, up to which the log is kept.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

use crate::catalog;
use crate::record::EngineRow;

/// The name under which the archive of log files is listed among the consumers.
pub(crate) const ARCHIVE: &str = "archive";

/// The position of a consumer of the stream, up to which it needs the log no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamHold {
    pub consumer: String,
    pub sequence: u64,
}

#[derive(Debug)]
pub(crate) struct StreamHolds(Mutex<HoldState>);

#[derive(Debug, Default)]
struct HoldState {
    /// The last sequence that each consumer has processed.
    positions: BTreeMap<String, u64>,
    /// Expected consumers that have no hold yet; `None` until it is known who is expected.
    awaited: Option<BTreeSet<String>>,
}

impl StreamHolds {
    /// No holds. With `awaits_consumers`, the log is kept until the expected ones are named.
    pub(crate) fn new(awaits_consumers: bool) -> Self {
        let awaited = (!awaits_consumers).then(BTreeSet::new);
        Self(Mutex::new(HoldState { positions: BTreeMap::new(), awaited }))
    }

    /// Applies the rows that set or release holds.
    pub(crate) fn apply(&self, rows: &[EngineRow]) {
        for (consumer, sequence) in rows.iter().filter_map(catalog::hold_of) {
            let mut state = self.0.lock();
            // A released hold is not awaited either: an operator has given the consumer up.
            if let Some(awaited) = &mut state.awaited {
                awaited.remove(&consumer);
            }
            match sequence {
                Some(sequence) => state.positions.insert(consumer, sequence),
                None => state.positions.remove(&consumer),
            };
        }
    }

    /// Keeps the whole log until each of these consumers has a hold.
    pub(crate) fn expect(&self, consumers: impl IntoIterator<Item = String>) {
        let mut state = self.0.lock();
        let is_new = |consumer: &String| !state.positions.contains_key(consumer);
        let awaited = consumers.into_iter().filter(is_new).collect();
        state.awaited = Some(awaited);
    }

    pub(crate) fn list(&self) -> Vec<StreamHold> {
        let state = self.0.lock();
        let hold = |(consumer, sequence): (&String, &u64)| StreamHold {
            consumer: consumer.clone(),
            sequence: *sequence,
        };
        state.positions.iter().map(hold).collect()
    }

    /// Returns the sequence up to which every consumer has read the log.
    pub(crate) fn reached(&self) -> u64 {
        let state = self.0.lock();
        if state.awaited.as_ref().is_none_or(|awaited| !awaited.is_empty()) {
            return 0;
        }
        state.positions.values().min().copied().unwrap_or(u64::MAX)
    }
}
