//! The upkeep thread: prepares the log's next file, archives complete ones, trims old ones, sweeps
//! expired items and forgotten tokens.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};

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
const COPY_CHUNK_BYTES: usize = 1 << 20;

/// Runs until the engine closes. Holds the engine's request channel only while it sweeps, so that
/// the writer can end.
pub(crate) fn run(shared: &Shared, requests: &Weak<Sender<Request>>) {
    let mut archived = 0;
    while !shared.is_closing() {
        let mut failed = false;
        if shared.stopped().is_none() {
            // One must not wait for the other: items expire also while the archive is out of reach.
            let kept = keep_up(shared, &mut archived);
            let swept = sweep(shared, requests).map(|_| ());
            for error in [kept, swept].into_iter().filter_map(Result::err) {
                tracing::warn!(%error, "upkeep failed and will be tried again");
                failed = true;
            }
        }
        let nothing_to_do = || failed || !shared.log.wants_spare();
        let idle = || !shared.is_closing() && nothing_to_do();
        shared.upkeep.wait_while(idle, shared.options.upkeep_interval);
    }
}

fn keep_up(shared: &Shared, archived: &mut u64) -> Result<()> {
    if shared.log.wants_spare() {
        shared.log.prepare_spare().map_err(|e| io_error("prepare", "the next log segment", &e))?;
    }
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
        copy_segment(segment, segment.end(), &directory)?;
        *archived = segment.last();
    }
    Ok(())
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
    let partial = format!("{name}.partial");
    let copy = to.create(&partial, 0).map_err(fault("create"))?;
    let mut buffer = vec![0; COPY_CHUNK_BYTES];
    let mut at = 0;
    while at < end {
        let want = COPY_CHUNK_BYTES.min(usize::try_from(end - at).unwrap_or(COPY_CHUNK_BYTES));
        let chunk = buffer.get_mut(..want).unwrap_or_default();
        let read = segment.file.read_at(chunk, at).map_err(fault("read"))?;
        if read == 0 {
            break;
        }
        copy.write_at(chunk.get(..read).unwrap_or_default(), at).map_err(fault("copy"))?;
        at += read as u64;
    }
    copy.sync().map_err(fault("copy"))?;
    to.rename(&partial, &name).map_err(fault("copy"))
}

/// Removes every expired item and token; gives the number of items.
pub(crate) fn sweep(shared: &Shared, requests: &Weak<Sender<Request>>) -> Result<usize> {
    let tables: Vec<Arc<Entry>> = shared.catalog.read().tables().cloned().collect();
    let now = shared.clock.now_seconds();
    let mut removed = 0;
    for entry in tables.iter().filter(|entry| entry.definition.ttl.is_some()) {
        loop {
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
    reclaim(shared, requests)?;
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
    let now_ms = shared.clock.now_ms();
    let over: Vec<Row> = {
        let snapshot = shared.view.snapshot()?;
        let range = KeyRange::of_prefix(catalog::all_tokens());
        let mut cursor = snapshot.walk(&range, Order::Ascending, SWEEP_BATCH)?;
        let mut over = Vec::new();
        while let Some(entry) = cursor.step()? {
            if read_token(entry.value()).0 <= now_ms {
                over.push((Bytes::copy_from_slice(entry.key()), None));
            }
        }
        over
    };
    for batch in over.chunks(SWEEP_BATCH) {
        ask(requests, |reply| Request::Rows(batch.to_vec(), reply))?;
    }
    Ok(())
}

/// Takes away what deleted tables left.
fn reclaim(shared: &Shared, requests: &Weak<Sender<Request>>) -> Result<()> {
    let gone: Vec<u16> = shared.catalog.read().unreclaimed().collect();
    for number in gone {
        for range in keys::everything_of(number) {
            loop {
                let rows: Vec<Row> = {
                    let snapshot = shared.view.snapshot()?;
                    let mut cursor = snapshot.walk(&range, Order::Ascending, SWEEP_BATCH)?;
                    let mut rows = Vec::new();
                    while let Some(entry) = cursor.step()? {
                        rows.push((Bytes::copy_from_slice(entry.key()), None));
                        if rows.len() == SWEEP_BATCH {
                            break;
                        }
                    }
                    rows
                };
                if rows.is_empty() {
                    break;
                }
                ask(requests, |reply| Request::Rows(rows, reply))?;
            }
        }
        ask(requests, |reply| Request::Rows(vec![catalog::reclaimed_row(number)], reply))?;
    }
    Ok(())
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
