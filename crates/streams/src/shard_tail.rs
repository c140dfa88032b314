//! Reads a shard once for all processors: DynamoDB supports at most two readers of a shard.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::TYPE;
use roundtable_model::table::{
    self, Change, Condition, Sequence, StreamRead, StreamStart, Table, attribute,
};

const READ_CHANGES_MAX: usize = 500;
/// Pages cached for the other processors. Processors further behind read for themselves.
const PAGES_MAX: usize = 8;

/// The end of a shard, shared by the processors that read it.
#[derive(Debug)]
pub(crate) struct ShardTail {
    table: Table,
    shard: String,
    /// Selects the changes that some processor wants. Most others are copies in feeds.
    wanted: Condition,
    pages: Mutex<VecDeque<CachedPage>>,
    /// The furthest position read.
    head: Mutex<Option<Sequence>>,
    /// Held by the reader that waits at the end, so that the other readers there wait for its page
    /// instead of reading it, too.
    wait_lock: tokio::sync::Mutex<()>,
    /// Held by a reader of changes known to exist, which must not wait for readers at the end.
    catch_up_lock: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
pub(crate) struct TailPage {
    pub(crate) changes: Vec<Change>,
    /// The number of other changes.
    pub(crate) unwanted: usize,
    /// The position after the last change examined.
    pub(crate) next: Option<Sequence>,
    pub(crate) ended: bool,
}

#[derive(Debug)]
struct CachedPage {
    /// The position it was read from; `None` for the oldest change.
    after: Option<Sequence>,
    /// Changes before this one may be missing from the page. For a read from the oldest change,
    /// this is the first change in the page.
    from: Option<Sequence>,
    page: Arc<TailPage>,
}

impl ShardTail {
    pub(crate) fn new(
        table: Table,
        shard: String,
        wanted: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let wanted: BTreeSet<_> = wanted.into_iter().collect();
        Self {
            table,
            shard,
            wanted: attribute(TYPE).one_of(wanted),
            pages: Mutex::default(),
            head: Mutex::default(),
            wait_lock: tokio::sync::Mutex::default(),
            catch_up_lock: tokio::sync::Mutex::default(),
        }
    }

    /// Returns a page with the changes that follow `after`, possibly after some that do not. Waits
    /// for the first change if there is none.
    pub(crate) async fn read(
        &self,
        after: Option<&Sequence>,
        wait: Duration,
    ) -> table::Result<Arc<TailPage>> {
        if let Some(page) = self.cached(after) {
            return Ok(page);
        }
        if after < self.head.lock().as_ref() {
            let _guard = self.catch_up_lock.lock().await;
            let page = self.cached_or_read(after, Duration::ZERO).await?;
            // DynamoDB may briefly return an empty page although there are changes.
            if page.ended || page.next.as_ref() > after {
                return Ok(page);
            }
        }
        self.advance_head(after);
        let _guard = self.wait_lock.lock().await;
        self.cached_or_read(after, wait).await
    }

    async fn cached_or_read(
        &self,
        after: Option<&Sequence>,
        wait: Duration,
    ) -> table::Result<Arc<TailPage>> {
        if let Some(page) = self.cached(after) {
            return Ok(page);
        }
        let start = after.cloned().map_or(StreamStart::Oldest, StreamStart::After);
        let read = StreamRead::new(&self.shard, start).limit(READ_CHANGES_MAX).wait(wait);
        let read = read.filter(self.wanted.clone());
        let page = self.table.stream_read(read).await?;
        let first = page.changes.first().map(|change| change.sequence.clone());
        let unwanted = page.evaluated - page.changes.len();
        let (changes, next, ended) = (page.changes, page.next, page.ended);
        let page = Arc::new(TailPage { changes, unwanted, next, ended });
        self.advance_head(page.next.as_ref());
        if page.next.as_ref() > after {
            let mut pages = self.pages.lock();
            let (after, page) = (after.cloned(), Arc::clone(&page));
            pages.push_front(CachedPage { from: after.clone().or(first), after, page });
            pages.truncate(PAGES_MAX);
        }
        Ok(page)
    }

    fn advance_head(&self, to: Option<&Sequence>) {
        let mut head = self.head.lock();
        if head.as_ref() < to {
            *head = to.cloned();
        }
    }

    /// Returns the number of cached changes after `after`.
    pub(crate) fn count_after(&self, after: Option<&Sequence>) -> usize {
        let pages = self.pages.lock();
        let changes = pages.iter().flat_map(|cached_page| &cached_page.page.changes);
        let behind = changes.map(|change| &change.sequence).filter(|at| Some(*at) > after);
        behind.collect::<BTreeSet<_>>().len()
    }

    fn cached(&self, after: Option<&Sequence>) -> Option<Arc<TailPage>> {
        let pages = self.pages.lock();
        let begins = |cached_page: &CachedPage| match after {
            Some(_) => cached_page.from.is_some() && cached_page.from.as_ref() <= after,
            None => cached_page.after.is_none(),
        };
        let holds = |cached_page: &&CachedPage| {
            begins(cached_page) && after < cached_page.page.next.as_ref()
        };
        pages.iter().find(holds).map(|cached_page| Arc::clone(&cached_page.page))
    }
}

#[cfg(test)]
mod tests {
    use roundtable_conformance::Reference;
    use roundtable_model::table::{KeyDefinition, ManualClock, Put, Store, TableDefinition, item};

    use super::*;

    async fn table(items: usize) -> Table {
        let store = Store::new(Reference::new(Arc::new(ManualClock::at_ms(0))));
        let things = TableDefinition::new("things", KeyDefinition::texts("PK", "SK")).with_stream();
        let table = store.create_table(things).await.unwrap();
        for number in 0..items {
            let item = item! { "PK" => "thing", "SK" => format!("{number}"), "type" => "Thing" };
            table.put(Put::new(item)).await.unwrap();
        }
        table
    }

    #[tokio::test]
    async fn a_reader_that_is_behind_does_not_wait_for_one_at_the_end() {
        let items = READ_CHANGES_MAX * 10;
        let tail = ShardTail::new(table(items).await, "all".into(), ["Thing"]);
        let end = Sequence::from(items as u64);
        let long = Duration::from_hours(1);
        let mut waiting = std::pin::pin!(tail.read(Some(&end), long));
        let mut behind = std::pin::pin!(async {
            let (mut after, mut read) = (None, 0);
            while after.as_ref() < Some(&end) {
                let page = tail.read(after.as_ref(), long).await.unwrap();
                read += page.changes.len();
                after = page.next.clone();
            }
            read
        });
        match futures::future::select(waiting.as_mut(), behind.as_mut()).await {
            futures::future::Either::Right((read, _)) => assert_eq!(read, items),
            futures::future::Either::Left(_) => panic!("there is nothing new"),
        }
    }

    #[tokio::test]
    async fn a_page_is_cached_for_the_other_readers() {
        let table = table(3).await;
        let tail = ShardTail::new(table.clone(), "all".into(), ["Thing"]);
        let first = tail.read(None, Duration::ZERO).await.unwrap();
        table
            .put(Put::new(item! { "PK" => "thing", "SK" => "later", "type" => "Thing" }))
            .await
            .unwrap();
        let again = tail.read(Some(&Sequence::from(1)), Duration::ZERO).await.unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(tail.count_after(Some(&Sequence::from(1))), 2);
        let later = tail.read(first.next.as_ref(), Duration::ZERO).await.unwrap();
        assert_eq!(later.changes.len(), 1);
    }

    #[tokio::test]
    async fn unwanted_changes_are_counted_and_not_cached() {
        let table = table(3).await;
        table
            .put(Put::new(item! { "PK" => "thing", "SK" => "other", "type" => "Other" }))
            .await
            .unwrap();
        let tail = ShardTail::new(table, "all".into(), ["Other"]);
        let page = tail.read(None, Duration::ZERO).await.unwrap();
        assert_eq!((page.changes.len(), page.unwanted), (1, 3));
        assert_eq!(tail.count_after(None), 1);
        assert!(Arc::ptr_eq(&page, &tail.read(None, Duration::ZERO).await.unwrap()));
    }

    /// A reader that has missed part of the stream must not receive later changes as if nothing
    /// were missing.
    #[tokio::test]
    async fn a_page_from_the_oldest_change_is_not_given_to_a_reader_behind_it() {
        let tail = ShardTail::new(table(3).await, "all".into(), ["Thing"]);
        let page = tail.read(None, Duration::ZERO).await.unwrap();
        let first = page.changes[0].sequence.clone();
        assert!(tail.cached(Some(&first)).is_some() && tail.cached(None).is_some());
        assert!(tail.cached(Some(&Sequence::from(0))).is_none());
    }
}
