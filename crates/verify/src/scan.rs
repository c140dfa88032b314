//! Reads a whole table or index in parallel segments, without keeping items in memory.

use std::sync::Arc;

use roundtable_model::shape::Index;
use roundtable_model::table::{Clock, Item, Scan, Table};
use tokio::task::JoinSet;

use crate::progress::ProgressReporter;
use crate::{Result, VerifyError};

/// Scans tables with a clock and a progress reporter.
#[derive(Clone, Debug)]
pub(crate) struct TableReader {
    pub(crate) segments: u32,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) progress: Arc<dyn ProgressReporter>,
}

/// An item that a scan returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScannedItem<'a> {
    pub(crate) item: &'a Item,
    /// The second at which it was requested: items expired by then must not be returned.
    pub(crate) requested_at: u64,
}

impl TableReader {
    /// Passes every item to `visit` with the state of its segment; returns the states.
    pub(crate) async fn scan<S: Send + 'static>(
        &self,
        table: &Table,
        index: Option<Index>,
        start: impl Fn() -> S,
        visit: impl Fn(&mut S, ScannedItem<'_>) + Clone + Send + Sync + 'static,
    ) -> Result<Vec<S>> {
        let mut segments = JoinSet::new();
        for segment in 0..self.segments {
            let (reader, table, state, visit) =
                (self.clone(), table.clone(), start(), visit.clone());
            segments
                .spawn(async move { reader.segment(&table, index, segment, state, visit).await });
        }
        let mut states = Vec::new();
        while let Some(done) = segments.join_next().await {
            let state = done.map_err(|error| VerifyError::Interrupted(error.to_string()))?;
            states.push(state?);
        }
        Ok(states)
    }

    async fn segment<S>(
        &self,
        table: &Table,
        index: Option<Index>,
        segment: u32,
        mut state: S,
        visit: impl Fn(&mut S, ScannedItem<'_>),
    ) -> Result<S> {
        let strong = index.is_none() || table.store().capabilities().strong_index_reads;
        let name = index.and_then(Index::name).map(str::to_owned);
        let mut next = None;
        loop {
            let requested_at = self.clock.now_seconds();
            let mut request =
                Scan { index: name.clone(), strong, ..Scan::new() }.after(next.take());
            if self.segments > 1 {
                request = request.segment(segment, self.segments);
            }
            let page = table.scan(request).await?;
            for item in &page.items {
                visit(&mut state, ScannedItem { item, requested_at });
            }
            self.progress.advance(page.items.len() as u64);
            next = page.next;
            if next.is_none() {
                return Ok(state);
            }
            // A backend in this process never waits, so let other tasks run.
            tokio::task::yield_now().await;
        }
    }
}
