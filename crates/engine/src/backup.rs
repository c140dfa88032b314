//! Hot backups, and restores to their moment or to any later one that archived log files cover.

use std::path::{Path, PathBuf};

use roundtable_table::{Error, Result};

use crate::disk::{Directory, Disk};
use crate::engine::LOG_DIRECTORY;
use crate::record::Record;
use crate::segment::{self, Placed, SEGMENT_HEADER_BYTES, Segment, Step, io_error};
use crate::shared::Shared;
use crate::tree::Tree;
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
    // The log files are pinned first, so that those after the tree's copy are still there; and
    // listed after it, so that the one it goes on in is among them.
    let (_pin, _) = shared.log.pin();
    shared.view.tree.copy_to(into)?;
    let applied = Tree::open(into, true)?.applied()?;
    let (_, segments) = shared.log.pin();
    let from = applied.map_or(0, |position| position.segment);
    let mut reached = applied.map_or(0, |position| position.sequence);
    for segment in segments.iter().filter(|segment| segment.first >= from) {
        let (last, end) = (segment.last(), segment.end());
        copy_segment(segment, end, &log)?;
        reached = reached.max(last);
    }
    Ok(reached)
}

/// Makes a data directory out of a backup; gives the last sequence in it.
pub fn restore(restore: &Restore) -> Result<u64> {
    let log = claim(&restore.into)?;
    let from = restore.backup.join("tree.mdb");
    std::fs::copy(&from, restore.into.join("tree.mdb")).map_err(fault("copy", &from))?;
    let applied = Tree::open(&restore.into, true)?.applied()?;
    let mut directories = vec![restore.backup.join(LOG_DIRECTORY)];
    directories.extend(restore.archive.clone());
    let start = applied.map_or(1, |position| position.segment);
    let segments = gather(&directories, start)?;
    let mut reached = applied.map_or(0, |position| position.sequence);
    let past = match restore.until {
        RestorePoint::Latest => false,
        RestorePoint::Sequence(sequence) => reached > sequence,
        RestorePoint::Time(at_ms) => {
            applied.is_some()
                && segments.first().is_some_and(|s| !tree_is_within(s, reached, at_ms))
        }
    };
    if past {
        return Err(Error::Io {
            action: String::from("cannot restore to that point"),
            detail: format!("the backup already holds sequence {reached}; take an earlier one"),
        });
    }
    for segment in &segments {
        if !copy_until(segment, restore.until, &mut reached, &log)? {
            break;
        }
    }
    Ok(reached)
}

/// Whether the last record that the tree holds was written by `at_ms`.
fn tree_is_within(segment: &Segment, applied: u64, at_ms: u64) -> bool {
    let mut records = segment.records(SEGMENT_HEADER_BYTES, segment.end());
    while let Ok(Step::Record(Placed { record, .. })) = records.step() {
        if record.last() >= applied {
            return record.last() > applied || record.at_ms <= at_ms;
        }
    }
    true
}

/// The segments from `start` on, without gaps, the longest copy of each.
fn gather(directories: &[PathBuf], start: u64) -> Result<Vec<Segment>> {
    let mut segments: Vec<Segment> = Vec::new();
    for path in directories {
        let directory = Directory::open(path).map_err(fault("open", path))?;
        for name in directory.list().map_err(fault("list", path))? {
            let Some(first) = segment::first_of(&name).filter(|first| *first >= start) else {
                continue;
            };
            let file = directory.open(&name).map_err(fault("open", path))?;
            let end = file.len().map_err(fault("read", path))?;
            segments.push(Segment::new(first, file, end));
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
    let mut records = segment.records(SEGMENT_HEADER_BYTES, segment.end());
    let mut end = SEGMENT_HEADER_BYTES;
    let complete = loop {
        match records.step()? {
            Step::Record(placed) if until.includes(&placed.record) => {
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
