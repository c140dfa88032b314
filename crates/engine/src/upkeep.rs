//! The upkeep thread: prepares the log's next file, archives complete ones, trims old ones, sweeps
//! expired items and forgotten tokens, and settles what was written once it is quiet.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use roundtable_table::{Error, Order, Result};
use tokio::sync::oneshot;

use crate::catalog::{self, Entry};
use crate::disk::{Directory, Disk};
use crate::group::{Request, read_token};
use crate::keys::{self, KeyRange};
use crate::record::Row;
use crate::segment::{Segment, io_error};
use crate::shared::Shared;

/// How many items one request to the writer removes.
const SWEEP_BATCH: usize = 500;
/// How many batches one pass does, so that a large job does not keep the others waiting.
const BATCHES_PER_PASS: usize = 200;
/// How many tokens one pass looks at.
const TOKENS_PER_PASS: usize = 20_000;
const COPY_CHUNK_BYTES: usize = 1 << 20;
/// How long nothing must be written before the active run goes to the tree.
const QUIET: Duration = Duration::from_secs(5);

/// Runs until the engine closes. Holds the engine's request channel only while it sweeps, so that
/// the writer can end.
pub(crate) fn run(shared: &Shared, requests: &Weak<Sender<Request>>) {
    let mut archived = 0;
    let mut quiet = Quiet { sequence: shared.view.visible(), since: Instant::now() };
    while !shared.is_closing() {
        let mut failed = false;
        if shared.stopped().is_none() {
            // One must not wait for the other: items expire also while the archive is out of reach.
            let kept = keep_up(shared, &mut archived);
            let tidies = shared.options.tidies;
            let swept = if tidies { sweep(shared, requests, BATCHES_PER_PASS) } else { Ok(0) };
            let swept = swept.map(|_| ());
            let settled = quiet.settle(shared, requests);
            for error in [kept, swept, settled].into_iter().filter_map(Result::err) {
                tracing::warn!(%error, "upkeep failed and will be tried again");
                failed = true;
            }
        }
        let nothing_to_do = || failed || !shared.log.wants_spare();
        let idle = || !shared.is_closing() && nothing_to_do();
        shared.upkeep.wait_while(idle, shared.options.upkeep_interval);
    }
}

/// Since when nothing was written.
struct Quiet {
    sequence: u64,
    since: Instant,
}

impl Quiet {
    /// Hands what was written to the checkpointer once nothing more comes, so that reads have less
    /// to look through and a restart nothing to replay.
    fn settle(&mut self, shared: &Shared, requests: &Weak<Sender<Request>>) -> Result<()> {
        let sequence = shared.view.visible();
        if sequence != self.sequence {
            *self = Self { sequence, since: Instant::now() };
        } else if self.since.elapsed() >= QUIET && shared.view.memory().0 > 0 {
            ask(requests, Request::Freeze)?;
        }
        Ok(())
    }
}

fn keep_up(shared: &Shared, archived: &mut u64) -> Result<()> {
    // What frees space comes before what takes it, and neither waits for the other's success.
    let tidies = shared.options.tidies;
    let trimmed = if tidies { archive_and_trim(shared, archived) } else { Ok(()) };
    if shared.log.wants_spare() {
        shared.log.prepare_spare().map_err(|e| io_error("prepare", "the next log segment", &e))?;
    }
    trimmed
}

fn archive_and_trim(shared: &Shared, archived: &mut u64) -> Result<()> {
    let mut through = shared.trimmable();
    if let Some(path) = &shared.options.archive {
        archive(shared, path, archived)?;
        through = through.min(*archived);
    }
    let retention_ms = u64::try_from(shared.options.retention.as_millis()).unwrap_or(u64::MAX);
    let cutoff_ms = shared.clock.now_ms().saturating_sub(retention_ms);
    shared.log.trim(through, cutoff_ms).map_err(|e| io_error("trim", "the log", &e))?;
    Ok(())
}

/// Copies complete segments that the archive does not have yet.
fn archive(shared: &Shared, path: &Path, archived: &mut u64) -> Result<()> {
    let directory = Directory::open(path).map_err(|e| io_error("open", "the archive", &e))?;
    let (_pin, segments) = shared.log.pin();
    let complete = segments.len().saturating_sub(1);
    let from = *archived;
    for segment in segments.iter().take(complete).filter(|segment| segment.first > from) {
        refuse_other_history(segment, &directory)?;
        copy_segment(segment, segment.end(), &directory)?;
        *archived = segment.last();
    }
    Ok(())
}

/// A restored store goes on under sequences that its origin may have archived already: mixed in one
/// directory, the two could restore to something that never was.
fn refuse_other_history(segment: &Segment, archive: &Directory) -> Result<()> {
    let name = segment.name();
    let fault = |e: std::io::Error| io_error("compare", &name, &e);
    let copy = match archive.open(&name) {
        Ok(copy) => copy,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault(error)),
    };
    // Records carry times and checksums, so two histories differ in their last bytes; where one
    // file has zeros behind them, the other's end counts.
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
        place: format!("the archive's {name}"),
        detail: String::from("it holds another history; give this store an archive of its own"),
    })
}

/// Copies a segment up to `end`, whole or not at all.
pub(crate) fn copy_segment(segment: &Segment, end: u64, to: &dyn Disk) -> Result<()> {
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

/// Removes expired items and tokens, and what deleted tables left, in up to `batches` batches of
/// each; gives the number of items.
pub(crate) fn sweep(
    shared: &Shared,
    requests: &Weak<Sender<Request>>,
    batches: usize,
) -> Result<usize> {
    let tables: Vec<Arc<Entry>> = shared.catalog.read().tables().cloned().collect();
    let now = shared.clock.now_seconds();
    let mut removed = 0;
    for entry in tables.iter().filter(|entry| entry.definition.ttl.is_some()) {
        for _ in 0..batches {
            let range = keys::expired_range(entry.number, now);
            let keys = entries(shared, &range, SWEEP_BATCH)?;
            if keys.is_empty() {
                break;
            }
            let request = |reply| Request::Expire(Arc::clone(entry), keys, reply);
            let count = ask(requests, request)?;
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

/// The keys of the items behind the first index entries of a range.
fn entries(shared: &Shared, range: &KeyRange, limit: usize) -> Result<Vec<Bytes>> {
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

fn sweep_tokens(shared: &Shared, requests: &Weak<Sender<Request>>) -> Result<()> {
    let over = expired_tokens(shared)?;
    for batch in over.chunks(SWEEP_BATCH) {
        ask(requests, |reply| Request::ForgetTokens(batch.to_vec(), reply))?;
    }
    Ok(())
}

/// The keys of tokens whose time is over, among the next few: each pass goes on where the one
/// before ended.
fn expired_tokens(shared: &Shared) -> Result<Vec<Bytes>> {
    let now_ms = shared.clock.now_ms();
    let mut range = KeyRange::of_prefix(catalog::all_tokens());
    let mut place = shared.token_sweep.lock();
    if range.low < *place && *place < range.high {
        range.low.clone_from(&place);
    }
    place.clear();
    let snapshot = shared.view.snapshot()?;
    let mut cursor = snapshot.walk(&range, Order::Ascending, SWEEP_BATCH)?;
    let mut over = Vec::new();
    let mut looked = 0;
    while let Some(entry) = cursor.step()? {
        looked += 1;
        if looked > TOKENS_PER_PASS {
            place.extend_from_slice(entry.key());
            break;
        }
        if read_token(entry.value()).0 <= now_ms {
            over.push(Bytes::copy_from_slice(entry.key()));
        }
    }
    Ok(over)
}

/// Takes away what deleted tables left.
fn reclaim(shared: &Shared, requests: &Weak<Sender<Request>>, batches: usize) -> Result<()> {
    let gone: Vec<u16> = shared.catalog.read().unreclaimed().collect();
    let mut left = batches;
    for number in gone {
        for range in keys::everything_of(number) {
            loop {
                let rows = leftovers(shared, &range)?;
                if rows.is_empty() {
                    break;
                }
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                ask(requests, |reply| Request::Rows(rows, reply))?;
            }
        }
        ask(requests, |reply| Request::Rows(vec![catalog::reclaimed_row(number)], reply))?;
    }
    Ok(())
}

/// Rows that delete the first few entries of a range.
fn leftovers(shared: &Shared, range: &KeyRange) -> Result<Vec<Row>> {
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

/// Sends a request and waits for its answer; not for async code.
pub(crate) fn ask<T>(
    requests: &Weak<Sender<Request>>,
    request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
) -> Result<T> {
    let closed = || Error::Unavailable { detail: String::from("the engine is closing") };
    let (reply, answer) = oneshot::channel();
    requests.upgrade().ok_or_else(closed)?.send(request(reply)).map_err(|_| closed())?;
    // `blocking_recv` would panic on an async thread, where callers of `sweep` may well be.
    futures::executor::block_on(answer).map_err(|_| closed())?
}
