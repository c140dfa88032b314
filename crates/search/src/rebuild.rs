//! Builds an index from the table. Segments of the table are read in parallel, while the changes that happen
//! meanwhile are collected, and applied at the end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable_domain::{DocumentChangeQueue, DocumentKey, DocumentState, SearchDocument};
use roundtable_model::table::{Scan, Table};
use tokio::task::{JoinSet, spawn_blocking};

use crate::error::IndexError;
use crate::handle::IndexHandle;
use crate::writer::DocumentWriter;

/// Segments read at a time from a store that other processes write to. The embedded store is read by one
/// reader, so that requests have the other processors.
const SHARED_SEGMENTS: u32 = 8;
/// Documents that may change during a build. Beyond that it starts again.
const CHANGED_MAX: usize = 1_000_000;
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// A build in progress.
pub(crate) struct Rebuild<'a> {
    pub(crate) table: &'a Table,
    pub(crate) writer: Arc<DocumentWriter>,
    pub(crate) handle: Arc<IndexHandle>,
    pub(crate) queue: &'a DocumentChangeQueue,
    /// Whether the changes are collected; otherwise the stream has them afterwards.
    pub(crate) collects: bool,
}

impl Rebuild<'_> {
    /// Reads the whole table.
    pub(crate) async fn run(self) -> Result<(), IndexError> {
        let segments = if self.collects { SHARED_SEGMENTS } else { 1 };
        let mut scans = JoinSet::new();
        for segment in 0..segments {
            let (table, writer) = (self.table.clone(), Arc::clone(&self.writer));
            let handle = Arc::clone(&self.handle);
            scans.spawn(async move { scan(&table, (segment, segments), writer, &handle).await });
        }
        let mut changed: HashMap<DocumentKey, DocumentState> = HashMap::new();
        let (started, mut reported) = (Instant::now(), Instant::now());
        loop {
            match tokio::time::timeout(LOOK_INTERVAL, scans.join_next()).await {
                Ok(None) => break,
                Ok(Some(done)) => done??,
                Err(_) => {}
            }
            self.collect(&mut changed).await?;
            if reported.elapsed() >= PROGRESS_INTERVAL {
                reported = Instant::now();
                let items = self.handle.status().scanned;
                tracing::info!(
                    items,
                    seconds = started.elapsed().as_secs(),
                    "building the search index"
                );
            }
        }
        self.collect(&mut changed).await?;
        let writer = Arc::clone(&self.writer);
        spawn_blocking(move || writer.apply(changed.values(), true)).await??;
        let items = self.handle.status().scanned;
        tracing::info!(
            items,
            seconds = started.elapsed().as_secs(),
            "read the table for the search index"
        );
        Ok(())
    }

    /// Takes the changes that have arrived.
    async fn collect(
        &self,
        changed: &mut HashMap<DocumentKey, DocumentState>,
    ) -> Result<(), IndexError> {
        let arrived = self.queue.take(Duration::ZERO).await;
        if !self.collects {
            return Ok(());
        }
        changed.extend(arrived.changes.into_iter().map(|it| (it.state.key.clone(), it.state)));
        if arrived.gap.is_some() || changed.len() > CHANGED_MAX {
            return Err(IndexError::Overtaken);
        }
        Ok(())
    }
}

/// Adds the documents of a segment of the table.
async fn scan(
    table: &Table,
    (segment, segments): (u32, u32),
    writer: Arc<DocumentWriter>,
    handle: &IndexHandle,
) -> Result<(), IndexError> {
    let mut next = None;
    loop {
        let mut request = Scan { strong: true, ..Scan::new() }.after(next.take());
        if segments > 1 {
            request = request.segment(segment, segments);
        }
        let page = table.scan(request).await?;
        let items = page.items.len() as u64;
        let states = page.items.iter().filter_map(DocumentState::of);
        let documents: Vec<SearchDocument> = states.filter_map(|state| state.document).collect();
        let writer = Arc::clone(&writer);
        spawn_blocking(move || writer.add(&documents)).await??;
        handle.update(|status| status.scanned += items);
        next = page.next;
        if next.is_none() {
            return Ok(());
        }
    }
}
