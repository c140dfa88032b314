//! The newest records, as the writer made them: whoever reads the stream at its end needs neither the
//! log's file nor its encoding.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::record::{ItemChange, Record};

/// About how many bytes are kept. Runs hold most of them anyway.
const BYTES_MAX: usize = 8 << 20;

/// The newest records, without gaps.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Oldest first.
    records: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl Recent {
    /// Keeps records that follow all those before them, and forgets as many as there are too many.
    pub(crate) fn add(&self, records: Vec<Record>) {
        let mut forgotten = Vec::new();
        let mut kept = self.0.lock();
        for mut record in records {
            // The engine's own bookkeeping is not in the stream.
            record.rows = Vec::new();
            kept.bytes += weight(&record);
            kept.records.push_back(Arc::new(record));
        }
        while kept.bytes > BYTES_MAX
            && let Some(record) = kept.records.pop_front()
        {
            kept.bytes -= weight(&record);
            forgotten.push(record);
        }
        // What is freed is freed without the lock.
        drop(kept);
    }

    /// Records that end after `after`, until they hold `changes` of that table after it; `None` when the
    /// first of them is not kept.
    pub(crate) fn after(&self, after: u64, table: u16, changes: usize) -> Option<Vec<Arc<Record>>> {
        let kept = self.0.lock();
        kept.records.front().filter(|oldest| oldest.first <= after + 1)?;
        let from = kept.records.partition_point(|record| record.last() <= after);
        let mut found = 0;
        let is_wanted = |record: &&Arc<Record>| {
            let is_wanted = found < changes;
            let of_table = (record.first..).zip(&record.changes);
            let of_table = of_table.filter(|(at, change)| *at > after && change.table == table);
            found += of_table.count();
            is_wanted
        };
        Some(kept.records.range(from..).take_while(is_wanted).cloned().collect())
    }
}

/// About how much memory a record takes.
fn weight(record: &Record) -> usize {
    let images = record.changes.iter().flat_map(|change| change.old.iter().chain(&change.new));
    let images: usize = images.map(|image| image.as_stored().len()).sum();
    size_of::<Record>() + record.changes.len() * size_of::<ItemChange>() + images
}

#[cfg(test)]
mod tests {
    use roundtable_table::item;

    use super::*;

    fn record(first: u64, changes: usize, text: &str) -> Record {
        let change =
            ItemChange { table: 1, old: None, new: Some(item! { "a" => text }), expired: false };
        Record { first, changes: vec![change; changes], ..Record::default() }
    }

    fn firsts(recent: &Recent, after: u64, changes: usize) -> Option<Vec<u64>> {
        let records = recent.after(after, 1, changes)?;
        Some(records.iter().map(|record| record.first).collect())
    }

    #[test]
    fn records_are_found_by_what_was_seen_before_them() {
        let recent = Recent::default();
        assert_eq!(firsts(&recent, 0, 10), None);
        recent.add(vec![record(5, 3, "x"), record(8, 0, "x"), record(9, 2, "x")]);
        assert_eq!(firsts(&recent, 3, 10), None, "4 is missing");
        assert_eq!(firsts(&recent, 4, 10), Some(vec![5, 8, 9]));
        assert_eq!(firsts(&recent, 6, 10), Some(vec![5, 8, 9]));
        assert_eq!(firsts(&recent, 7, 10), Some(vec![8, 9]));
        assert_eq!(firsts(&recent, 10, 10), Some(vec![]));
        assert_eq!(firsts(&recent, 4, 3), Some(vec![5]));
        assert_eq!(
            firsts(&recent, 5, 3),
            Some(vec![5, 8, 9]),
            "two of the first are enough for none"
        );
        assert_eq!(
            recent.after(4, 2, 1).map(|records| records.len()),
            Some(3),
            "none is of table 2"
        );
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let recent = Recent::default();
        let long = "x".repeat(BYTES_MAX / 4);
        for first in 1..=6 {
            recent.add(vec![record(first, 1, &long)]);
        }
        assert_eq!(firsts(&recent, 2, 10), None);
        assert_eq!(firsts(&recent, 3, 10), Some(vec![4, 5, 6]));
        recent.add(vec![record(7, 5, &long)]);
        assert_eq!(firsts(&recent, 6, 10), None, "not even the newest");
        for first in 8..=200_000 {
            let rows = vec![("key".into(), None)];
            recent.add(vec![Record { rows, ..record(first, 0, "") }]);
        }
        assert!(recent.after(8, 1, 1).is_none(), "what changes nothing takes memory, too");
        let kept = recent.0.lock();
        assert!(kept.records.iter().all(|record| record.rows.is_empty()));
    }
}
