//! The archive: copies of the log's files in another directory, for restores to a point in time. Complete files
//! are copied at once, and the synced part of the last one at an interval.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use roundtable_table::{Error, Result};

use crate::disk::{DirectoryDisk, Disk, DiskFile};
use crate::log::{WriteAheadLog, all_records};
use crate::options::Options;
use crate::segment::{
    LogSegment, PositionedRecord, RecordStep, SEGMENT_HEADER_BYTES, io_error, parse_name,
};
use crate::shared::SharedState;

const COPY_CHUNK_BYTES: usize = 1 << 20;
/// Bytes that are compared to tell two histories apart.
const COMPARED_BYTES: usize = 4096;
/// Intervals after which operators are told that nothing is archived any more.
const LATE_INTERVALS_MAX: u64 = 5;

/// The part of the log that is in the archive, as far as this process knows.
#[derive(Debug)]
pub(crate) struct ArchiveProgress {
    /// Last sequence in the archive.
    sequence: AtomicU64,
    /// Everything synced by this time is in the archive.
    covered_ms: AtomicU64,
    /// The reason that the last pass failed.
    failure: Mutex<Option<String>>,
}

/// The occasion of a pass over the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchivePass {
    /// Copies the last file only if the interval has passed.
    WhenDue,
    /// The engine closes: copies everything.
    Last,
}

impl ArchiveProgress {
    /// The progress of earlier processes, as the archive shows it. `written` is the last sequence of the
    /// log.
    pub(crate) fn at_start(options: &Options, log: &WriteAheadLog, written: u64) -> Self {
        let now_ms = options.clock.now_ms();
        let covered_ms = match &options.archive {
            Some(path) => covered_at_start(path, log, written, now_ms),
            None => now_ms,
        };
        Self {
            sequence: AtomicU64::new(0),
            covered_ms: AtomicU64::new(covered_ms),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::SeqCst)
    }

    /// Returns the time since everything synced was last in the archive.
    pub(crate) fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.covered_ms.load(Ordering::SeqCst))
    }
}

/// Returns the time up to which an archive that was written before has everything in the log: now, if it
/// lacks nothing. Nothing is copied.
fn covered_at_start(path: &Path, log: &WriteAheadLog, written: u64, now_ms: u64) -> u64 {
    let newest = newest_record(path).unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot read the archive; it counts as empty until it can be written");
        None
    });
    match newest {
        Some((sequence, _)) if sequence >= written => now_ms,
        Some((_, at_ms)) => at_ms.min(now_ms),
        None => log.oldest_ms().map_or(now_ms, |at_ms| at_ms.min(now_ms)),
    }
}

/// Returns the sequence and time of the newest record in an archive, if there is one.
fn newest_record(path: &Path) -> Result<Option<(u64, u64)>> {
    if !path.is_dir() {
        return Ok(None);
    }
    let archive = Arc::new(open_directory(path)?);
    let names = archive.list().map_err(|e| io_error("list", "the archive", &e))?;
    let mut firsts: Vec<u64> = names.iter().filter_map(|name| parse_name(name)).collect();
    firsts.sort_unstable();
    for first in firsts.into_iter().rev() {
        let disk: Arc<dyn Disk> = Arc::clone(&archive) as _;
        let copy = LogSegment::new(first, disk, 0);
        let len = copy.file().and_then(|file| file.len());
        let len = len.map_err(|e| io_error("read", &copy.name(), &e))?;
        copy.extend(len, copy.last(), 0);
        let (mut records, mut newest) = (all_records(&copy)?, None);
        // What follows a record that is not valid could not be restored.
        while let RecordStep::Record(PositionedRecord { record, .. }) = records.step()? {
            newest = Some((record.last(), record.at_ms));
        }
        if newest.is_some() {
            return Ok(newest);
        }
    }
    Ok(None)
}

/// Returns what operators must know of an archive that receives nothing any more.
pub(crate) fn warning(shared: &SharedState) -> Option<String> {
    shared.options.archive.as_ref()?;
    let age_ms = shared.archive.age_ms(shared.clock.now_ms());
    if age_ms <= interval_ms(&shared.options).saturating_mul(LATE_INTERVALS_MAX) {
        return None;
    }
    let failure = shared.archive.failure.lock().clone();
    let reason = failure.unwrap_or_else(|| String::from("no attempt has ended since"));
    Some(format!(
        "nothing has been archived for {} s ({reason}): a loss of this disk would lose the changes since; \
         see that `store.archive` can be written",
        age_ms / 1000
    ))
}

fn interval_ms(options: &Options) -> u64 {
    u64::try_from(options.archive_interval.as_millis()).unwrap_or(u64::MAX)
}

/// Copies what is not in the archive yet, if there is an archive.
pub(crate) fn archive(shared: &SharedState, pass: ArchivePass) -> Result<()> {
    let Some(path) = &shared.options.archive else { return Ok(()) };
    let archived = copy_new(shared, path, pass);
    *shared.archive.failure.lock() = archived.as_ref().err().map(ToString::to_string);
    archived
}

fn copy_new(shared: &SharedState, path: &Path, pass: ArchivePass) -> Result<()> {
    let progress = &shared.archive;
    // Before the log is looked at: everything synced by now is covered.
    let now_ms = shared.clock.now_ms();
    let (_pin, segments) = shared.log.pin();
    let Some((last, complete)) = segments.split_last() else { return Ok(()) };
    let is_new = |segment: &&Arc<LogSegment>| segment.last() > progress.sequence();
    let is_due = pass == ArchivePass::Last
        || progress.age_ms(now_ms) >= interval_ms(&shared.options)
        // The clock was set back.
        || now_ms < progress.covered_ms.load(Ordering::SeqCst);
    let complete: Vec<_> = complete.iter().filter(is_new).collect();
    let tail = Some(last).filter(is_new).filter(|_| is_due);
    if !complete.is_empty() || tail.is_some() {
        let directory = open_directory(path)?;
        for segment in complete.into_iter().chain(tail) {
            // Read before its end is: the copy has at least this.
            let sequence = segment.last();
            archive_segment(segment, &directory)?;
            progress.sequence.store(sequence, Ordering::SeqCst);
        }
    } else if is_due {
        // Nothing is new, but an archive that cannot be reached must not count as current.
        open_directory(path)?;
    }
    if is_due {
        progress.covered_ms.store(now_ms, Ordering::SeqCst);
    }
    Ok(())
}

fn open_directory(path: &Path) -> Result<DirectoryDisk> {
    DirectoryDisk::open(path).map_err(|e| io_error("open", "the archive", &e))
}

/// Brings the archive's copy of a segment up to date.
fn archive_segment(segment: &LogSegment, archive: &DirectoryDisk) -> Result<()> {
    let name = segment.name();
    let fault = |e: io::Error| io_error("compare", &name, &e);
    let end = segment.end();
    match archive.open(&name) {
        Ok(copy) => {
            let len = copy.len().map_err(fault)?;
            // A file that was copied by hand may end in zeros.
            let written = if len > end { written_bytes(&*copy, len).map_err(fault)? } else { len };
            let is_same =
                written <= end && is_same_before(segment, &*copy, written).map_err(fault)?;
            if !is_same {
                return Err(foreign(&name));
            }
            // After a restart, the end of a complete segment is that of its file, with the zeros.
            let ours = segment.file().and_then(|file| written_bytes(&*file, end)).map_err(fault)?;
            if len == end || len < end && ours <= len {
                return Ok(());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(fault(error)),
    }
    copy_segment(segment, end, archive)
}

/// A restored store continues under sequences that its origin may have archived already; mixed in one
/// directory, the two could restore to a state that never existed.
fn foreign(name: &str) -> Error {
    Error::Damaged {
        location: format!("the archive's {name}"),
        detail: String::from(
            "it belongs to another store; give this store its own archive directory",
        ),
    }
}

/// Returns whether a segment and its copy have the same bytes before `end`. Records have times and checksums, so
/// two histories differ in their last bytes.
fn is_same_before(segment: &LogSegment, copy: &dyn DiskFile, end: u64) -> io::Result<bool> {
    let (mut ours, mut theirs) = ([0; COMPARED_BYTES], [0; COMPARED_BYTES]);
    let at = end.saturating_sub(COMPARED_BYTES as u64);
    segment.file()?.read_at(&mut ours, at)?;
    copy.read_at(&mut theirs, at)?;
    let compared = usize::try_from(end - at).unwrap_or(COMPARED_BYTES);
    Ok(ours.get(..compared) == theirs.get(..compared))
}

/// Returns the length of a file without the zeros at its end.
fn written_bytes(file: &dyn DiskFile, len: u64) -> io::Result<u64> {
    let mut chunk = vec![0; COPY_CHUNK_BYTES];
    let mut end = len;
    while end > SEGMENT_HEADER_BYTES {
        let at = end.saturating_sub(COPY_CHUNK_BYTES as u64);
        let want = usize::try_from(end - at).unwrap_or(COPY_CHUNK_BYTES);
        let part = chunk.get_mut(..want).unwrap_or_default();
        file.read_at(part, at)?;
        if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
            return Ok(at + last as u64 + 1);
        }
        end = at;
    }
    Ok(end)
}

/// Copies a segment up to `end`, atomically; replaces an earlier copy.
pub(crate) fn copy_segment(segment: &LogSegment, end: u64, to: &dyn Disk) -> Result<()> {
    let name = segment.name();
    let fault = |action: &'static str| {
        let name = name.clone();
        move |error: io::Error| io_error(action, &name, &error)
    };
    let partial = format!("{name}.partial");
    let copied = copy_to(segment, end, to, &partial, &fault)
        .and_then(|()| to.rename(&partial, &name).map_err(fault("copy")));
    if copied.is_err() {
        // It would keep space that a full disk lacks. The next copy replaces it anyway.
        let _ = to.remove(&partial);
    }
    copied
}

fn copy_to<F>(
    segment: &LogSegment,
    end: u64,
    to: &dyn Disk,
    name: &str,
    fault: &impl Fn(&'static str) -> F,
) -> Result<()>
where
    F: FnOnce(io::Error) -> Error,
{
    let file = segment.file().map_err(fault("open"))?;
    let copy = to.create(name, 0).map_err(fault("create"))?;
    let mut buffer = vec![0; COPY_CHUNK_BYTES];
    let mut at = 0;
    while at < end {
        let want = COPY_CHUNK_BYTES.min(usize::try_from(end - at).unwrap_or(COPY_CHUNK_BYTES));
        let chunk = buffer.get_mut(..want).unwrap_or_default();
        let read = file.read_at(chunk, at).map_err(fault("read"))?;
        if read == 0 {
            break;
        }
        copy.write_at(chunk.get(..read).unwrap_or_default(), at).map_err(fault("copy"))?;
        at += read as u64;
    }
    copy.sync().map_err(fault("copy"))
}
