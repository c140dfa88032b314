//! The upkeep thread: prepares the log's next file, archives complete ones, trims old ones, sweeps
//! expired items and tokens, and freezes the active run when no writes come.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use roundtable_table::{Error, Order, Result};
use tokio::sync::oneshot;

use crate::catalog::{self, TableEntry};
use crate::disk::{DirectoryDisk, Disk};
use crate::group::{QueuedRequest, WriterRequest, read_token};
use crate::keys::{self, KeyRange};
use crate::pauses::Obstacle;
use crate::record::EngineRow;
use crate::segment::{LogSegment, io_error};
use crate::shared::SharedState;

/// Items removed by one request to the writer.
const SWEEP_BATCH: usize = 500;
/// Batches per pass, so that a large job does not delay the others.
const BATCHES_PER_PASS: usize = 200;
/// Tokens read by one pass.
const TOKENS_PER_PASS: usize = 20_000;
const COPY_CHUNK_BYTES: usize = 1 << 20;
/// Time without writes after which the active run is frozen.
const QUIET_BEFORE_FREEZE: Duration = Duration::from_secs(5);

/// Runs until the engine closes. Holds the engine's request channel only while it sweeps, so that
/// the writer thread can end.
pub(crate) fn run(shared: &SharedState, requests: &Weak<Sender<QueuedRequest>>) {
    let mut quiet = QuietPeriod { sequence: shared.view.visible(), since: Instant::now() };
    while !shared.is_closing() {
        let mut failed = false;
        shared.check_space();
        if shared.stopped().is_none() {
            if shared.pauses.has(Obstacle::Log) {
                // Writes go on as soon as this succeeds. If not, the reason is known already.
                let _ = send_request(requests, WriterRequest::Retry);
            }
            // Independent of each other: items are swept even while the archive is unreachable.
            let maintained = maintain_log(shared);
            let tidies = shared.options.cleans_up && !shared.pauses.has(Obstacle::Log);
            let swept = if tidies { sweep(shared, requests, BATCHES_PER_PASS) } else { Ok(0) };
            let swept = swept.map(|_| ());
            let frozen = quiet.freeze_when_quiet(shared, requests);
            for error in [maintained, swept, frozen].into_iter().filter_map(Result::err) {
                tracing::warn!(%error, "upkeep failed; it will be retried");
                failed = true;
            }
        }
        let nothing_to_do = || failed || !wants_spare(shared);
        let idle = || !shared.is_closing() && nothing_to_do();
        shared.upkeep.wait_while(idle, shared.options.upkeep_interval);
    }
}

/// Tracks how long nothing has been written.
struct QuietPeriod {
    sequence: u64,
    since: Instant,
}

impl QuietPeriod {
    /// Freezes the active run once writes have stopped, so that reads search fewer runs and a restart
    /// has nothing to replay.
    fn freeze_when_quiet(
        &mut self,
        shared: &SharedState,
        requests: &Weak<Sender<QueuedRequest>>,
    ) -> Result<()> {
        let sequence = shared.view.visible();
        if sequence != self.sequence {
            *self = Self { sequence, since: Instant::now() };
        } else if self.since.elapsed() >= QUIET_BEFORE_FREEZE && shared.view.memory().0 > 0 {
            send_request(requests, WriterRequest::Freeze)?;
        }
        Ok(())
    }
}

fn wants_spare(shared: &SharedState) -> bool {
    shared.log.needs_spare() && shared.has_room_for_spare()
}

fn maintain_log(shared: &SharedState) -> Result<()> {
    // Freeing space comes before taking it, and a failure of one does not stop the other.
    let tidies = shared.options.cleans_up;
    let trimmed = if tidies { archive_and_trim(shared) } else { Ok(()) };
    if wants_spare(shared) {
        shared.log.prepare_spare().map_err(|e| io_error("prepare", "the next log segment", &e))?;
    }
    trimmed
}

fn archive_and_trim(shared: &SharedState) -> Result<()> {
    if let Some(path) = &shared.options.archive {
        archive(shared, path)?;
    }
    // The log is kept for longer than its consumers need only while there is space.
    let is_short = shared.pauses.any();
    let retention = if is_short { Duration::ZERO } else { shared.options.retention };
    let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let cutoff_ms = shared.clock.now_ms().saturating_sub(retention_ms);
    shared.log.trim(shared.trimmable(), cutoff_ms).map_err(|e| io_error("trim", "the log", &e))?;
    Ok(())
}

fn archive(shared: &SharedState, path: &Path) -> Result<()> {
    let directory = DirectoryDisk::open(path).map_err(|e| io_error("open", "the archive", &e))?;
    let (_pin, segments) = shared.log.pin();
    let complete = segments.len().saturating_sub(1);
    let from = shared.archived.load(Ordering::SeqCst);
    for segment in segments.iter().take(complete).filter(|segment| segment.first > from) {
        check_same_history(segment, &directory)?;
        copy_segment(segment, segment.end(), &directory)?;
        shared.archived.store(segment.last(), Ordering::SeqCst);
    }
    Ok(())
}

/// Fails if the archive has this segment with other content. A restored store continues under sequences
/// that its origin may have archived already; mixed in one directory, the two could restore to a state
/// that never existed.
fn check_same_history(segment: &LogSegment, archive: &DirectoryDisk) -> Result<()> {
    let name = segment.name();
    let fault = |e: std::io::Error| io_error("compare", &name, &e);
    let copy = match archive.open(&name) {
        Ok(copy) => copy,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault(error)),
    };
    // Records have times and checksums, so two histories differ in their last bytes. If one file
    // has trailing zeros, the other's end counts.
    let (mut ours, mut theirs) = ([0; 4096], [0; 4096]);
    let end = copy.len().map_err(fault)?.min(segment.end());
    let at = end.saturating_sub(ours.len() as u64);
    segment.file().and_then(|file| file.read_at(&mut ours, at)).map_err(fault)?;
    copy.read_at(&mut theirs, at).map_err(fault)?;
    let compared = usize::try_from(end - at).unwrap_or(ours.len());
    if ours.get(..compared) == theirs.get(..compared) {
        return Ok(());
    }
    Err(Error::Damaged {
        location: format!("the archive's {name}"),
        detail: String::from(
            "it belongs to another store; give this store its own archive directory",
        ),
    })
}

/// Copies a segment up to `end`, atomically.
pub(crate) fn copy_segment(segment: &LogSegment, end: u64, to: &dyn Disk) -> Result<()> {
    let name = segment.name();
    let fault = |action: &'static str| {
        let name = name.clone();
        move |error: std::io::Error| io_error(action, &name, &error)
    };
    if to.list().map_err(fault("list the directory of"))?.contains(&name) {
        return Ok(());
    }
    let file = segment.file().map_err(fault("open"))?;
    let partial = format!("{name}.partial");
    let copy = to.create(&partial, 0).map_err(fault("create"))?;
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
    copy.sync().map_err(fault("copy"))?;
    to.rename(&partial, &name).map_err(fault("copy"))
}

/// Removes expired items, expired tokens and the data of deleted tables, in up to `batches` batches of
/// each; returns the number of items.
pub(crate) fn sweep(
    shared: &SharedState,
    requests: &Weak<Sender<QueuedRequest>>,
    batches: usize,
) -> Result<usize> {
    let tables: Vec<Arc<TableEntry>> = shared.catalog.read().tables().cloned().collect();
    let now = shared.clock.now_seconds();
    let mut removed = 0;
    for entry in tables.iter().filter(|entry| entry.definition.ttl.is_some()) {
        for _ in 0..batches {
            let range = keys::expired_range(entry.number, now);
            let keys = entries(shared, &range, SWEEP_BATCH)?;
            if keys.is_empty() {
                break;
            }
            let request = |reply| WriterRequest::Expire(Arc::clone(entry), keys, reply);
            let count = send_request(requests, request)?;
            removed += count;
            if count == 0 {
                break;
            }
        }
    }
    shared.metrics.expired.fetch_add(removed as u64, Ordering::Relaxed);
    sweep_tokens(shared, requests)?;
    reclaim(shared, requests, batches)?;
    Ok(removed)
}

/// Returns the item keys of the first index entries of a range.
fn entries(shared: &SharedState, range: &KeyRange, limit: usize) -> Result<Vec<Bytes>> {
    let snapshot = shared.view.snapshot()?;
    let mut cursor = snapshot.walk(range, Order::Ascending, limit)?;
    let mut found = Vec::new();
    while let Some(entry) = cursor.step()? {
        found.extend(keys::item_key_of_entry(entry.key(), entry.value()));
        if found.len() == limit {
            break;
        }
    }
    Ok(found)
}

fn sweep_tokens(shared: &SharedState, requests: &Weak<Sender<QueuedRequest>>) -> Result<()> {
    let expired = expired_tokens(shared)?;
    for batch in expired.chunks(SWEEP_BATCH) {
        send_request(requests, |reply| WriterRequest::ForgetTokens(batch.to_vec(), reply))?;
    }
    Ok(())
}

/// Returns the keys of expired tokens among the next few; each pass continues where the previous one
/// ended.
fn expired_tokens(shared: &SharedState) -> Result<Vec<Bytes>> {
    let now_ms = shared.clock.now_ms();
    let mut range = KeyRange::of_prefix(catalog::all_tokens());
    let mut resume_at = shared.token_sweep.lock();
    if range.low < *resume_at && *resume_at < range.high {
        range.low.clone_from(&resume_at);
    }
    resume_at.clear();
    let snapshot = shared.view.snapshot()?;
    let mut cursor = snapshot.walk(&range, Order::Ascending, SWEEP_BATCH)?;
    let mut expired = Vec::new();
    let mut read = 0;
    while let Some(entry) = cursor.step()? {
        read += 1;
        if read > TOKENS_PER_PASS {
            resume_at.extend_from_slice(entry.key());
            break;
        }
        if read_token(entry.value()).0 <= now_ms {
            expired.push(Bytes::copy_from_slice(entry.key()));
        }
    }
    Ok(expired)
}

/// Removes the data of deleted tables.
fn reclaim(
    shared: &SharedState,
    requests: &Weak<Sender<QueuedRequest>>,
    batches: usize,
) -> Result<()> {
    let deleted: Vec<u16> = shared.catalog.read().unreclaimed().collect();
    let mut left = batches;
    for number in deleted {
        for range in keys::table_ranges(number) {
            loop {
                let rows = deletion_rows(shared, &range)?;
                if rows.is_empty() {
                    break;
                }
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                send_request(requests, |reply| WriterRequest::Rows(rows, reply))?;
            }
        }
        send_request(requests, |reply| {
            WriterRequest::Rows(vec![catalog::reclaimed_row(number)], reply)
        })?;
    }
    Ok(())
}

/// Returns rows that delete the first few entries of a range.
fn deletion_rows(shared: &SharedState, range: &KeyRange) -> Result<Vec<EngineRow>> {
    let snapshot = shared.view.snapshot()?;
    let mut cursor = snapshot.walk(range, Order::Ascending, SWEEP_BATCH)?;
    let mut rows = Vec::new();
    while rows.len() < SWEEP_BATCH
        && let Some(entry) = cursor.step()?
    {
        rows.push((Bytes::copy_from_slice(entry.key()), None));
    }
    Ok(rows)
}

/// Sends a request and blocks until its reply.
pub(crate) fn send_request<T>(
    requests: &Weak<Sender<QueuedRequest>>,
    request: impl FnOnce(oneshot::Sender<Result<T>>) -> WriterRequest,
) -> Result<T> {
    let closed = || Error::Unavailable { detail: String::from("the engine is closing") };
    let (reply, answer) = oneshot::channel();
    let queued = QueuedRequest { request: request(reply), is_essential: true };
    requests.upgrade().ok_or_else(closed)?.send(queued).map_err(|_| closed())?;
    // `blocking_recv` would panic on an async thread, from which `sweep` may be called.
    futures::executor::block_on(answer).map_err(|_| closed())?
}
