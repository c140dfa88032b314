//! The log: write-ahead log, change stream and archive in one. Owns the segments; is independent of
//! tables.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use roundtable_table::{Error, Result};

use crate::disk::{Disk, DiskFile, is_temporary};
use crate::record::Record;
use crate::recovery::Recovery;
use crate::segment::{
    self, LogSegment, PositionedRecord, RecordStep, SEGMENT_HEADER_BYTES, io_error,
};
use crate::signal::Signal;

/// Name prefix of spare files, which are to become segments.
const SPARE: &str = "spare";
/// A shorter log needs no spare file: most data directories are small.
const SPARE_FROM_BYTES: u64 = 256 << 10;
/// Longest wait of a trim for readers of the log; the next one tries again.
const PIN_TIMEOUT: Duration = Duration::from_millis(100);

/// A position in the log: everything up to `sequence` lies before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) sequence: u64,
    pub(crate) group: u64,
}

impl LogPosition {
    pub(crate) const BYTES: usize = 32;

    pub(crate) fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        let fields = [self.segment, self.offset, self.sequence, self.group];
        for (slot, field) in out.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.chunks_exact(8).filter_map(|chunk| chunk.first_chunk());
        let mut next = || fields.next().map(|field| u64::from_le_bytes(*field));
        Some(Self { segment: next()?, offset: next()?, sequence: next()?, group: next()? })
    }
}

#[derive(Debug)]
pub(crate) struct WriteAheadLog {
    disk: Arc<dyn Disk>,
    segment_bytes: u64,
    /// Ascending; the last one is written to.
    segments: RwLock<Vec<Arc<LogSegment>>>,
    /// A file of zeros, ready to become the next segment.
    spare: Mutex<Option<SpareSegment>>,
    /// Number of spares made. Each has its own name: reusing one could truncate a file that is just
    /// becoming a segment.
    spares_made: AtomicU64,
    /// Read-locked while segments are read or copied: none is removed meanwhile.
    pins: RwLock<()>,
    /// Notified when a spare is needed.
    upkeep: Arc<Signal>,
}

/// A file that is to become a segment, and its name until then.
#[derive(Debug)]
struct SpareSegment {
    name: String,
    file: Arc<dyn DiskFile>,
}

#[derive(Debug)]
pub(crate) struct OpenedLog {
    pub(crate) log: Arc<WriteAheadLog>,
    pub(crate) appender: Appender,
    /// Bytes of a torn, unacknowledged tail that were cut off.
    pub(crate) cut_bytes: u64,
}

impl WriteAheadLog {
    /// Opens the log and passes every record after `from` to `replay`.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        segment_bytes: u64,
        from: Option<LogPosition>,
        upkeep: Arc<Signal>,
        replay: &mut dyn FnMut(Record, LogPosition) -> Result<()>,
    ) -> Result<OpenedLog> {
        let segments = open_segments(&disk)?;
        let log = Self {
            disk,
            segment_bytes,
            segments: RwLock::new(segments),
            spare: Mutex::new(None),
            spares_made: AtomicU64::new(0),
            pins: RwLock::new(()),
            upkeep,
        };
        let start = match from {
            Some(position) => position,
            None => log.beginning()?,
        };
        let mut recovery = Recovery::from(start);
        let cut_bytes = recovery.run(&log.segments.read(), from.is_some(), replay)?;
        let log = Arc::new(log);
        let appender = Appender { position: recovery.position, log: Arc::clone(&log) };
        Ok(OpenedLog { log, appender, cut_bytes })
    }

    /// Returns the start of a log of which nothing is in the tree.
    fn beginning(&self) -> Result<LogPosition> {
        match self.segments.read().first() {
            Some(first) if first.first > 1 => Err(Error::Damaged {
                location: first.name(),
                detail: String::from("the log begins here, but the tree has nothing before it"),
            }),
            _ => {
                Ok(LogPosition { segment: 1, offset: SEGMENT_HEADER_BYTES, sequence: 0, group: 0 })
            }
        }
    }

    /// Returns the oldest sequence in the log.
    pub(crate) fn oldest(&self) -> u64 {
        self.segments.read().first().map_or(1, |segment| segment.first)
    }

    /// Returns the time of the oldest record, if there is one that can be read.
    pub(crate) fn oldest_ms(&self) -> Option<u64> {
        let (_pin, segments) = self.pin();
        let started = segments.iter().find_map(|segment| started_ms(segment).transpose())?;
        started.ok()
    }

    /// Returns the size of the log in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.read().iter().map(|segment| segment.end()).sum()
    }

    /// Passes the records that end after `after`, in order, to `visit` until it returns false.
    pub(crate) fn read_after(
        &self,
        after: u64,
        visit: &mut dyn FnMut(Record) -> bool,
    ) -> Result<()> {
        let (_pin, segments) = self.pin_from(after + 1);
        let mut expected = None;
        for (nth, segment) in segments.iter().enumerate() {
            let offset = if nth == 0 { segment.seek(after + 1) } else { SEGMENT_HEADER_BYTES };
            let records = segment.records(offset, segment.end());
            let mut records = records.map_err(|e| io_error("open", &segment.name(), &e))?;
            loop {
                match records.step()? {
                    RecordStep::Record(PositionedRecord { record, offset, .. }) => {
                        if expected.is_some_and(|expected| expected != record.first) {
                            return Err(gap(segment, offset, record.first));
                        }
                        expected = Some(record.last() + 1);
                        segment.mark(record.first, offset);
                        if record.last() > after && !visit(record) {
                            return Ok(());
                        }
                    }
                    RecordStep::End => break,
                    RecordStep::Bad => return Err(damaged(segment, records.offset(), "a record")),
                }
            }
        }
        Ok(())
    }

    /// Returns whether a spare file should be made now, so that starting the next segment is fast.
    pub(crate) fn needs_spare(&self) -> bool {
        let Some(active) = self.segments.read().last().cloned() else { return false };
        let from = if active.is_allocated() { self.segment_bytes / 2 } else { SPARE_FROM_BYTES };
        active.end() >= from.min(self.segment_bytes / 2) && self.spare.lock().is_none()
    }

    /// Makes the spare file. Only the upkeep thread may call it.
    pub(crate) fn prepare_spare(&self) -> io::Result<()> {
        let spare = self.make_spare(self.segment_bytes)?;
        *self.spare.lock() = Some(spare);
        Ok(())
    }

    fn make_spare(&self, len: u64) -> io::Result<SpareSegment> {
        let name = format!("{SPARE}-{}", self.spares_made.fetch_add(1, Ordering::Relaxed));
        match self.disk.create(&name, len) {
            Ok(file) => Ok(SpareSegment { name, file }),
            Err(error) => {
                // On a full disk, a partial spare would only take space.
                let _ = self.disk.remove(&name);
                Err(error)
            }
        }
    }

    /// Removes the oldest segments that end at or before `through` and were last written before
    /// `cutoff_ms`; returns their number.
    pub(crate) fn trim(&self, through: u64, cutoff_ms: u64) -> io::Result<usize> {
        let Some(_unpinned) = self.pins.try_write_for(PIN_TIMEOUT) else { return Ok(0) };
        let mut removed = 0;
        loop {
            let first = match self.segments.read().as_slice() {
                [first, _, ..] if first.last() <= through && first.last_at_ms() < cutoff_ms => {
                    Arc::clone(first)
                }
                _ => break,
            };
            // The file first: if it stayed and the next one were removed, the log would have a gap.
            self.disk.remove(&first.name())?;
            self.segments.write().remove(0);
            removed += 1;
        }
        Ok(removed)
    }

    /// Returns the current segments. None is removed while the pin is held.
    pub(crate) fn pin(&self) -> (SegmentPin<'_>, Vec<Arc<LogSegment>>) {
        self.pin_from(0)
    }

    /// Same as [`Self::pin`], from the segment that holds `sequence` on: most readers need only the last
    /// one.
    fn pin_from(&self, sequence: u64) -> (SegmentPin<'_>, Vec<Arc<LogSegment>>) {
        // Recursive, so that a thread with a pin can take another one while a trim waits.
        let pin = SegmentPin { _held: self.pins.read_recursive() };
        let segments = self.segments.read();
        let start = segments.partition_point(|segment| segment.first <= sequence).saturating_sub(1);
        (pin, segments.get(start..).unwrap_or_default().to_vec())
    }

    /// Removes a file, if it exists.
    fn discard(&self, name: &str) -> Result<(), AppendError> {
        match self.disk.remove(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(AppendError::Lasting(error))
            }
            _ => Ok(()),
        }
    }

    fn start_segment(&self, first: u64) -> Result<Arc<LogSegment>, AppendError> {
        let spare = self.spare.lock().take();
        let is_allocated = spare.is_some();
        // Without a spare the segment starts unallocated: slower to sync, but the writer need not
        // wait for megabytes of zeros.
        let SpareSegment { name, file } = match spare {
            Some(spare) => spare,
            None => self.make_spare(0)?,
        };
        let started = file
            .write_at(&segment::header(first), 0)
            .and_then(|()| file.sync())
            .and_then(|()| self.disk.rename(&name, &segment::name(first)));
        if let Err(error) = started {
            // It holds nothing yet. If it stayed, later groups in the segment before it would look like a
            // part of the log that is there twice.
            drop(file);
            self.discard(&name).and_then(|()| self.discard(&segment::name(first)))?;
            return Err(error.into());
        }
        let segment = LogSegment::new(first, Arc::clone(&self.disk), SEGMENT_HEADER_BYTES);
        segment.set_allocated(is_allocated);
        segment.keep_open(file);
        let segment = Arc::new(segment);
        let mut segments = self.segments.write();
        if let Some(complete) = segments.last() {
            complete.close_file();
        }
        segments.push(Arc::clone(&segment));
        drop(segments);
        self.upkeep.notify();
        Ok(segment)
    }
}

/// Keeps segments from being removed.
#[derive(Debug)]
pub(crate) struct SegmentPin<'a> {
    _held: parking_lot::RwLockReadGuard<'a, ()>,
}

/// Opens the segment files, oldest first, and removes leftover spare files.
fn open_segments(disk: &Arc<dyn Disk>) -> Result<Vec<Arc<LogSegment>>> {
    let names = disk.list().map_err(|e| io_error("list", "the log", &e))?;
    let mut firsts: Vec<u64> = names.iter().filter_map(|name| segment::parse_name(name)).collect();
    firsts.sort_unstable();
    for leftover in names.iter().filter(|name| name.starts_with(SPARE)) {
        disk.remove(leftover).map_err(|e| io_error("remove", leftover, &e))?;
    }
    let mut segments = Vec::with_capacity(firsts.len());
    for first in &firsts {
        let name = segment::name(*first);
        let file = disk.open(&name).map_err(|e| io_error("open", &name, &e))?;
        let end = file.len().map_err(|e| io_error("read", &name, &e))?;
        segments.push(Arc::new(LogSegment::new(*first, Arc::clone(disk), end)));
    }
    // Segments before the checkpoint are not replayed; their end is known from the next one's start.
    for (segment, next) in segments.iter().zip(segments.iter().skip(1)) {
        let ended_ms = started_ms(next)?.or(started_ms(segment)?).unwrap_or(0);
        segment.extend(segment.end(), next.first - 1, ended_ms);
    }
    Ok(segments)
}

/// Returns the time of a segment's first record.
fn started_ms(segment: &LogSegment) -> Result<Option<u64>> {
    match all_records(segment)?.step()? {
        RecordStep::Record(placed) => Ok(Some(placed.record.at_ms)),
        RecordStep::End | RecordStep::Bad => Ok(None),
    }
}

pub(crate) fn all_records(segment: &LogSegment) -> Result<segment::RecordReader<'_>> {
    let records = segment.records(SEGMENT_HEADER_BYTES, segment.end());
    records.map_err(|e| io_error("open", &segment.name(), &e))
}

pub(crate) fn gap(segment: &LogSegment, offset: u64, found: u64) -> Error {
    Error::Damaged {
        location: format!("log segment {} at byte {offset}", segment.name()),
        detail: format!("the records before sequence {found} are missing"),
    }
}

pub(crate) fn damaged(segment: &LogSegment, offset: u64, what: &str) -> Error {
    Error::Damaged {
        location: format!("log segment {} at byte {offset}", segment.name()),
        detail: format!("{what} does not match its checksum"),
    }
}

/// The reason that a group was not appended.
#[derive(Debug)]
pub(crate) enum AppendError {
    /// It passes, and the log is as before.
    Temporary(io::Error),
    /// The state of the disk is no longer certain: the log must not be written again before a restart.
    Lasting(io::Error),
}

impl From<io::Error> for AppendError {
    fn from(error: io::Error) -> Self {
        if is_temporary(&error) { Self::Temporary(error) } else { Self::Lasting(error) }
    }
}

/// The end of the log, where the writer thread appends.
#[derive(Debug)]
pub(crate) struct Appender {
    log: Arc<WriteAheadLog>,
    position: LogPosition,
}

impl Appender {
    /// Returns the end of the log.
    pub(crate) const fn position(&self) -> LogPosition {
        self.position
    }

    /// Appends the records of one group and syncs. After a temporary error nothing of the group is in the
    /// log, and another one can be appended.
    pub(crate) fn append(&mut self, group: &EncodedGroup<'_>) -> Result<(), AppendError> {
        let segment = self.segment_for(group)?;
        let file = segment.file()?;
        if let Err(error) = file.write_at(group.bytes, self.position.offset) {
            let error = AppendError::from(error);
            if matches!(error, AppendError::Temporary(_)) {
                // Whole records of it may have landed. They must not follow those of a shorter group that
                // is written in its place, or reappear after a crash: the caller is told that nothing happened.
                file.truncate(self.position.offset).map_err(AppendError::Lasting)?;
                segment.set_allocated(false);
            }
            return Err(error);
        }
        // What a failed sync has left is not known, whatever the cause: pages may count as written that are
        // not.
        file.sync().map_err(AppendError::Lasting)?;
        segment.mark_latest(group.first, self.position.offset);
        self.position = LogPosition {
            segment: segment.first,
            offset: self.position.offset + group.bytes.len() as u64,
            sequence: group.last,
            group: group.number,
        };
        segment.extend(self.position.offset, group.last, group.at_ms);
        if self.log.needs_spare() {
            self.log.upkeep.notify();
        }
        Ok(())
    }

    fn segment_for(&mut self, group: &EncodedGroup<'_>) -> Result<Arc<LogSegment>, AppendError> {
        let current = self.log.segments.read().last().cloned();
        let fits = |segment: &Arc<LogSegment>| {
            let end = segment.end();
            let spare_waits = !segment.is_allocated() && self.log.spare.lock().is_some();
            let room = if spare_waits { end } else { self.log.segment_bytes };
            let has_room = end + group.bytes.len() as u64 <= room;
            end == SEGMENT_HEADER_BYTES || segment.is_current() && has_room
        };
        match current {
            Some(segment) if fits(&segment) => return Ok(segment),
            // No record of it was replayed at the start, so the time of its end is unknown. It ended
            // no later than now, and must not look old enough to be trimmed before.
            Some(full) if full.last_at_ms() == 0 => {
                full.extend(full.end(), full.last(), group.at_ms);
            }
            _ => {}
        }
        let segment = self.log.start_segment(group.first)?;
        self.position.segment = segment.first;
        self.position.offset = SEGMENT_HEADER_BYTES;
        Ok(segment)
    }
}

/// The encoded records of one group.
#[derive(Debug)]
pub(crate) struct EncodedGroup<'a> {
    pub(crate) number: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) at_ms: u64,
    pub(crate) bytes: &'a [u8],
}
