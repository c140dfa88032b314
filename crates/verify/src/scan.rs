//! Reads a whole table or index, in parallel segments, without keeping any of it.

use std::sync::Arc;

use roundtable_model::shape::Index;
use roundtable_model::table::{Clock, Item, Scan, Table};
use tokio::task::JoinSet;

use crate::progress::Progress;
use crate::{Failure, Result};

/// How tables are read.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// Into how many parts a scan is split.
    pub(crate) segments: u32,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) progress: Arc<dyn Progress>,
}

/// An item as a scan met it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met<'a> {
    pub(crate) item: &'a Item,
    /// The second at which it was asked for: nothing that expires by then should have been met.
    pub(crate) asked_at: u64,
}

impl Reader {
    /// Hands every item to `visit`, with the state of its segment; gives the states.
    pub(crate) async fn each<S: Send + 'static>(
        &self,
        table: &Table,
        index: Option<Index>,
        start: impl Fn() -> S,
        visit: impl Fn(&mut S, Met<'_>) + Clone + Send + Sync + 'static,
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
            let state = done.map_err(|error| Failure::Interrupted(error.to_string()))?;
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
        visit: impl Fn(&mut S, Met<'_>),
    ) -> Result<S> {
        let strong = index.is_none() || table.store().capabilities().strong_index_reads;
        let name = index.and_then(Index::name).map(str::to_owned);
        let mut next = None;
        loop {
            let asked_at = self.clock.now_seconds();
            let mut scan = Scan { index: name.clone(), strong, ..Scan::new() }.after(next.take());
            if self.segments > 1 {
                scan = scan.segment(segment, self.segments);
            }
            let page = table.scan(scan).await?;
            for item in &page.items {
                visit(&mut state, Met { item, asked_at });
            }
            self.progress.advance(page.items.len() as u64);
            next = page.next;
            if next.is_none() {
                return Ok(state);
            }
            // A backend in this process never waits; others may want to run.
            tokio::task::yield_now().await;
        }
    }
}
