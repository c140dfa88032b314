//! Reading a shard once for all processors: DynamoDB serves two readers of a shard well, and no more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::table::{self, Sequence, StreamPage, StreamRead, StreamStart, Table};

/// Changes of one read.
const READ_CHANGES_MAX: usize = 500;
/// Pages kept for the other processors. Those further behind than this read for themselves.
const PAGES_MAX: usize = 8;

/// The end of a shard that processors are at.
#[derive(Debug)]
pub(crate) struct Tail {
    table: Table,
    shard: String,
    pages: Mutex<VecDeque<Kept>>,
    /// Held by whoever reads, so that the others wait for the page instead of reading it, too.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Kept {
    after: Option<Sequence>,
    page: Arc<StreamPage>,
}

impl Tail {
    pub(crate) fn new(table: Table, shard: String) -> Self {
        Self { table, shard, pages: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// A page that holds what follows `after`, possibly behind something that does not; waits for
    /// the first change when there is none.
    pub(crate) async fn read(
        &self,
        after: Option<&Sequence>,
        wait: Duration,
    ) -> table::Result<Arc<StreamPage>> {
        if let Some(page) = self.kept(after) {
            return Ok(page);
        }
        let _reading = self.reading.lock().await;
        if let Some(page) = self.kept(after) {
            return Ok(page);
        }
        let start = after.cloned().map_or(StreamStart::Oldest, StreamStart::After);
        let shard = self.shard.clone();
        let read = StreamRead { shard, start, limit: READ_CHANGES_MAX, wait };
        let page = Arc::new(self.table.stream_read(read).await?);
        if !page.changes.is_empty() {
            let mut pages = self.pages.lock();
            pages.push_front(Kept { after: after.cloned(), page: Arc::clone(&page) });
            pages.truncate(PAGES_MAX);
        }
        Ok(page)
    }

    /// How many changes behind `after` have been read already.
    pub(crate) fn known_after(&self, after: Option<&Sequence>) -> usize {
        let pages = self.pages.lock();
        let changes = pages.iter().flat_map(|kept| &kept.page.changes);
        let behind = changes.map(|change| &change.sequence).filter(|at| Some(*at) > after);
        behind.collect::<std::collections::BTreeSet<_>>().len()
    }

    fn kept(&self, after: Option<&Sequence>) -> Option<Arc<StreamPage>> {
        let pages = self.pages.lock();
        let holds = |kept: &&Kept| kept.after.as_ref() <= after && after < kept.page.next.as_ref();
        pages.iter().find(holds).map(|kept| Arc::clone(&kept.page))
    }
}
