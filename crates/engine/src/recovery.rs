//! Recovery: replays the log and finds its true end.

use std::io;
use std::sync::Arc;

use roundtable_table::{Error, Result};

use crate::log::{LogPosition, damaged, gap};
use crate::record::{self, Frame, HEADER_BYTES, Record, frame};
use crate::segment::{
    self, LogSegment, PositionedRecord, RecordStep, SEGMENT_HEADER_BYTES, io_error,
};

pub(crate) struct Recovery {
    pub(crate) position: LogPosition,
    group_ended: bool,
    /// Number and offset of the last group, in the segment of `position`.
    last_group: Option<(u64, u64)>,
}

impl Recovery {
    pub(crate) const fn from(position: LogPosition) -> Self {
        Self { position, group_ended: true, last_group: None }
    }

    /// Passes all records after the position to `replay`; returns the bytes cut off the end.
    pub(crate) fn run(
        &mut self,
        all: &[Arc<LogSegment>],
        expect_start: bool,
        replay: &mut dyn FnMut(Record, LogPosition) -> Result<()>,
    ) -> Result<u64> {
        let segments: Vec<_> =
            all.iter().filter(|segment| segment.first >= self.position.segment).collect();
        // If the tree ends exactly at the end of a segment, that segment may have been trimmed since.
        let follows = self.position.sequence + 1;
        let starts_right =
            segments.first().is_some_and(|s| [self.position.segment, follows].contains(&s.first));
        if expect_start && !starts_right {
            return Err(Error::Damaged {
                location: segment::name(self.position.segment),
                detail: String::from("this log segment, which continues the tree, is missing"),
            });
        }
        for (nth, segment) in segments.iter().enumerate() {
            let is_last = nth + 1 == segments.len();
            if let Some(cut) = self.replay_segment(segment, is_last, replay)? {
                return Ok(cut);
            }
        }
        Ok(0)
    }

    /// Replays one segment; returns the bytes cut off its tail if it was the last one.
    fn replay_segment(
        &mut self,
        segment: &Arc<LogSegment>,
        is_last: bool,
        replay: &mut dyn FnMut(Record, LogPosition) -> Result<()>,
    ) -> Result<Option<u64>> {
        segment.check_header()?;
        if segment.first != self.position.segment {
            if segment.first != self.position.sequence + 1 {
                return Err(gap(segment, SEGMENT_HEADER_BYTES, segment.first));
            }
            self.position.segment = segment.first;
            self.position.offset = SEGMENT_HEADER_BYTES;
            self.last_group = None;
        }
        let file_len = segment.end();
        let records = segment.records(self.position.offset, file_len);
        let mut records = records.map_err(|e| io_error("open", &segment.name(), &e))?;
        loop {
            match records.step()? {
                RecordStep::Record(placed) => self.replay_record(segment, placed, replay)?,
                RecordStep::End if !is_last => return Ok(None),
                RecordStep::Bad if !is_last => {
                    return Err(damaged(segment, records.offset(), "a record"));
                }
                RecordStep::End | RecordStep::Bad => {
                    return self.resolve_tail(segment, file_len).map(Some);
                }
            }
        }
    }

    fn replay_record(
        &mut self,
        segment: &LogSegment,
        placed: PositionedRecord,
        replay: &mut dyn FnMut(Record, LogPosition) -> Result<()>,
    ) -> Result<()> {
        let PositionedRecord { record, offset, end } = placed;
        if record.first != self.position.sequence + 1 {
            return Err(gap(segment, offset, record.first));
        }
        segment.mark(record.first, offset);
        if self.last_group.is_none_or(|(group, _)| group != record.group) {
            self.last_group = Some((record.group, offset));
        }
        self.group_ended = record.ends_group;
        self.position.offset = end;
        self.position.sequence = record.last();
        self.position.group = record.group;
        segment.extend(segment.end(), record.last(), record.at_ms);
        replay(record, self.position)
    }

    /// Handles the tail of the last segment, which has no further record at the position. Either
    /// nothing follows, or the last group was never synced and may be cut off, or what follows proves
    /// that synced data is damaged.
    fn resolve_tail(&self, segment: &LogSegment, file_len: u64) -> Result<u64> {
        let at = self.position.offset;
        let lost_group = self.position.group + u64::from(self.group_ended);
        let mut tail = vec![0; usize::try_from(file_len.saturating_sub(at)).unwrap_or(usize::MAX)];
        let file = segment.file().map_err(|e| io_error("open", &segment.name(), &e))?;
        segment.keep_open(Arc::clone(&file));
        let read = file.read_at(&mut tail, at);
        read.map_err(|e| io_error("read", &segment.name(), &e))?;
        let written = tail.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        tail.truncate(written);
        if let Some(later) = first_record_beyond(&tail, lost_group) {
            let what = format!("a record before a synced group, found {later} bytes later,");
            return Err(damaged(segment, at, &what));
        }
        let fix =
            |result: io::Result<()>| result.map_err(|e| io_error("repair", &segment.name(), &e));
        if written > 0 {
            fix(file.truncate(at))?;
        }
        // If its sync failed, the last group may be in the page cache only. Writing it again makes
        // its pages dirty again, so that this sync includes them.
        if let Some((_, start)) = self.last_group {
            let mut bytes = vec![0; usize::try_from(at - start).unwrap_or_default()];
            fix(file.read_at(&mut bytes, start).map(|_| ()))?;
            if !self.group_ended {
                // The rest of the group is lost. If it were left open and the next group were torn as
                // well, that group would look like one that came after this one was synced.
                bytes = record::end_group(bytes);
            }
            fix(file.write_at(&bytes, start))?;
            fix(file.sync())?;
        }
        segment.extend(at, self.position.sequence, segment.last_at_ms());
        Ok(written as u64)
    }
}

/// Returns the offset in `tail` of a valid record of a group after `lost_group`. Such a group was begun
/// only after everything before it was synced.
fn first_record_beyond(tail: &[u8], lost_group: u64) -> Option<usize> {
    let group_at = |at: usize| {
        let group = tail.get(at + HEADER_BYTES..)?.first_chunk()?;
        Some(u64::from_le_bytes(*group))
    };
    // A group's number is cheap to read and hardly ever plausible by chance, so checksums are
    // computed only where it is.
    let plausible = |group: u64| group > lost_group && group - lost_group < 1 << 32;
    (1..tail.len()).find(|&at| {
        group_at(at).is_some_and(plausible)
            && matches!(frame(tail.get(at..).unwrap_or_default()), Frame::Record(_))
    })
}
