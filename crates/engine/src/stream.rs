//! The change stream: the log, read by sequence, one table at a time.

use std::time::Duration;

use roundtable_table::{
    Change, Error, Item, Result, Sequence, ShardInfo, StreamPage, StreamRead, StreamStart, limits,
};

use crate::catalog::TableEntry;
use crate::record::Record;
use crate::shared::SharedState;

/// The only shard, which never ends.
const SHARD: &str = "log";
/// Most records that one read scans, including those of other tables.
const RECORDS_MAX: usize = 10_000;
const FAR_FUTURE: Duration = Duration::from_hours(365 * 24);

pub(crate) fn shards() -> Vec<ShardInfo> {
    vec![ShardInfo { id: SHARD.to_owned(), parent: None }]
}

/// Reads changes, waiting for the first one if there is none yet.
pub(crate) async fn read(
    shared: &SharedState,
    entry: &TableEntry,
    read: StreamRead,
) -> Result<StreamPage> {
    if read.shard != SHARD {
        let detail = format!("the embedded stream has one shard, {SHARD:?}, not {:?}", read.shard);
        return Err(roundtable_table::Invalid::Rejected { detail }.into());
    }
    let mut published = shared.published.subscribe();
    let mut after = match &read.start {
        StreamStart::Oldest => shared.log.oldest().saturating_sub(1),
        StreamStart::Latest => shared.view.visible(),
        StreamStart::After(sequence) => check_start(shared, entry, sequence)?,
    };
    // A deadline that overflows is replaced by one in a year.
    let now = tokio::time::Instant::now();
    let deadline = now.checked_add(read.wait).unwrap_or_else(|| now + FAR_FUTURE);
    loop {
        // Marked as seen before the log is read: later changes wake the wait below.
        let visible = *published.borrow_and_update();
        let Some(page) = page(shared, entry, after, visible, &read)? else {
            // Trimmed between the check of the log's beginning and the read.
            match &read.start {
                StreamStart::After(sequence) => return Err(trimmed(entry, sequence)),
                StreamStart::Oldest | StreamStart::Latest => {
                    after = shared.log.oldest().saturating_sub(1);
                    continue;
                }
            }
        };
        let reached = page.next.as_ref().and_then(Sequence::to_u64).unwrap_or(after);
        if page.evaluated > 0 || read.wait == Duration::ZERO {
            return Ok(page);
        }
        if reached < visible {
            // Many records of other tables: yield to other tasks, and stop at the deadline.
            if tokio::time::Instant::now() >= deadline {
                return Ok(page);
            }
            tokio::task::yield_now().await;
            after = reached;
            continue;
        }
        match tokio::time::timeout_at(deadline, published.changed()).await {
            Ok(Ok(())) => after = reached,
            Ok(Err(_)) | Err(_) => return Ok(page),
        }
    }
}

fn check_start(shared: &SharedState, entry: &TableEntry, sequence: &Sequence) -> Result<u64> {
    let after = sequence.to_u64().ok_or_else(|| trimmed(entry, sequence))?;
    let held = shared.log.oldest().saturating_sub(1)..=shared.view.visible();
    if held.contains(&after) { Ok(after) } else { Err(trimmed(entry, sequence)) }
}

fn trimmed(entry: &TableEntry, after: &Sequence) -> Error {
    Error::StreamTrimmed { table: entry.definition.name.clone(), after: after.to_string() }
}

/// Returns the changes after `after`; `None` if they are no longer in the log.
fn page(
    shared: &SharedState,
    entry: &TableEntry,
    after: u64,
    visible: u64,
    read: &StreamRead,
) -> Result<Option<StreamPage>> {
    let mut changes = Vec::new();
    let (mut evaluated, mut bytes) = (0, 0);
    let mut reached = after;
    let mut scanned = 0;
    let mut has_gap = after < visible;
    if after < visible {
        let mut take = |record: &Record| {
            if record.first > visible {
                return false;
            }
            if scanned == 0 {
                has_gap = record.first > after + 1;
            }
            if has_gap {
                return false;
            }
            scanned += 1;
            let at_ms = record.at_ms;
            for (sequence, change) in (record.first..).zip(&record.changes) {
                if sequence <= after || evaluated == read.limit || bytes >= limits::PAGE_BYTES_MAX {
                    continue;
                }
                reached = sequence;
                if change.table != entry.number {
                    continue;
                }
                let (old, new) = (change.old.as_ref(), change.new.as_ref());
                bytes += old.map_or(0, Item::size) + new.map_or(0, Item::size);
                evaluated += 1;
                if !read.matches(old, new) {
                    continue;
                }
                if let Some(key) = Change::key_of(&entry.definition, old, new) {
                    changes.push(Change {
                        sequence: Sequence::from(sequence),
                        at_ms,
                        key,
                        old: change.old.clone(),
                        new: change.new.clone(),
                        expired: change.expired,
                    });
                }
            }
            let is_full = evaluated == read.limit || bytes >= limits::PAGE_BYTES_MAX;
            if !is_full {
                // Records without changes take a sequence, too.
                reached = reached.max(record.first);
            }
            !is_full && scanned < RECORDS_MAX
        };
        if let Some(records) = shared.recent.after(after, entry.number, read.limit) {
            records.iter().all(|record| take(record));
        } else {
            let scanned = shared.log.read_after(after, &mut |record| take(&record));
            scanned.inspect_err(|error| shared.note_damage(error))?;
        }
    }
    if has_gap {
        return Ok(None);
    }
    let next = Some(Sequence::from(reached));
    Ok(Some(StreamPage { changes, evaluated, next, ended: false }))
}
