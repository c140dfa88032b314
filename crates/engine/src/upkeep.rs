//! The upkeep thread: prepares the log's next file, archives complete ones, trims old ones, sweeps
//! expired items and tokens, and freezes the active run when no writes come.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use roundtable_table::{Error, Order, Result};
use tokio::sync::oneshot;

use crate::archive::{self, ArchivePass};
use crate::catalog::{self, TableEntry};
use crate::group::read_token;
use crate::keys::{self, KeyRange};
use crate::pauses::Obstacle;
use crate::record::EngineRow;
use crate::request::{QueuedRequest, WriterRequest};
use crate::segment::io_error;
use crate::shared::SharedState;
use crate::writer::WriterQueue;

/// Items removed by one request to the writer.
const SWEEP_BATCH: usize = 500;
/// Batches per pass, so that a large job does not delay the others.
const BATCHES_PER_PASS: usize = 200;
/// Tokens read by one pass.
const TOKENS_PER_PASS: usize = 20_000;
/// Time without writes after which the active run is frozen.
const QUIET_BEFORE_FREEZE: Duration = Duration::from_secs(5);

/// Runs until the engine closes. Holds the engine's request channel only while it sweeps, so that
/// the writer thread can end.
pub(crate) fn run(shared: &SharedState, requests: &Weak<WriterQueue>) {
    let mut quiet = QuietPeriod { sequence: shared.view.visible(), since: Instant::now() };
    while !shared.is_closing() {
        let mut failures = pass(shared, requests);
        if shared.stopped().is_none() {
            failures.extend(quiet.freeze_when_quiet(shared, requests).err());
        }
        for error in &failures {
            tracing::warn!(%error, "upkeep failed; it will be retried");
        }
        let nothing_to_do = || !failures.is_empty() || !wants_spare(shared);
        let idle = || !shared.is_closing() && nothing_to_do();
        shared.upkeep.wait_while(idle, shared.options.upkeep_interval);
    }
    if shared.options.cleans_up && shared.stopped().is_none() {
        // Nothing is written any more.
        if let Err(error) = archive::archive(shared, ArchivePass::Last) {
            tracing::warn!(%error, "the end of the log is not in the archive");
        }
    }
}

/// Checks the space, retries paused writes, maintains the log and sweeps. Returns what failed.
pub(crate) fn pass(shared: &SharedState, requests: &Weak<WriterQueue>) -> Vec<Error> {
    shared.check_space();
    if shared.stopped().is_some() {
        return Vec::new();
    }
    if shared.pauses.has(Obstacle::Log) {
        // Writes go on as soon as this succeeds. If not, the reason is known already.
        let _ = send_request(requests, WriterRequest::Retry);
    }
    // Independent of each other: items are swept even while the archive is unreachable.
    let maintained = maintain_log(shared);
    let tidies = shared.options.cleans_up && !shared.pauses.has(Obstacle::Log);
    let swept = if tidies { sweep(shared, requests, BATCHES_PER_PASS) } else { Ok(0) };
    [maintained, swept.map(|_| ())].into_iter().filter_map(Result::err).collect()
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
        requests: &Weak<WriterQueue>,
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
    // Archived segments may be trimmed, also while the archive cannot take more: it may be on the same disk.
    let archived = archive::archive(shared, ArchivePass::WhenDue);
    // The log is kept for longer than its consumers need only while there is space.
    let is_short = shared.pauses.any();
    let retention = if is_short { Duration::ZERO } else { shared.options.retention };
    let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let cutoff_ms = shared.clock.now_ms().saturating_sub(retention_ms);
    shared.log.trim(shared.trimmable(), cutoff_ms).map_err(|e| io_error("trim", "the log", &e))?;
    archived
}

/// Removes expired items, expired tokens and the data of deleted tables, in up to `batches` batches of
/// each; returns the number of items.
pub(crate) fn sweep(
    shared: &SharedState,
    requests: &Weak<WriterQueue>,
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

fn sweep_tokens(shared: &SharedState, requests: &Weak<WriterQueue>) -> Result<()> {
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
fn reclaim(shared: &SharedState, requests: &Weak<WriterQueue>, batches: usize) -> Result<()> {
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
    requests: &Weak<WriterQueue>,
    request: impl FnOnce(oneshot::Sender<Result<T>>) -> WriterRequest,
) -> Result<T> {
    let closed = || Error::Unavailable { detail: String::from("the engine is closing") };
    let (reply, answer) = oneshot::channel();
    let queued = QueuedRequest { request: request(reply), is_essential: true };
    let requests = requests.upgrade().ok_or_else(closed)?;
    if !requests.send(queued) {
        return Err(closed());
    }
    // Only a stepped writer has something left to do here.
    while requests.step() {}
    // The engine may close while this waits.
    drop(requests);
    // `blocking_recv` would panic on an async thread, from which `sweep` may be called.
    futures::executor::block_on(answer).map_err(|_| closed())?
}
