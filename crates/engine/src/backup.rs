//! Hot backups, and restores to their point in time or any later one that archived log files cover.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roundtable_table::{Error, Result};

use crate::archive::copy_segment;
use crate::disk::{DirectoryDisk, Disk, sync_directory, sync_parent};
use crate::engine::LOG_DIRECTORY;
use crate::log::all_records;
use crate::record::Record;
use crate::segment::{
    self, LogSegment, PositionedRecord, RecordStep, SEGMENT_HEADER_BYTES, io_error,
};
use crate::shared::SharedState;
use crate::tree::{FILE as TREE_FILE, Tree};

/// The point up to which a restore goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePoint {
    /// The end of the log files.
    Latest,
    /// Everything written up to and including this time, in milliseconds since the epoch.
    Time(u64),
    /// Everything up to and including this sequence.
    Sequence(u64),
}

impl RestorePoint {
    fn includes(self, record: &Record) -> bool {
        match self {
            Self::Latest => true,
            Self::Time(at_ms) => record.at_ms <= at_ms,
            Self::Sequence(sequence) => record.last() <= sequence,
        }
    }
}

/// The source and target of a restore.
#[derive(Clone, Debug)]
pub struct Restore {
    /// A backup, as [`crate::Engine::backup`] wrote it.
    pub backup: PathBuf,
    /// Directory of archived log files, for changes later than the backup.
    pub archive: Option<PathBuf>,
    /// The new data directory; must not exist or be empty.
    pub into: PathBuf,
    /// The last change to restore.
    pub until: RestorePoint,
}

/// The reason that a restore failed. Nothing was left in the target.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Store(#[from] Error),
    /// The backup and the archive do not say what there was at that time. Times are in milliseconds since the
    /// epoch.
    #[error(
        "cannot restore to that point: the backup and the archive cover {from_ms:?} to {to_ms:?}"
    )]
    NotCovered {
        /// The last change in the backup's tree; `None` if its time is unknown.
        from_ms: Option<u64>,
        /// The last change in the log files; `None` if there are none.
        to_ms: Option<u64>,
    },
}

fn fault<'a>(action: &'a str, path: &'a Path) -> impl Fn(std::io::Error) -> Error + 'a {
    move |error| io_error(action, &path.display().to_string(), &error)
}

/// Creates the log directory of an empty target, so that nothing is overwritten.
fn create_empty(directory: &Path) -> Result<DirectoryDisk> {
    let occupied = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(Error::Io {
            action: format!("cannot write to {}", directory.display()),
            detail: String::from("it is not empty; name a directory that does not exist"),
        });
    }
    DirectoryDisk::open(directory.join(LOG_DIRECTORY)).map_err(fault("create", directory))
}

/// Copies everything acknowledged so far, while writes continue.
pub(crate) fn backup(shared: &SharedState, into: &Path) -> Result<u64> {
    let log = create_empty(into)?;
    remove_if_failed(into, copy_all(shared, into, &log))
}

fn copy_all(shared: &SharedState, into: &Path, log: &DirectoryDisk) -> Result<u64> {
    // The log files are pinned before the tree is copied, so that none after it is trimmed; and
    // listed afterwards, so that the one where the tree ends is among them.
    let (_pin, _) = shared.log.pin();
    shared.view.tree.copy_to(into)?;
    let tree = Tree::open(into, true)?;
    let applied = tree.applied()?;
    // Everything visible now is in the log, and the tree's copy has nothing beyond it.
    let until = RestorePoint::Sequence(shared.view.visible());
    let (_, segments) = shared.log.pin();
    let from = applied.map_or(0, |position| position.segment);
    let mut reached = applied.map_or(0, |position| position.sequence);
    for segment in segments.iter().filter(|segment| segment.first >= from) {
        if !copy_until(segment, until, &mut reached, log)? {
            break;
        }
    }
    // The copied log may define an order that the tree did not have when it was copied.
    if shared.catalog.read().has_order() {
        tree.mark_ordered()?;
    }
    drop(tree);
    sync_directory(into).and_then(|()| sync_parent(into)).map_err(fault("sync", into))?;
    Ok(reached)
}

/// Removes a failed copy, so that it can be tried again.
fn remove_if_failed<E>(into: &Path, copied: Result<u64, E>) -> Result<u64, E> {
    if copied.is_err()
        && let Err(error) = std::fs::remove_dir_all(into)
    {
        tracing::warn!(%error, path = %into.display(), "cannot remove a failed copy; delete it by hand");
    }
    copied
}

/// Builds a data directory from a backup and returns the last sequence in it.
pub fn restore(restore: &Restore) -> Result<u64, RestoreError> {
    let log = create_empty(&restore.into)?;
    remove_if_failed(&restore.into, restore_into(restore, &log))
}

fn restore_into(restore: &Restore, log: &DirectoryDisk) -> Result<u64, RestoreError> {
    let (from, to) = (restore.backup.join(TREE_FILE), restore.into.join(TREE_FILE));
    std::fs::copy(&from, &to).map_err(fault("copy", &from))?;
    std::fs::File::open(&to).and_then(|tree| tree.sync_all()).map_err(fault("sync", &to))?;
    let tree = Tree::open(&restore.into, true)?;
    let (applied, held) = (tree.applied()?, tree.last_sequence()?);
    drop(tree);
    let mut directories = vec![restore.backup.join(LOG_DIRECTORY)];
    directories.extend(restore.archive.clone());
    let segments = collect_segments(&directories, applied.map_or(1, |position| position.segment))?;
    let start = applied.map_or(0, |position| position.sequence);
    if let RestorePoint::Sequence(sequence) = restore.until
        && held > sequence
    {
        let action = String::from("cannot restore to that point");
        let detail = format!("the backup already holds sequence {held}; use an earlier backup");
        return Err(Error::Io { action, detail }.into());
    }
    let held_ms = match restore.until {
        RestorePoint::Time(_) if held > 0 => record_written_ms(&segments, held)?,
        _ => Some(0),
    };
    let not_covered = || -> Result<u64, RestoreError> {
        Err(RestoreError::NotCovered {
            from_ms: held_ms,
            to_ms: last_written_ms(&segments, start)?,
        })
    };
    // Without the record itself its time is unknown, so the restore is rejected.
    if let RestorePoint::Time(at_ms) = restore.until
        && held_ms.is_none_or(|ms| ms > at_ms)
    {
        return not_covered();
    }
    let mut reached = start;
    let mut is_within = false;
    let missing = |after: u64| Error::Damaged {
        location: format!("the log after sequence {after}"),
        detail: String::from("neither the backup nor the archive has the next log file"),
    };
    for segment in &segments {
        if segment.first > reached + 1 {
            return Err(missing(reached).into());
        }
        if !copy_until(segment, restore.until, &mut reached, log)? {
            is_within = true;
            break;
        }
    }
    if reached < held {
        return Err(missing(reached).into());
    }
    // Later changes may have been lost with the log that is not here.
    if let RestorePoint::Time(at_ms) = restore.until
        && !is_within
        && last_written_ms(&segments, start)?.is_none_or(|ms| ms < at_ms)
    {
        return not_covered();
    }
    let into = &restore.into;
    sync_directory(into).and_then(|()| sync_parent(into)).map_err(fault("sync", into))?;
    Ok(reached)
}

/// Returns the time of the record that holds `sequence`, if it is still in the log.
fn record_written_ms(segments: &[LogSegment], sequence: u64) -> Result<Option<u64>> {
    let after = segments.partition_point(|segment| segment.first <= sequence);
    let Some(segment) = after.checked_sub(1).and_then(|at| segments.get(at)) else {
        return Ok(None);
    };
    let mut records = all_records(segment)?;
    while let RecordStep::Record(PositionedRecord { record, .. }) = records.step()? {
        if record.last() >= sequence {
            return Ok(Some(record.at_ms));
        }
    }
    Ok(None)
}

/// Returns the time of the last record that follows `start` without a gap.
fn last_written_ms(segments: &[LogSegment], start: u64) -> Result<Option<u64>> {
    let (mut reached, mut last_ms) = (start, None);
    for segment in segments {
        if segment.first > reached + 1 {
            break;
        }
        let mut records = all_records(segment)?;
        while let RecordStep::Record(PositionedRecord { record, .. }) = records.step()? {
            reached = reached.max(record.last());
            last_ms = Some(record.at_ms);
        }
    }
    Ok(last_ms)
}

/// Lists the segments from `start` on, the longest copy of each.
fn collect_segments(directories: &[PathBuf], start: u64) -> Result<Vec<LogSegment>> {
    let mut segments: Vec<LogSegment> = Vec::new();
    for path in directories {
        let directory = Arc::new(DirectoryDisk::open(path).map_err(fault("open", path))?);
        for name in directory.list().map_err(fault("list", path))? {
            let Some(first) = segment::parse_name(&name).filter(|first| *first >= start) else {
                continue;
            };
            let file = directory.open(&name).map_err(fault("open", path))?;
            let end = file.len().map_err(fault("read", path))?;
            let disk: Arc<dyn Disk> = Arc::clone(&directory) as _;
            segments.push(LogSegment::new(first, disk, end));
        }
    }
    segments.sort_by_key(|segment| (segment.first, std::cmp::Reverse(segment.end())));
    segments.dedup_by_key(|segment| segment.first);
    Ok(segments)
}

/// Copies the records of `segment` up to `until`; false if some were left out.
fn copy_until(
    segment: &LogSegment,
    until: RestorePoint,
    reached: &mut u64,
    to: &dyn Disk,
) -> Result<bool> {
    segment.check_header()?;
    let mut records = all_records(segment)?;
    let mut end = SEGMENT_HEADER_BYTES;
    let complete = loop {
        match records.step()? {
            // Records in the tree must be in the log as well, regardless of their time.
            RecordStep::Record(placed)
                if placed.record.last() <= *reached || until.includes(&placed.record) =>
            {
                end = placed.end;
                *reached = (*reached).max(placed.record.last());
            }
            RecordStep::Record(_) => break false,
            RecordStep::End => break true,
            RecordStep::Bad => {
                return Err(Error::Damaged {
                    location: format!("{} at byte {}", segment.name(), records.offset()),
                    detail: String::from("a record does not match its checksum"),
                });
            }
        }
    };
    copy_segment(segment, end, to)?;
    Ok(complete)
}
