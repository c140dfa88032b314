//! Hot backups, and restores to their moment or to any later one that archived log files cover.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roundtable_table::{Error, Result};

use crate::disk::{Directory, Disk, sync_directory, sync_parent};
use crate::engine::LOG_DIRECTORY;
use crate::log::all_records;
use crate::record::Record;
use crate::segment::{self, Placed, SEGMENT_HEADER_BYTES, Segment, Step, io_error};
use crate::shared::Shared;
use crate::tree::{FILE as TREE_FILE, Tree};
use crate::upkeep::copy_segment;

/// How far a restore goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePoint {
    /// As far as the log files reach.
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

/// What to restore from and to.
#[derive(Clone, Debug)]
pub struct Restore {
    /// A backup, as [`crate::Engine::backup`] wrote it.
    pub backup: PathBuf,
    /// Where archived log files are, if later changes than the backup's are wanted.
    pub archive: Option<PathBuf>,
    /// The new data directory; must not exist or be empty.
    pub into: PathBuf,
    /// How far to go.
    pub until: RestorePoint,
}

fn fault<'a>(action: &'a str, path: &'a Path) -> impl Fn(std::io::Error) -> Error + 'a {
    move |error| io_error(action, &path.display().to_string(), &error)
}

/// Makes sure nothing is overwritten.
fn claim(directory: &Path) -> Result<Directory> {
    let occupied = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(Error::Io {
            action: format!("cannot write to {}", directory.display()),
            detail: String::from("it is not empty; name a directory that does not exist"),
        });
    }
    Directory::open(directory.join(LOG_DIRECTORY)).map_err(fault("create", directory))
}

/// Writes a copy of everything acknowledged so far, while writes go on.
pub(crate) fn backup(shared: &Shared, into: &Path) -> Result<u64> {
    let log = claim(into)?;
    clear_unless_done(into, copy_all(shared, into, &log))
}

fn copy_all(shared: &Shared, into: &Path, log: &Directory) -> Result<u64> {
    // The log files are pinned first, so that those after the tree's copy are still there; and
    // listed after it, so that the one it goes on in is among them.
    let (_pin, _) = shared.log.pin();
    shared.view.tree.copy_to(into)?;
    let applied = Tree::open(into, true)?.applied()?;
    // Everything visible now is in the log, and the tree's copy holds nothing beyond it.
    let until = RestorePoint::Sequence(shared.view.visible());
    let (_, segments) = shared.log.pin();
    let from = applied.map_or(0, |position| position.segment);
    let mut reached = applied.map_or(0, |position| position.sequence);
    for segment in segments.iter().filter(|segment| segment.first >= from) {
        if !copy_until(segment, until, &mut reached, log)? {
            break;
        }
    }
    sync_directory(into).and_then(|()| sync_parent(into)).map_err(fault("sync", into))?;
    Ok(reached)
}

/// Leaves nothing behind of a copy that failed, so that it can be tried again.
fn clear_unless_done(into: &Path, copied: Result<u64>) -> Result<u64> {
    if copied.is_err()
        && let Err(error) = std::fs::remove_dir_all(into)
    {
        tracing::warn!(%error, path = %into.display(), "a failed copy was left behind");
    }
    copied
}

/// Makes a data directory out of a backup; gives the last sequence in it.
pub fn restore(restore: &Restore) -> Result<u64> {
    let log = claim(&restore.into)?;
    clear_unless_done(&restore.into, restore_into(restore, &log))
}

fn restore_into(restore: &Restore, log: &Directory) -> Result<u64> {
    let (from, to) = (restore.backup.join(TREE_FILE), restore.into.join(TREE_FILE));
    std::fs::copy(&from, &to).map_err(fault("copy", &from))?;
    std::fs::File::open(&to).and_then(|tree| tree.sync_all()).map_err(fault("sync", &to))?;
    let tree = Tree::open(&restore.into, true)?;
    let (applied, held) = (tree.applied()?, tree.reaches()?);
    drop(tree);
    let mut directories = vec![restore.backup.join(LOG_DIRECTORY)];
    directories.extend(restore.archive.clone());
    let segments = gather(&directories, applied.map_or(1, |position| position.segment))?;
    let past = match restore.until {
        RestorePoint::Latest => false,
        RestorePoint::Sequence(sequence) => held > sequence,
        // Without the record itself nobody knows when it was written: better to refuse.
        RestorePoint::Time(at_ms) => {
            held > 0 && written_ms(&segments, held)?.is_none_or(|ms| ms > at_ms)
        }
    };
    if past {
        return Err(Error::Io {
            action: String::from("cannot restore to that point"),
            detail: format!("the backup already holds sequence {held}; take an earlier one"),
        });
    }
    let mut reached = applied.map_or(0, |position| position.sequence);
    let missing = |after: u64| Error::Damaged {
        place: format!("the log after sequence {after}"),
        detail: String::from("neither the backup nor the archive has the file that goes on there"),
    };
    for segment in &segments {
        if segment.first > reached + 1 {
            return Err(missing(reached));
        }
        if !copy_until(segment, restore.until, &mut reached, log)? {
            break;
        }
    }
    if reached < held {
        return Err(missing(reached));
    }
    let into = &restore.into;
    sync_directory(into).and_then(|()| sync_parent(into)).map_err(fault("sync", into))?;
    Ok(reached)
}

/// When the record that holds `sequence` was written, if it is still there.
fn written_ms(segments: &[Segment], sequence: u64) -> Result<Option<u64>> {
    let after = segments.partition_point(|segment| segment.first <= sequence);
    let Some(segment) = after.checked_sub(1).and_then(|at| segments.get(at)) else {
        return Ok(None);
    };
    let mut records = all_records(segment)?;
    while let Step::Record(Placed { record, .. }) = records.step()? {
        if record.last() >= sequence {
            return Ok(Some(record.at_ms));
        }
    }
    Ok(None)
}

/// The segments from `start` on, the longest copy of each.
fn gather(directories: &[PathBuf], start: u64) -> Result<Vec<Segment>> {
    let mut segments: Vec<Segment> = Vec::new();
    for path in directories {
        let directory = Arc::new(Directory::open(path).map_err(fault("open", path))?);
        for name in directory.list().map_err(fault("list", path))? {
            let Some(first) = segment::first_of(&name).filter(|first| *first >= start) else {
                continue;
            };
            let file = directory.open(&name).map_err(fault("open", path))?;
            let end = file.len().map_err(fault("read", path))?;
            let disk: Arc<dyn Disk> = Arc::clone(&directory) as _;
            segments.push(Segment::new(first, disk, end));
        }
    }
    segments.sort_by_key(|segment| (segment.first, std::cmp::Reverse(segment.end())));
    segments.dedup_by_key(|segment| segment.first);
    Ok(segments)
}

/// Copies the records of `segment` that belong to the restored state; false when it was cut short.
fn copy_until(
    segment: &Segment,
    until: RestorePoint,
    reached: &mut u64,
    to: &dyn Disk,
) -> Result<bool> {
    segment.check_header()?;
    let mut records = all_records(segment)?;
    let mut end = SEGMENT_HEADER_BYTES;
    let complete = loop {
        match records.step()? {
            // What the tree holds must be in the log as well, whatever the clock said then.
            Step::Record(placed)
                if placed.record.last() <= *reached || until.includes(&placed.record) =>
            {
                end = placed.end;
                *reached = (*reached).max(placed.record.last());
            }
            Step::Record(_) => break false,
            Step::End => break true,
            Step::Bad => {
                return Err(Error::Damaged {
                    place: format!("{} at byte {}", segment.name(), records.offset()),
                    detail: String::from("a record does not match its checksum"),
                });
            }
        }
    };
    copy_segment(segment, end, to)?;
    Ok(complete)
}
