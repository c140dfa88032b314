//! Items of older shapes are rewritten in the background, with progress, while others are written.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Attributes, Backend, BackendDecorator, Delete, Get, Item, ItemPage, Put, Result, Scan,
    SharedBackend, Table, TableDefinition,
};
use roundtable_model::{
    Entity as _, Fields, FromItem as _, InvalidField, InvalidValue, Shard, Span, UserId,
    single_table,
};
use roundtable_streams::{JobHandler as _, PageOutcome, Runner, ShapeUpgrader, UpgradeState};

use crate::facts::bookkeeping;
use crate::test_store::{TestStore, retries};

const NOTES: usize = 230;

/// Its first shape had a name instead of a title.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Memo {
    pub user_id: UserId,
    pub title: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Pin {
    pub user_id: UserId,
}

impl Memo {
    fn name_becomes_title(item: &mut Attributes) -> std::result::Result<(), InvalidField> {
        let reason = || InvalidValue::new("a name", "none");
        let name = item.remove("name");
        let name = name.ok_or_else(|| InvalidField { field: "title", reason: reason() })?;
        item.insert("title".into(), name);
        Ok(())
    }
}

single_table! {
table Board "board" {
    Memo(user_id: UserId) upgraded by (name_becomes_title) { main => "USER#{user_id}", "NOTE"; }
    Pin(user_id: UserId) { main => "USER#{user_id}", "PIN"; }
}
access_patterns {
    note(user: UserId) => main, "USER#{user}", "NOTE", strong -> Memo;
    pin(user: UserId) => main, "USER#{user}", "PIN", strong -> Pin;
}
}

fn note(number: usize) -> Memo {
    let user_id = format!("user{number}").parse().unwrap();
    Memo { user_id, title: format!("note {number}") }
}

/// The item of a note as the version before has stored it.
fn older(number: usize) -> Item {
    let mut item = note(number).item().to_attributes();
    let title = item.remove("title").unwrap();
    item.remove("shape");
    item.insert("name".into(), title);
    item.into()
}

async fn board(store: &TestStore, items: impl IntoIterator<Item = Item>) -> Table {
    let name = store.tables().core.replace("core", "board");
    let definition = Board::SHAPE.definition(&name);
    let table = store.context.store().create_table(definition).await.unwrap();
    for item in items {
        table.put(Put::new(item)).await.unwrap();
    }
    table
}

fn upgrader(store: &TestStore, table: &Table) -> ShapeUpgrader {
    ShapeUpgrader::of_tables(&store.context, [(table.clone(), Board::SHAPE)])
}

fn runner(store: &TestStore, upgrader: &ShapeUpgrader) -> Runner {
    Runner::builder(store.context.clone(), [0; 32])
        .with_job_handler(upgrader.clone())
        .with_retries(retries())
        .build()
}

async fn stored(table: &Table, number: usize) -> Item {
    let get = Get::new(Memo::at(&note(number).user_id)).strong();
    table.get(get).await.unwrap().item.unwrap()
}

#[tokio::test]
async fn older_items_are_shown_and_then_rewritten() {
    for store in
        [TestStore::reference().await, TestStore::engine().await, TestStore::dynoxide().await]
    {
        let pin = Pin { user_id: "user1".parse().unwrap() };
        let items = (0..NOTES).map(older).chain([pin.item()]);
        let table = board(&store, items).await;
        let board = Board::on(table.clone());
        let (first, user) = (note(1), note(1).user_id);
        assert_eq!(board.note(&user).get().await.unwrap(), Some(first.clone()), "shown before");

        let upgrader = upgrader(&store, &table);
        assert_eq!(upgrader.state().await.unwrap(), UpgradeState::Idle);
        upgrader.start().await.unwrap();
        upgrader.start().await.unwrap();
        runner(&store, &upgrader).drain().await.unwrap();
        assert_eq!(upgrader.state().await.unwrap(), UpgradeState::Idle);
        assert!(bookkeeping(&store.context, "JOB#shapes").await.is_empty());
        for number in 0..NOTES {
            assert_eq!(stored(&table, number).await, note(number).item());
        }
        assert_eq!(board.pin(&user).get().await.unwrap(), Some(pin), "it has one shape");
        assert_eq!(board.note(&user).get().await.unwrap(), Some(first));
        let count = table.scan(Scan::new()).await.unwrap().items.len();
        assert_eq!(count, NOTES + 1);
    }
}

#[tokio::test]
async fn the_progress_of_an_upgrade_is_visible() {
    let store = TestStore::reference().await;
    let unreadable = older(7).with("name", 7);
    let items = (0..NOTES).map(older).chain([unreadable]);
    let table = board(&store, items).await;
    let upgrader = upgrader(&store, &table);
    let UpgradeState::UnderWay(started) = upgrader.start().await.unwrap() else { panic!() };
    assert_eq!((started.read, started.rewritten, started.failed), (0, 0, 0));
    let jobs = store.context.ops().jobs_in_shard(&upgrader.queue(), &Shard::ZERO, Span::ALL);
    let mut job = jobs.limit(1).page().await.unwrap().items.remove(0);
    let mut pages = 0;
    while let PageOutcome::Continue(cursor) = upgrader.run_page(&job).await.unwrap() {
        job.cursor = Some(cursor);
        store.context.ops().table().put(job.put()).await.unwrap();
        pages += 1;
        let UpgradeState::UnderWay(progress) = upgrader.state().await.unwrap() else { panic!() };
        assert_eq!(progress.read, pages * 100);
        assert_eq!(progress.rewritten + progress.failed, progress.read);
    }
    assert_eq!(pages, 2);
    assert_eq!(stored(&table, 7).await.get("shape"), None, "what cannot be read is left alone");
    assert!(Memo::from_item(&stored(&table, 7).await).is_err());
}

/// A backend on which others write and delete after the first scan.
#[derive(Debug)]
struct RacingBackend {
    inner: SharedBackend,
    writes: Mutex<Option<(Put, Delete)>>,
}

#[async_trait]
impl BackendDecorator for RacingBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        let page = self.inner.scan(table, scan).await?;
        let writes = self.writes.lock().take();
        if let Some((put, delete)) = writes {
            self.inner.put(table, put).await?;
            self.inner.delete(table, delete).await?;
        }
        Ok(page)
    }
}

/// A write of the current version is not undone by the upgrade of what was there before.
#[tokio::test]
async fn an_item_that_was_written_meanwhile_is_left_alone() {
    let store = TestStore::reference().await;
    let table = board(&store, [older(1), older(2), older(3)]).await;
    let changed = Memo { title: "changed".into(), ..note(1) };
    let writes = Mutex::new(Some((changed.put(), Memo::at(&note(2).user_id).delete())));
    let racing = RacingBackend { inner: Arc::clone(&store.backend), writes };
    let context = store.through(racing).await;
    let far = context.store().table_as(Arc::clone(table.definition()));
    let upgrader = ShapeUpgrader::of_tables(&context, [(far, Board::SHAPE)]);
    upgrader.start().await.unwrap();
    let runner = Runner::builder(context.clone(), [0; 32]).with_job_handler(upgrader).build();
    runner.drain().await.unwrap();
    assert_eq!(stored(&table, 1).await, changed.item());
    let deleted = Get::new(Memo::at(&note(2).user_id)).strong();
    assert!(table.get(deleted).await.unwrap().item.is_none(), "it stays deleted");
    assert_eq!(stored(&table, 3).await, note(3).item());
}
