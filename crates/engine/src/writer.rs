//! The writer thread: takes all queued requests as a group, evaluates them in order, logs, syncs and
//! publishes the group, then replies.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roundtable_table::Error;

use crate::checkpoint;
use crate::group::CommitGroup;
use crate::log::{AppendError, Appender, EncodedGroup};
use crate::pauses::Obstacle;
use crate::request::QueuedRequest;
use crate::shared::SharedState;

/// A group takes no further requests once its records have this size.
const GROUP_BYTES_MAX: usize = 4 << 20;
const GROUP_REQUESTS_MAX: usize = 4096;
/// The free space is checked after so many bytes of the log, and at each upkeep.
const SPACE_CHECK_BYTES: usize = 4 << 20;
/// Longest pause between groups while the checkpoint catches up.
const PAUSE_MAX: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<SharedState>,
    appender: Appender,
    requests: Receiver<QueuedRequest>,
    /// Growth of the log since a run was last frozen.
    unapplied_log_bytes: u64,
    /// Growth of the log since the free space was last checked.
    unchecked_bytes: usize,
    /// The number of writes in the last group.
    expected: usize,
    buffer: Vec<u8>,
}

/// The way to the writer. Without a thread of its own, the writer is here.
#[derive(Debug)]
pub(crate) struct WriterQueue {
    sender: Sender<QueuedRequest>,
    stepped: Option<Mutex<Writer>>,
}

impl WriterQueue {
    /// Queues a request; returns whether the writer still takes some.
    pub(crate) fn send(&self, request: QueuedRequest) -> bool {
        self.sender.send(request).is_ok()
    }

    /// Commits the queued requests as a group, if there is no thread that does. Returns whether there
    /// were any.
    pub(crate) fn step(&self) -> bool {
        let Some(writer) = &self.stepped else { return false };
        let mut writer = writer.lock();
        let first = writer.requests.try_recv();
        first.map(|first| writer.serve(first)).is_ok()
    }
}

impl Writer {
    /// Returns a writer that a thread can run, or the way to one that is stepped.
    pub(crate) fn open(
        shared: Arc<SharedState>,
        appender: Appender,
    ) -> (WriterQueue, Option<Self>) {
        let (sender, requests) = mpsc::channel();
        let is_stepped = shared.options.is_stepped;
        let writer = Self {
            shared,
            appender,
            requests,
            unapplied_log_bytes: 0,
            unchecked_bytes: 0,
            expected: 0,
            buffer: Vec::new(),
        };
        if is_stepped {
            (WriterQueue { sender, stepped: Some(Mutex::new(writer)) }, None)
        } else {
            (WriterQueue { sender, stepped: None }, Some(writer))
        }
    }

    /// Serves requests until every sender is gone.
    pub(crate) fn run(mut self) {
        while let Ok(first) = self.requests.recv() {
            self.serve(first);
        }
    }

    /// Commits a request and all that are queued behind it.
    fn serve(&mut self, first: QueuedRequest) {
        let started = Instant::now();
        let shared = Arc::clone(&self.shared);
        let Some(first) = first.admit(&shared) else { return };
        let catalog = Arc::clone(&shared.catalog.read());
        let position = self.appender.position();
        let at_ms = shared.clock.now_ms();
        let (number, next) = (position.group + 1, position.sequence + 1);
        let mut group = CommitGroup::new(&shared.view, catalog, number, next, at_ms, self.expected);
        group.add(first, at_ms);
        while group.bytes() < GROUP_BYTES_MAX && group.len() < GROUP_REQUESTS_MAX {
            match self.requests.try_recv() {
                Ok(request) => {
                    if let Some(request) = request.admit(&shared) {
                        group.add(request, shared.clock.now_ms());
                    }
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        // The next group is often as large as this one.
        self.expected = group.writes.len();
        let mut buffer = std::mem::take(&mut self.buffer);
        self.commit(group, &mut buffer);
        // One huge group should not keep its memory forever.
        buffer.shrink_to(GROUP_BYTES_MAX * 2);
        self.buffer = buffer;
        self.make_room(started);
    }

    fn commit(&mut self, mut group: CommitGroup<'_>, buffer: &mut Vec<u8>) {
        let shared = Arc::clone(&self.shared);
        if let Some(reason) = shared.stopped() {
            return group.fail(&Error::WritesStopped { reason, is_attempted: false });
        }
        if let Some(first) = group.first() {
            group.encode(buffer);
            let number = self.appender.position().group + 1;
            let (last, at_ms) = (group.last(), group.at_ms());
            let encoded = EncodedGroup { number, first, last, at_ms, bytes: buffer };
            let syncing = Instant::now();
            match self.appender.append(&encoded) {
                Ok(()) => shared.pauses.clear(Obstacle::Log),
                Err(AppendError::Temporary(error)) => {
                    let reason = format!("the log could not be written ({error})");
                    shared.pauses.set(Obstacle::Log, reason.clone());
                    return group.fail(&Error::WritesPaused { reason });
                }
                Err(AppendError::Lasting(error)) => {
                    let reason = format!("the log could not be written ({error})");
                    shared.stop(reason.clone());
                    return group.fail(&Error::WritesStopped { reason, is_attempted: true });
                }
            }
            shared.metrics.sync.record(syncing.elapsed());
            shared.metrics.group(group.len(), buffer.len());
            self.unapplied_log_bytes += buffer.len() as u64;
            self.unchecked_bytes += buffer.len();
            if self.unchecked_bytes >= SPACE_CHECK_BYTES {
                self.unchecked_bytes = 0;
                shared.check_space();
            }
            if !group.rows.is_empty() {
                *shared.catalog.write() = Arc::clone(&group.catalog);
                shared.holds.apply(&group.rows);
            }
            shared.view.publish(&group.writes, group.last());
            shared.recent.add(group.take_records());
            shared.published.send_replace(group.last());
        }
        if group.freeze {
            self.unapplied_log_bytes = 0;
            shared.view.freeze(self.appender.position());
            shared.work.notify();
        }
        group.send_replies();
    }

    /// Freezes a full run, and slows down while the tree is behind, in proportion to the backlog, so
    /// that no caller ever waits long.
    fn make_room(&mut self, started: Instant) {
        let shared = Arc::clone(&self.shared);
        let limit = shared.options.memtable_bytes;
        // Few keys written often fill the log but not the run. The run must be frozen regardless, or
        // the log could never be trimmed and would take ever longer to replay.
        let log_is_long = self.unapplied_log_bytes >= (limit as u64).saturating_mul(4);
        if shared.view.memory().0 >= limit || log_is_long {
            self.unapplied_log_bytes = 0;
            shared.view.freeze(self.appender.position());
            shared.work.notify();
        }
        let (soft, hard) = (limit.saturating_mul(2), limit.saturating_mul(4));
        let pending = shared.view.pending_bytes();
        if pending <= soft || shared.stopped().is_some() {
            return;
        }
        if shared.options.is_stepped {
            // No thread would end the wait.
            checkpoint::step(&shared);
            return;
        }
        let stalled = Instant::now();
        if pending < hard {
            #[expect(clippy::cast_precision_loss, reason = "a ratio")]
            let fill = (pending - soft) as f64 / (hard - soft) as f64;
            // Twice the group's own time when half full, more towards the hard limit.
            let pause = started.elapsed().mul_f64(2.0 * fill / (1.0 - fill).max(0.02));
            shared.room.wait_while(|| shared.view.pending_bytes() > soft, pause.min(PAUSE_MAX));
        } else {
            // Once the engine closes, no checkpointer may be left to make room.
            // And while the tree cannot be written, further requests are refused instead.
            let waits = || {
                let ends = shared.stopped().is_some() || shared.is_closing();
                !ends && !shared.pauses.has(Obstacle::Tree)
            };
            while shared.view.pending_bytes() >= hard && waits() {
                shared.room.wait_while(|| shared.view.pending_bytes() >= hard, PAUSE_MAX);
            }
        }
        shared.metrics.stall.record(stalled.elapsed());
    }
}
