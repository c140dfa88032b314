//! A cache of the newest records, so that readers at the end of the stream need not read and decode the
//! log.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::record::{ItemChange, Record};

/// Approximate size of the cache. Runs share most of these bytes.
const BYTES_MAX: usize = 8 << 20;

/// The newest records, without gaps.
#[derive(Debug, Default)]
pub(crate) struct RecentRecords(Mutex<RecordBuffer>);

#[derive(Debug, Default)]
struct RecordBuffer {
    /// Oldest first.
    records: VecDeque<Arc<Record>>,
    bytes: usize,
}

impl RecentRecords {
    /// Adds the records that follow the newest one, and evicts the oldest beyond the size limit.
    pub(crate) fn add(&self, records: Vec<Record>) {
        let mut evicted = Vec::new();
        let mut buffer = self.0.lock();
        for mut record in records {
            // The engine's metadata is not in the stream.
            record.rows = Vec::new();
            buffer.bytes += memory_bytes(&record);
            buffer.records.push_back(Arc::new(record));
        }
        while buffer.bytes > BYTES_MAX
            && let Some(record) = buffer.records.pop_front()
        {
            buffer.bytes -= memory_bytes(&record);
            evicted.push(record);
        }
        // Evicted records are freed after the lock is released.
        drop(buffer);
    }

    /// Returns the records that end after `after`, until they contain `changes` changes of the table;
    /// `None` if the first of them is no longer cached.
    pub(crate) fn after(&self, after: u64, table: u16, changes: usize) -> Option<Vec<Arc<Record>>> {
        let buffer = self.0.lock();
        buffer.records.front().filter(|oldest| oldest.first <= after + 1)?;
        let from = buffer.records.partition_point(|record| record.last() <= after);
        let mut found = 0;
        let is_wanted = |record: &&Arc<Record>| {
            let is_wanted = found < changes;
            let of_table = (record.first..).zip(&record.changes);
            let of_table = of_table.filter(|(at, change)| *at > after && change.table == table);
            found += of_table.count();
            is_wanted
        };
        Some(buffer.records.range(from..).take_while(is_wanted).cloned().collect())
    }
}

/// Returns the approximate memory of a record.
fn memory_bytes(record: &Record) -> usize {
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

    fn firsts(recent: &RecentRecords, after: u64, changes: usize) -> Option<Vec<u64>> {
        let records = recent.after(after, 1, changes)?;
        Some(records.iter().map(|record| record.first).collect())
    }

    #[test]
    fn records_are_found_by_the_last_sequence_read() {
        let recent = RecentRecords::default();
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
            "two changes of the first record are not enough"
        );
        assert_eq!(
            recent.after(4, 2, 1).map(|records| records.len()),
            Some(3),
            "none is of table 2"
        );
    }

    #[test]
    fn the_oldest_records_are_evicted_beyond_the_size_limit() {
        let recent = RecentRecords::default();
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
        assert!(recent.after(8, 1, 1).is_none(), "records without changes take memory, too");
        let buffer = recent.0.lock();
        assert!(buffer.records.iter().all(|record| record.rows.is_empty()));
    }
}
