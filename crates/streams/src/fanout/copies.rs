//! Writes copies. The next readers are read while earlier ones are written to, and only a few pages
//! are in flight at once, so that other writers hardly wait.

use std::sync::Arc;

use futures::future::try_join_all;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use roundtable_model::entities::FeedItem;
use roundtable_model::shape::Index;
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Item, ItemTemplate};
use roundtable_model::{Entity, Shards, UserId};
use tokio::task::JoinSet;

use super::pending::CopyPass;
use super::readers::{ReaderPage, ReaderPosition};
use super::{FanOut, FanOutSource};
use crate::{ProcessingError, Result};

/// Approximate copies that are handed to the store together.
const READER_PAGE_COPIES: usize = 1_000;
/// Pages of readers that are written at the same time. Pages in flight together share one disk
/// sync, and the next are built meanwhile; but other writers wait for them, too, a few milliseconds
/// for each page.
pub(super) const PAGES_AT_ONCE: usize = 16;
/// The same for one source if the store is remote.
const REMOTE_PAGES_AT_ONCE: usize = 2;
/// Batches at the same time if each is a request over the network.
const REQUESTS_AT_ONCE: usize = 8;

/// An activity encoded as a feed item, except for its reader. Encoding it once saves most of the
/// cost of a copy.
struct FeedItemTemplate {
    activity: String,
    stencil: ItemTemplate,
}

impl FeedItemTemplate {
    fn new(item: &FeedItem) -> Result<Self> {
        let own = [Index::Main.partition_attribute(), FeedItem::FOLLOWER_ID.name()];
        let stencil = ItemTemplate::new(item.item(), &own);
        let stencil = stencil.ok_or_else(|| {
            ProcessingError::unprocessable("the feed item has no attribute for its reader")
        })?;
        Ok(Self { activity: item.activity_id.to_string(), stencil })
    }

    fn for_reader(&self, reader: &ReaderTexts) -> Item {
        self.stencil.render(&[&reader.partition, &reader.id])
    }
}

/// The attributes that the copies of one reader have in common.
struct ReaderTexts {
    partition: String,
    id: String,
}

impl ReaderTexts {
    fn new(reader: &UserId) -> Self {
        Self { partition: FeedItem::partition(reader), id: reader.to_string() }
    }
}

/// The next page of readers to read, and the copies left in this page of the job.
struct ReaderLookahead {
    /// `None` if there are no more readers.
    next: Option<ReaderPosition>,
    left: usize,
}

struct WrittenPage {
    copies: usize,
    /// The position of the remaining readers.
    next: Option<ReaderPosition>,
}

impl FanOut {
    /// Copies activities to their readers until the budget is used up. Returns the position of the
    /// remaining readers.
    pub(super) async fn copy_to_readers(
        &self,
        source: &FanOutSource,
        pass: &CopyPass,
        budget: &mut usize,
    ) -> Result<Option<ReaderPosition>> {
        if pass.copies.is_empty() {
            return Ok(None);
        }
        let shards = self.reader_shards(source).await?;
        let copies = pass.copies.iter().map(FeedItemTemplate::new).collect::<Result<_>>()?;
        let lookahead = ReaderLookahead { next: Some(pass.position.clone()), left: *budget };
        let mut written = self.write_pages(source, copies, shards, lookahead);
        let mut last = None;
        while let Some(page) = written.try_next().await? {
            *budget = budget.saturating_sub(page.copies);
            last = page.next;
        }
        Ok(last)
    }

    /// Writes the readers page by page.
    fn write_pages<'a>(
        &'a self,
        source: &'a FanOutSource,
        copies: Arc<[FeedItemTemplate]>,
        shards: Shards,
        lookahead: ReaderLookahead,
    ) -> BoxStream<'a, Result<WrittenPage>> {
        let each = copies.len();
        let pages = stream::try_unfold(lookahead, move |lookahead| {
            self.next_readers(source, each, shards, lookahead)
        });
        let at_once = if self.is_embedded() { PAGES_AT_ONCE } else { REMOTE_PAGES_AT_ONCE };
        // Building copies takes about as long as reading readers, so both run at the same time.
        let write =
            move |readers| spawn_scoped(self.clone().write_page(Arc::clone(&copies), readers));
        pages.map_ok(write).try_buffered(at_once).boxed()
    }

    async fn next_readers(
        &self,
        source: &FanOutSource,
        copies_each: usize,
        shards: Shards,
        lookahead: ReaderLookahead,
    ) -> Result<Option<(ReaderPage, ReaderLookahead)>> {
        let ReaderLookahead { next: Some(position), left: 1.. } = &lookahead else {
            return Ok(None);
        };
        // Reading a page does not yield by itself; let other tasks run before each page.
        tokio::task::yield_now().await;
        let limit = READER_PAGE_COPIES.min(lookahead.left).div_ceil(copies_each);
        let readers = self.read_page(source, shards, limit, position).await?;
        let copies = readers.ids.len() * copies_each;
        let left = lookahead.left.saturating_sub(copies);
        let lookahead = ReaderLookahead { next: readers.next.clone(), left };
        Ok(Some((readers, lookahead)))
    }

    /// Copies activities to a page of readers and trims feeds that have become too long.
    async fn write_page(
        self,
        copies: Arc<[FeedItemTemplate]>,
        readers: ReaderPage,
    ) -> Result<WrittenPage> {
        let _permit = self.page_permits.acquire().await.map_err(ProcessingError::unprocessable)?;
        let mut to_trim = Vec::new();
        let mut puts = Vec::with_capacity(readers.ids.len() * copies.len());
        for reader in readers.ids {
            let (texts, mut should_trim) = (ReaderTexts::new(&reader), false);
            for copy in &*copies {
                should_trim |= self.should_check_length(&copy.activity, &texts.id);
                puts.push(BatchWrite::Put(copy.for_reader(&texts)));
            }
            if should_trim {
                to_trim.push(reader);
            }
        }
        let page = WrittenPage { copies: puts.len(), next: readers.next };
        self.write_batches(puts).await?;
        self.metrics.add_copies(page.copies);
        self.trim_feeds(to_trim).await?;
        Ok(page)
    }

    /// Applies puts and deletes, each independently.
    pub(super) async fn write_batches(&self, writes: Vec<BatchWrite>) -> Result<()> {
        let table = self.context.core().table();
        let mut writes = writes.into_iter().peekable();
        let mut batches: Vec<Vec<BatchWrite>> = Vec::new();
        while writes.peek().is_some() {
            batches.push(writes.by_ref().take(BATCH_WRITE_ITEMS_MAX).collect());
        }
        let batches = batches.into_iter().map(|batch| table.batch_write(batch));
        if self.is_embedded() {
            try_join_all(batches).await?;
        } else {
            let batches = stream::iter(batches).buffer_unordered(REQUESTS_AT_ONCE);
            batches.try_for_each(|_| async { Ok(()) }).await?;
        }
        Ok(())
    }

    /// Returns whether the store is embedded: writes then wait only for the disk.
    fn is_embedded(&self) -> bool {
        self.context.store().capabilities().single_process
    }
}

/// Runs `work` in its own task, which is cancelled when the returned future is dropped.
async fn spawn_scoped<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let mut task = JoinSet::new();
    task.spawn(work);
    let done = task.join_next().await;
    done.ok_or_else(|| ProcessingError::unprocessable("the task was not spawned"))?
        .map_err(ProcessingError::unprocessable)?
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    #[test]
    fn a_copy_equals_the_encoded_entity() {
        let copy = FeedItemTemplate::new(&samples::feed_item()).unwrap();
        for reader in ["ana", "01K00000000000000000000000"] {
            let item = FeedItem { follower_id: reader.parse().unwrap(), ..samples::feed_item() };
            assert_eq!(copy.for_reader(&ReaderTexts::new(&item.follower_id)), item.item());
        }
    }
}
