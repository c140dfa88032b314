//! A backend with faults.

use std::fmt;
use std::sync::{Arc, Mutex};

use roundtable_model::table::{
    Backend, BackendDecorator, Change, Error, Item, ItemPage, Key, Merge, Query, Result, Scan,
    Sequence, StreamPage, StreamRead, TableDefinition, Update, UpdateAction, WriteOutput,
    async_trait,
};

const THE_TABLE: &str = "the table";

#[derive(Debug, Default)]
struct Faults {
    hidden: Option<(String, Key)>,
    is_permanent: bool,
    shown: Option<(String, Item)>,
    doubled: Option<(Key, bool)>,
    lost: Option<(Key, usize)>,
    expired_key: Option<Key>,
    damaged: Option<String>,
}

/// Sets the faults of a [`Tampered`] backend.
#[derive(Clone, Debug)]
pub(crate) struct Tamper(Arc<Mutex<Faults>>);

impl Tamper {
    fn set(&self, set: impl FnOnce(&mut Faults)) {
        set(&mut self.0.lock().unwrap());
    }

    /// Hides an item from an index until it is removed from it and put back.
    pub(crate) fn hide(&self, index: &str, key: Key) {
        self.set(|faults| faults.hidden = Some((index.to_owned(), key)));
    }

    /// Hides an item from an index forever, in queries too.
    pub(crate) fn hide_forever(&self, index: &str, key: Key) {
        self.hide(index, key);
        self.set(|faults| faults.is_permanent = true);
    }

    pub(crate) fn show(&self, index: &str, item: Item) {
        self.set(|faults| faults.shown = Some((index.to_owned(), item)));
    }

    /// Streams the changes of a key twice, with the same or another number.
    pub(crate) fn double(&self, key: Key, renumbered: bool) {
        self.set(|faults| faults.doubled = Some((key, renumbered)));
    }

    /// Omits the nth change of a key from the stream.
    pub(crate) fn lose(&self, key: Key, nth: usize) {
        self.set(|faults| faults.lost = Some((key, nth)));
    }

    /// Marks the deletion of a key as an expiry.
    pub(crate) fn mark_expired(&self, key: Key) {
        self.set(|faults| faults.expired_key = Some(key));
    }

    /// Makes reads of an index, or of the table, fail.
    pub(crate) fn damage(&self, index: Option<&str>) {
        self.set(|faults| faults.damaged = Some(index.unwrap_or(THE_TABLE).to_owned()));
    }
}

pub(crate) struct Tampered<B> {
    inner: B,
    faults: Arc<Mutex<Faults>>,
}

impl<B> fmt::Debug for Tampered<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tampered")
    }
}

impl<B: Backend> Tampered<B> {
    pub(crate) fn new(inner: B) -> Self {
        Self { inner, faults: Arc::default() }
    }

    pub(crate) fn tamper(&self) -> Tamper {
        Tamper(Arc::clone(&self.faults))
    }

    fn hide(&self, table: &TableDefinition, index: Option<&String>, page: &mut ItemPage) {
        let faults = self.faults.lock().unwrap();
        if let Some((hidden, key)) = &faults.hidden
            && index == Some(hidden)
        {
            page.items.retain(|item| table.key.read(item).as_ref() != Some(key));
        }
    }

    /// Restores a hidden entry once an update removes it.
    fn heal(&self, update: &Update) {
        let removes = |index: &str| {
            let name = format!("{index}PK");
            let gone = |action: &UpdateAction| matches!(action, UpdateAction::Remove(path) if path.name() == name);
            update.actions.iter().any(gone)
        };
        let mut faults = self.faults.lock().unwrap();
        if !faults.is_permanent {
            faults.hidden.take_if(|(index, key)| *key == update.key && removes(index));
        }
    }

    fn changes(&self, changes: Vec<Change>) -> Vec<Change> {
        let faults = self.faults.lock().unwrap();
        let (mut result, mut matches) = (Vec::new(), 0);
        for mut change in changes {
            if let Some((key, nth)) = &faults.lost
                && change.key == *key
            {
                matches += 1;
                if matches == nth + 1 {
                    continue;
                }
            }
            if faults.expired_key.as_ref() == Some(&change.key) && change.new.is_none() {
                change.expired = true;
            }
            let double = faults.doubled.as_ref().filter(|(key, _)| *key == change.key);
            if let Some((_, renumbered)) = double {
                let mut first = change.clone();
                if *renumbered {
                    // Multiplying all numbers by ten makes room for the second one.
                    first.sequence = tenfold(&change.sequence, 0);
                    change.sequence = tenfold(&change.sequence, 1);
                }
                result.push(first);
            } else if faults.doubled.as_ref().is_some_and(|(_, renumbered)| *renumbered) {
                change.sequence = tenfold(&change.sequence, 0);
            }
            result.push(change);
        }
        result
    }
}

fn tenfold(sequence: &Sequence, plus: u64) -> Sequence {
    Sequence::from(sequence.to_u64().unwrap() * 10 + plus)
}

#[async_trait]
impl<B: Backend> BackendDecorator for Tampered<B> {
    fn inner(&self) -> &dyn Backend {
        &self.inner
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.heal(&update);
        self.inner.update(table, update).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let index = query.index.clone();
        let mut page = self.inner.query(table, query).await?;
        self.hide(table, index.as_ref(), &mut page);
        Ok(page)
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        let index = scan.index.clone();
        let first = scan.segment.is_none_or(|(segment, _)| segment == 0);
        let mut page = self.inner.scan(table, scan).await?;
        self.hide(table, index.as_ref(), &mut page);
        let faults = self.faults.lock().unwrap();
        let location = index.clone().unwrap_or_else(|| THE_TABLE.to_owned());
        if faults.damaged.as_ref() == Some(&location) && table.name == "gg_core" {
            return Err(Error::Damaged { location, detail: String::from("damage") });
        }
        if let Some((shown, item)) = &faults.shown
            && index.as_ref() == Some(shown)
            && first
        {
            page.items.push(item.clone());
        }
        Ok(page)
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        let index = merge.index.clone();
        let mut page = self.inner.merge(table, merge).await?;
        self.hide(table, index.as_ref(), &mut page);
        Ok(page)
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let renumbered = self.faults.lock().unwrap().doubled.as_ref().is_some_and(|(_, re)| *re);
        let mut page = self.inner.stream_read(table, read).await?;
        page.changes = self.changes(page.changes);
        page.evaluated = page.changes.len();
        if renumbered {
            // The whole stream fits into one page.
            page.next = page.next.map(|next| tenfold(&next, 9));
        }
        Ok(page)
    }
}
