//! Reading a shard once for all processors: DynamoDB serves two readers of a shard well, and no more.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::TYPE;
use roundtable_model::table::{
    self, Change, Condition, Sequence, StreamRead, StreamStart, Table, attribute,
};

/// Changes of one read.
const READ_CHANGES_MAX: usize = 500;
/// Pages kept for the other processors. Those further behind than this read for themselves.
const PAGES_MAX: usize = 8;

/// The end of a shard that processors are at.
#[derive(Debug)]
pub(crate) struct Tail {
    table: Table,
    shard: String,
    /// The changes that any of the processors wants. Most others are copies in feeds.
    wanted: Condition,
    pages: Mutex<VecDeque<Kept>>,
    /// How far anybody has read.
    head: Mutex<Option<Sequence>>,
    /// Held by whoever waits at the end, so that the others there wait for its page instead of reading
    /// it, too.
    waiting: tokio::sync::Mutex<()>,
    /// Held by whoever reads what is known to be there: they must not wait for those who wait.
    catching_up: tokio::sync::Mutex<()>,
}

/// What was read at once.
#[derive(Debug)]
pub(crate) struct Page {
    /// Changes of entities that some processor wants.
    pub(crate) changes: Vec<Change>,
    /// How many others there were.
    pub(crate) unwanted: usize,
    /// Everything up to here was looked at.
    pub(crate) next: Option<Sequence>,
    /// Whether the shard was read to its end.
    pub(crate) ended: bool,
}

#[derive(Debug)]
struct Kept {
    /// Where it was read from: nowhere, from the oldest change there was.
    after: Option<Sequence>,
    /// What was before this may be missing from it. Where it was read from nowhere, that is the first
    /// change in it.
    from: Option<Sequence>,
    page: Arc<Page>,
}

impl Tail {
    /// The end of this shard, for those who want changes of these entities.
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
            waiting: tokio::sync::Mutex::default(),
            catching_up: tokio::sync::Mutex::default(),
        }
    }

    /// A page that holds what follows `after`, possibly behind something that does not; waits for
    /// the first change when there is none.
    pub(crate) async fn read(
        &self,
        after: Option<&Sequence>,
        wait: Duration,
    ) -> table::Result<Arc<Page>> {
        if let Some(page) = self.kept(after) {
            return Ok(page);
        }
        if after < self.head.lock().as_ref() {
            let _catching_up = self.catching_up.lock().await;
            let page = self.kept_or_read(after, Duration::ZERO).await?;
            // DynamoDB may show nothing for a moment where something is.
            if page.ended || page.next.as_ref() > after {
                return Ok(page);
            }
        }
        self.reached(after);
        let _waiting = self.waiting.lock().await;
        self.kept_or_read(after, wait).await
    }

    async fn kept_or_read(
        &self,
        after: Option<&Sequence>,
        wait: Duration,
    ) -> table::Result<Arc<Page>> {
        if let Some(page) = self.kept(after) {
            return Ok(page);
        }
        let start = after.cloned().map_or(StreamStart::Oldest, StreamStart::After);
        let read = StreamRead::new(&self.shard, start).limit(READ_CHANGES_MAX).wait(wait);
        let read = read.filter(self.wanted.clone());
        let page = self.table.stream_read(read).await?;
        let first = page.changes.first().map(|change| change.sequence.clone());
        let unwanted = page.evaluated - page.changes.len();
        let (changes, next, ended) = (page.changes, page.next, page.ended);
        let page = Arc::new(Page { changes, unwanted, next, ended });
        self.reached(page.next.as_ref());
        if page.next.as_ref() > after {
            let mut pages = self.pages.lock();
            let (after, page) = (after.cloned(), Arc::clone(&page));
            pages.push_front(Kept { from: after.clone().or(first), after, page });
            pages.truncate(PAGES_MAX);
        }
        Ok(page)
    }

    /// Somebody has read as far as this.
    fn reached(&self, to: Option<&Sequence>) {
        let mut head = self.head.lock();
        if head.as_ref() < to {
            *head = to.cloned();
        }
    }

    /// How many changes behind `after` that somebody wants have been read already.
    pub(crate) fn known_after(&self, after: Option<&Sequence>) -> usize {
        let pages = self.pages.lock();
        let changes = pages.iter().flat_map(|kept| &kept.page.changes);
        let behind = changes.map(|change| &change.sequence).filter(|at| Some(*at) > after);
        behind.collect::<BTreeSet<_>>().len()
    }

    fn kept(&self, after: Option<&Sequence>) -> Option<Arc<Page>> {
        let pages = self.pages.lock();
        let begins = |kept: &Kept| match after {
            Some(_) => kept.from.is_some() && kept.from.as_ref() <= after,
            None => kept.after.is_none(),
        };
        let holds = |kept: &&Kept| begins(kept) && after < kept.page.next.as_ref();
        pages.iter().find(holds).map(|kept| Arc::clone(&kept.page))
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

    /// Those who are behind do not wait for those who wait for something new.
    #[tokio::test]
    async fn who_is_behind_reads_on_beside_who_waits() {
        let items = READ_CHANGES_MAX * 10;
        let tail = Tail::new(table(items).await, "all".into(), ["Thing"]);
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
    async fn a_page_that_was_read_is_kept_for_the_others() {
        let table = table(3).await;
        let tail = Tail::new(table.clone(), "all".into(), ["Thing"]);
        let first = tail.read(None, Duration::ZERO).await.unwrap();
        table
            .put(Put::new(item! { "PK" => "thing", "SK" => "later", "type" => "Thing" }))
            .await
            .unwrap();
        let again = tail.read(Some(&Sequence::from(1)), Duration::ZERO).await.unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(tail.known_after(Some(&Sequence::from(1))), 2);
        let later = tail.read(first.next.as_ref(), Duration::ZERO).await.unwrap();
        assert_eq!(later.changes.len(), 1);
    }

    /// What nobody wants is passed over once for all.
    #[tokio::test]
    async fn what_nobody_wants_is_not_kept() {
        let table = table(3).await;
        table
            .put(Put::new(item! { "PK" => "thing", "SK" => "other", "type" => "Other" }))
            .await
            .unwrap();
        let tail = Tail::new(table, "all".into(), ["Other"]);
        let page = tail.read(None, Duration::ZERO).await.unwrap();
        assert_eq!((page.changes.len(), page.unwanted), (1, 3));
        assert_eq!(tail.known_after(None), 1);
        assert!(Arc::ptr_eq(&page, &tail.read(None, Duration::ZERO).await.unwrap()));
    }

    /// Whoever has missed a part of the stream is not given what comes after it as if nothing had been.
    #[tokio::test]
    async fn a_page_from_the_oldest_change_on_is_for_nobody_who_is_behind_it() {
        let tail = Tail::new(table(3).await, "all".into(), ["Thing"]);
        let page = tail.read(None, Duration::ZERO).await.unwrap();
        let first = page.changes[0].sequence.clone();
        assert!(tail.kept(Some(&first)).is_some() && tail.kept(None).is_some());
        assert!(tail.kept(Some(&Sequence::from(0))).is_none());
    }
}
