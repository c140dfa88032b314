//! Writing copies: the next readers are looked up while those before them are written to, and never more
//! than a few pages of them are under way, whosever they are, so that others who write hardly wait.

use std::sync::Arc;

use futures::future::try_join_all;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use roundtable_model::entities::FeedItem;
use roundtable_model::shape::Index;
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Item, Stencil};
use roundtable_model::{Entity, Shards};
use tokio::task::JoinSet;

use super::pending::Pass;
use super::readers::{Reached, Readers};
use super::{FanOut, Home};
use crate::Failure;

/// Copies that are handed to the store together, about.
const COPIES_TOGETHER: usize = 1_000;
/// Pages of readers that are written to at the same time. What is on its way to the disk together, the
/// disk is waited for once, and the next are made while those before are written; but others who write wait
/// for them as well, a few milliseconds for each page.
pub(super) const PAGES_AT_ONCE: usize = 16;
/// The same of one home where the store is not in this process.
const PAGES_AWAY: usize = 2;
/// Batches at the same time where each is a request over a network.
const REQUESTS_AT_ONCE: usize = 8;

/// An activity as it is copied, but for the reader. Everything else is encoded once, which takes longer
/// than all the rest of making a copy.
struct Copy {
    activity: String,
    stencil: Stencil,
}

impl Copy {
    fn of(item: &FeedItem) -> Result<Self, Failure> {
        let own = [Index::Main.partition_attribute(), FeedItem::FOLLOWER_ID.name()];
        let stencil = Stencil::new(item.item(), &own);
        let stencil = stencil.ok_or_else(|| Failure::broken("a copy that says not whose it is"))?;
        Ok(Self { activity: item.activity_id.to_string(), stencil })
    }

    fn for_reader(&self, reader: &str) -> Item {
        self.stencil.cut(&[&["FEED#", reader].concat(), reader])
    }
}

/// Where the next page of readers is.
struct Ahead {
    /// `None` when there are no others.
    next: Option<Reached>,
    left: usize,
}

/// Readers that have been written to.
struct Page {
    copies: usize,
    /// Where the others are.
    next: Option<Reached>,
}

impl FanOut {
    /// Copies activities to their readers, to about `left` of them; where the others are.
    pub(super) async fn copy(
        &self,
        home: &Home,
        pass: &Pass,
        left: &mut usize,
    ) -> Result<Option<Reached>, Failure> {
        if pass.copies.is_empty() {
            return Ok(None);
        }
        let spread = self.spread(home).await?;
        let copies = pass.copies.iter().map(Copy::of).collect::<Result<_, Failure>>()?;
        let ahead = Ahead { next: Some(pass.reached.clone()), left: *left };
        let mut written = self.written(home, copies, spread, ahead);
        let mut last = None;
        while let Some(page) = written.try_next().await? {
            *left = left.saturating_sub(page.copies);
            last = page.next;
        }
        Ok(last)
    }

    /// Readers page by page, as they are written to.
    fn written<'a>(
        &'a self,
        home: &'a Home,
        copies: Arc<[Copy]>,
        spread: Shards,
        ahead: Ahead,
    ) -> BoxStream<'a, Result<Page, Failure>> {
        let each = copies.len();
        let pages =
            stream::try_unfold(ahead, move |ahead| self.next_readers(home, each, spread, ahead));
        let at_once = if self.is_embedded() { PAGES_AT_ONCE } else { PAGES_AWAY };
        // Making copies takes about as long as looking up readers: both go on at the same time.
        let write = move |readers| aside(self.clone().write(Arc::clone(&copies), readers));
        pages.map_ok(write).try_buffered(at_once).boxed()
    }

    async fn next_readers(
        &self,
        home: &Home,
        copies_each: usize,
        spread: Shards,
        ahead: Ahead,
    ) -> Result<Option<(Readers, Ahead)>, Failure> {
        let Ahead { next: Some(reached), left: 1.. } = &ahead else { return Ok(None) };
        // Readers are looked up in one go: others have their turn before each page of them.
        tokio::task::yield_now().await;
        let together = COPIES_TOGETHER.min(ahead.left).div_ceil(copies_each);
        let readers = self.readers(home, spread, together, reached).await?;
        let copies = readers.ids.len() * copies_each;
        let left = ahead.left.saturating_sub(copies);
        let ahead = Ahead { next: readers.next.clone(), left };
        Ok(Some((readers, ahead)))
    }

    /// Copies activities to some readers, and looks whether their feeds have become too long.
    async fn write(self, copies: Arc<[Copy]>, readers: Readers) -> Result<Page, Failure> {
        let _turn = self.turns.acquire().await.map_err(Failure::broken)?;
        let mut long = Vec::new();
        let mut puts = Vec::with_capacity(readers.ids.len() * copies.len());
        for reader in readers.ids {
            let mut is_looked_at = false;
            for copy in &*copies {
                is_looked_at |= self.looks_at(&copy.activity, &reader);
                puts.push(BatchWrite::Put(copy.for_reader(&reader)));
            }
            if is_looked_at {
                long.push(reader.parse()?);
            }
        }
        let page = Page { copies: puts.len(), next: readers.next };
        self.write_batches(puts).await?;
        self.tally.copied(page.copies);
        self.trim_all(long).await?;
        Ok(page)
    }

    /// Puts and takes away, each for itself.
    pub(super) async fn write_batches(&self, writes: Vec<BatchWrite>) -> Result<(), Failure> {
        let table = self.ground.core().table();
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

    /// Whether the store is in this process: what is handed to it then waits for the disk only.
    fn is_embedded(&self) -> bool {
        self.ground.store().capabilities().one_process
    }
}

/// Does something in a task of its own, which ends when nobody waits for it any more.
async fn aside<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let mut task = JoinSet::new();
    task.spawn(work);
    let done = task.join_next().await;
    done.ok_or_else(|| Failure::broken("a task that was never begun"))?.map_err(Failure::broken)?
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;

    use super::*;

    #[test]
    fn a_copy_is_what_the_entity_would_be_written_as() {
        let copy = Copy::of(&samples::feed_item()).unwrap();
        for reader in ["ana", "01K00000000000000000000000"] {
            let item = FeedItem { follower_id: reader.parse().unwrap(), ..samples::feed_item() };
            assert_eq!(copy.for_reader(reader), item.item());
        }
    }
}
