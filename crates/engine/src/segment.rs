//! One file of the log: a header, then records, then (in the last file) zeros.
//!
//! ```text
//! segment := magic:8 version:u32le first:u64le crc:u32le record* zeros
//! name    := first sequence, 20 digits, ".log"
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use roundtable_table::Error;

use crate::disk::{Disk, DiskFile};
use crate::record::{Frame, HEADER_BYTES, Record, frame};

/// Bytes before the first record.
pub(crate) const SEGMENT_HEADER_BYTES: u64 = HEADER_LEN as u64;

const HEADER_LEN: usize = 24;

const MAGIC: [u8; 8] = *b"rt-log\r\n";
/// The format that is written. Version 1 had no image deltas.
const VERSION: u32 = 2;
const VERSIONS: std::ops::RangeInclusive<u32> = 1..=VERSION;
const SUFFIX: &str = ".log";
/// Distance between the remembered offsets of a segment.
const MARK_STRIDE_BYTES: u64 = 64 << 10;
/// Number of latest groups whose offsets are remembered too: readers at the end of the stream read after
/// every write and should not scan records they have already seen.
const LATEST_MARKS_MAX: usize = 64;
const READ_CHUNK_BYTES_MIN: usize = 4 << 10;
const READ_CHUNK_BYTES_MAX: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct LogSegment {
    pub(crate) first: u64,
    disk: Arc<dyn Disk>,
    /// The open file while the segment is written to. Readers of older segments open the file again,
    /// because a day of segments is more than a process may keep open.
    file: Mutex<Option<Arc<dyn DiskFile>>>,
    /// The file already has its final length, so that a sync need not write a new one.
    is_allocated: AtomicBool,
    /// The segment has an older format version: nothing is appended, so that its header stays true.
    is_old: AtomicBool,
    /// End of the synced records, which may be read.
    end: AtomicU64,
    last: AtomicU64,
    last_at_ms: AtomicU64,
    marks: Mutex<SegmentMarks>,
}

/// Ascending (sequence, offset) pairs from which a search for a sequence can start.
#[derive(Debug)]
struct SegmentMarks {
    far: Vec<(u64, u64)>,
    latest: VecDeque<(u64, u64)>,
}

pub(crate) fn name(first: u64) -> String {
    format!("{first:020}{SUFFIX}")
}

pub(crate) fn parse_name(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX).filter(|digits| digits.len() == 20)?.parse().ok()
}

pub(crate) fn header(first: u64) -> Vec<u8> {
    header_of(VERSION, first)
}

fn header_of(version: u32, first: u64) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&version.to_le_bytes());
    out.extend_from_slice(&first.to_le_bytes());
    let crc = crc32fast::hash(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    out
}

impl LogSegment {
    /// A segment whose records end at offset `end`.
    pub(crate) fn new(first: u64, disk: Arc<dyn Disk>, end: u64) -> Self {
        Self {
            first,
            disk,
            file: Mutex::new(None),
            is_allocated: AtomicBool::new(false),
            is_old: AtomicBool::new(false),
            end: AtomicU64::new(end),
            last: AtomicU64::new(first.saturating_sub(1)),
            last_at_ms: AtomicU64::new(0),
            marks: Mutex::new(SegmentMarks {
                far: vec![(first, SEGMENT_HEADER_BYTES)],
                latest: VecDeque::new(),
            }),
        }
    }

    pub(crate) fn name(&self) -> String {
        name(self.first)
    }

    pub(crate) fn is_allocated(&self) -> bool {
        self.is_allocated.load(Ordering::Relaxed)
    }

    pub(crate) fn set_allocated(&self, is_allocated: bool) {
        self.is_allocated.store(is_allocated, Ordering::Relaxed);
    }

    /// Returns whether groups of the current format may be appended.
    pub(crate) fn is_current(&self) -> bool {
        !self.is_old.load(Ordering::Relaxed)
    }

    pub(crate) fn file(&self) -> io::Result<Arc<dyn DiskFile>> {
        let open = self.file.lock().clone();
        open.map_or_else(|| self.disk.open(&self.name()), Ok)
    }

    /// Keeps the segment's file open for writing.
    pub(crate) fn keep_open(&self, file: Arc<dyn DiskFile>) {
        *self.file.lock() = Some(file);
    }

    /// Closes the file of a complete segment, which is never written to again.
    pub(crate) fn close_file(&self) {
        *self.file.lock() = None;
        self.marks.lock().latest = VecDeque::new();
    }

    /// Returns the end of the readable records.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Returns the last sequence in the segment; `first - 1` while it is empty.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// Returns the time of the last record.
    pub(crate) fn last_at_ms(&self) -> u64 {
        self.last_at_ms.load(Ordering::Acquire)
    }

    /// Makes the records up to offset `end` readable.
    pub(crate) fn extend(&self, end: u64, last: u64, at_ms: u64) {
        // In this order, so that the record of a last sequence that someone reads lies before the end that
        // they read next.
        self.end.store(end, Ordering::Release);
        self.last_at_ms.store(at_ms, Ordering::Release);
        self.last.store(last, Ordering::Release);
    }

    /// Remembers the offset of a sequence, if it is far enough from the last remembered one.
    pub(crate) fn mark(&self, sequence: u64, offset: u64) {
        let far = &mut self.marks.lock().far;
        if far.last().is_none_or(|(_, last)| offset >= last + MARK_STRIDE_BYTES) {
            far.push((sequence, offset));
        }
    }

    /// Remembers the offset of the group just written, until enough newer groups have followed.
    pub(crate) fn mark_latest(&self, sequence: u64, offset: u64) {
        self.mark(sequence, offset);
        let latest = &mut self.marks.lock().latest;
        if latest.len() == LATEST_MARKS_MAX {
            latest.pop_front();
        }
        latest.push_back((sequence, offset));
    }

    /// Returns the best known offset at or before the record that holds `sequence`.
    pub(crate) fn seek(&self, sequence: u64) -> u64 {
        let SegmentMarks { far, latest } = &*self.marks.lock();
        let is_before = |(first, _): &(u64, u64)| *first <= sequence;
        let mark = match latest.partition_point(is_before).checked_sub(1) {
            Some(at) => latest.get(at),
            None => far.partition_point(is_before).checked_sub(1).and_then(|at| far.get(at)),
        };
        mark.map_or(SEGMENT_HEADER_BYTES, |mark| mark.1)
    }

    /// Fails if the file is not a segment of a supported format, or not this segment.
    pub(crate) fn check_header(&self) -> Result<(), Error> {
        let mut found = [0; HEADER_LEN];
        let read = self.file().and_then(|file| file.read_at(&mut found, 0));
        let read = read.map_err(|e| io_error("read", &self.name(), &e))?;
        let is_header = |version: &u32| found[..] == header_of(*version, self.first)[..];
        if read == found.len()
            && let Some(version) = VERSIONS.into_iter().find(is_header)
        {
            self.is_old.store(version < VERSION, Ordering::Relaxed);
            return Ok(());
        }
        let version = found.get(8..12).and_then(|bytes| bytes.first_chunk()).copied();
        let detail = match version.map(u32::from_le_bytes) {
            Some(version) if found.starts_with(&MAGIC) && !VERSIONS.contains(&version) => {
                format!(
                    "its format is version {version}, this program reads versions up to {VERSION}"
                )
            }
            _ => String::from("its header is not that of a log segment"),
        };
        Err(Error::Damaged { location: self.name(), detail })
    }

    /// Reads the records between the offsets `offset` and `end`.
    pub(crate) fn records(&self, offset: u64, end: u64) -> io::Result<RecordReader<'_>> {
        let (file, chunk) = (self.file()?, READ_CHUNK_BYTES_MIN);
        Ok(RecordReader { segment: self, file, buffer: BytesMut::new(), offset, end, chunk })
    }
}

pub(crate) fn io_error(action: &str, file: &str, error: &io::Error) -> Error {
    Error::Io { action: format!("cannot {action} {file}"), detail: error.to_string() }
}

/// A record and its offsets in the segment.
#[derive(Debug)]
pub(crate) struct PositionedRecord {
    pub(crate) record: Record,
    pub(crate) offset: u64,
    pub(crate) end: u64,
}

/// The result of reading the next record of a segment.
#[derive(Debug)]
pub(crate) enum RecordStep {
    Record(PositionedRecord),
    /// Unwritten space, or the end of the segment.
    End,
    /// Bytes that are not a valid record.
    Bad,
}

/// Reads the records of a segment, in order.
#[derive(Debug)]
pub(crate) struct RecordReader<'a> {
    segment: &'a LogSegment,
    file: Arc<dyn DiskFile>,
    buffer: BytesMut,
    offset: u64,
    end: u64,
    /// Bytes read at once: few at first, since many callers need one record only.
    chunk: usize,
}

impl RecordReader<'_> {
    /// Returns the offset of the next record.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn step(&mut self) -> Result<RecordStep, Error> {
        loop {
            match frame(&self.buffer) {
                Frame::Record(len) => return self.take(len),
                Frame::Short(needed) => {
                    if !self.fill(needed)? {
                        let torn = self.buffer.iter().any(|byte| *byte != 0);
                        return Ok(if torn { RecordStep::Bad } else { RecordStep::End });
                    }
                }
                Frame::Blank => return Ok(RecordStep::End),
                Frame::Bad => return Ok(RecordStep::Bad),
            }
        }
    }

    fn take(&mut self, len: usize) -> Result<RecordStep, Error> {
        let whole: Bytes = self.buffer.split_to(HEADER_BYTES + len).freeze();
        let offset = self.offset;
        self.offset += whole.len() as u64;
        // The checksum holds, so a payload that does not parse was written by another program.
        let record =
            Record::decode(&whole.slice(HEADER_BYTES..)).ok_or_else(|| Error::Damaged {
                location: format!("{} at byte {offset}", self.segment.name()),
                detail: String::from("a record has an unknown format"),
            })?;
        Ok(RecordStep::Record(PositionedRecord { record, offset, end: self.offset }))
    }

    /// Reads until `needed` bytes are in the buffer; false if the segment ends before.
    fn fill(&mut self, needed: usize) -> Result<bool, Error> {
        let at = self.offset + self.buffer.len() as u64;
        let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX);
        let want = needed.saturating_sub(self.buffer.len()).max(self.chunk).min(left);
        self.chunk = (self.chunk * 4).min(READ_CHUNK_BYTES_MAX);
        let have = self.buffer.len();
        self.buffer.resize(have + want, 0);
        let target = self.buffer.get_mut(have..).unwrap_or_default();
        let read = self
            .file
            .read_at(target, at)
            .map_err(|e| io_error("read", &self.segment.name(), &e))?;
        self.buffer.truncate(have + read);
        Ok(self.buffer.len() >= needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::DirectoryDisk;

    #[test]
    fn readers_at_the_end_start_at_the_newest_groups() {
        let directory = tempfile::tempdir().unwrap();
        let disk = Arc::new(DirectoryDisk::open(directory.path()).unwrap());
        let segment = LogSegment::new(1, disk, SEGMENT_HEADER_BYTES);
        // Groups of two changes in 100 bytes.
        let position = |group: u64| (1 + group * 2, SEGMENT_HEADER_BYTES + group * 100);
        for (sequence, offset) in (0..1_000).map(position) {
            segment.mark_latest(sequence, offset);
        }
        for group in 936..1_000 {
            let (sequence, offset) = position(group);
            assert_eq!([segment.seek(sequence), segment.seek(sequence + 1)], [offset; 2]);
        }
        // Further back, an approximate offset before it is enough.
        let (sequence, offset) = position(935);
        let far = segment.seek(sequence);
        assert!(far <= offset && offset - far < MARK_STRIDE_BYTES + 100, "{far} for {offset}");
        assert_eq!(segment.seek(1), SEGMENT_HEADER_BYTES);
        segment.close_file();
        let (sequence, offset) = position(999);
        assert!(segment.seek(sequence) < offset);
    }
}
