//! A backend that shows what it should not, as a broken one would.

use std::fmt;
use std::sync::{Arc, Mutex};

use roundtable_model::table::{
    Action, Around, Backend, Change, Error, Item, Key, Merge, Page, Query, Result, Scan, Sequence,
    StreamPage, StreamRead, TableDefinition, Update, Written, async_trait,
};

const THE_TABLE: &str = "the table";

/// What is wrong.
#[derive(Debug, Default)]
struct Faults {
    hidden: Option<(String, Key)>,
    never_heals: bool,
    shown: Option<(String, Item)>,
    doubled: Option<(Key, bool)>,
    lost: Option<(Key, usize)>,
    swept: Option<Key>,
    damaged: Option<String>,
}

/// Changes what is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Tamper(Arc<Mutex<Faults>>);

impl Tamper {
    fn set(&self, set: impl FnOnce(&mut Faults)) {
        set(&mut self.0.lock().unwrap());
    }

    /// Leaves an item out of an index, until it is taken out of it and put back.
    pub(crate) fn hide(&self, index: &str, key: Key) {
        self.set(|faults| faults.hidden = Some((index.to_owned(), key)));
    }

    /// Leaves an item out of an index, whatever is done, also when a partition is read.
    pub(crate) fn hide_for_ever(&self, index: &str, key: Key) {
        self.hide(index, key);
        self.set(|faults| faults.never_heals = true);
    }

    /// Shows an item in an index.
    pub(crate) fn show(&self, index: &str, item: Item) {
        self.set(|faults| faults.shown = Some((index.to_owned(), item)));
    }

    /// Streams the changes of a key twice, perhaps under a number of its own.
    pub(crate) fn double(&self, key: Key, renumbered: bool) {
        self.set(|faults| faults.doubled = Some((key, renumbered)));
    }

    /// Leaves the nth change of a key out of the stream.
    pub(crate) fn lose(&self, key: Key, nth: usize) {
        self.set(|faults| faults.lost = Some((key, nth)));
    }

    /// Calls the removal of a key a sweep.
    pub(crate) fn call_swept(&self, key: Key) {
        self.set(|faults| faults.swept = Some(key));
    }

    /// Cannot read an index, or the table.
    pub(crate) fn damage(&self, index: Option<&str>) {
        self.set(|faults| faults.damaged = Some(index.unwrap_or(THE_TABLE).to_owned()));
    }
}

/// The backend.
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

    fn hide(&self, table: &TableDefinition, index: Option<&String>, page: &mut Page) {
        let faults = self.faults.lock().unwrap();
        if let Some((hidden, key)) = &faults.hidden
            && index == Some(hidden)
        {
            page.items.retain(|item| table.key.read(item).as_ref() != Some(key));
        }
    }

    /// An entry comes back once it was taken away.
    fn heal(&self, update: &Update) {
        let removes = |index: &str| {
            let name = format!("{index}PK");
            let gone =
                |action: &Action| matches!(action, Action::Remove(path) if path.name() == name);
            update.actions.iter().any(gone)
        };
        let mut faults = self.faults.lock().unwrap();
        if !faults.never_heals {
            faults.hidden.take_if(|(index, key)| *key == update.key && removes(index));
        }
    }

    fn changes(&self, changes: Vec<Change>) -> Vec<Change> {
        let faults = self.faults.lock().unwrap();
        let (mut out, mut met) = (Vec::new(), 0);
        for mut change in changes {
            if let Some((key, nth)) = &faults.lost
                && change.key == *key
            {
                met += 1;
                if met == nth + 1 {
                    continue;
                }
            }
            if faults.swept.as_ref() == Some(&change.key) && change.new.is_none() {
                change.expired = true;
            }
            let double = faults.doubled.as_ref().filter(|(key, _)| *key == change.key);
            if let Some((_, renumbered)) = double {
                let mut first = change.clone();
                if *renumbered {
                    // Between the one before and this one: numbers of the reference are far apart
                    // enough when its own are taken tenfold.
                    first.sequence = tenfold(&change.sequence, 0);
                    change.sequence = tenfold(&change.sequence, 1);
                }
                out.push(first);
            } else if faults.doubled.as_ref().is_some_and(|(_, renumbered)| *renumbered) {
                change.sequence = tenfold(&change.sequence, 0);
            }
            out.push(change);
        }
        out
    }
}

fn tenfold(sequence: &Sequence, plus: u64) -> Sequence {
    Sequence::from(sequence.to_u64().unwrap() * 10 + plus)
}

#[async_trait]
impl<B: Backend> Around for Tampered<B> {
    fn inner(&self) -> &dyn Backend {
        &self.inner
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<Written> {
        self.heal(&update);
        self.inner.update(table, update).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<Page> {
        let index = query.index.clone();
        let mut page = self.inner.query(table, query).await?;
        self.hide(table, index.as_ref(), &mut page);
        Ok(page)
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<Page> {
        let index = scan.index.clone();
        let first = scan.segment.is_none_or(|(segment, _)| segment == 0);
        let mut page = self.inner.scan(table, scan).await?;
        self.hide(table, index.as_ref(), &mut page);
        let faults = self.faults.lock().unwrap();
        let place = index.clone().unwrap_or_else(|| THE_TABLE.to_owned());
        if faults.damaged.as_ref() == Some(&place) && table.name == "gg_core" {
            return Err(Error::Damaged { place, detail: String::from("damage") });
        }
        if let Some((shown, item)) = &faults.shown
            && index.as_ref() == Some(shown)
            && first
        {
            page.items.push(item.clone());
        }
        Ok(page)
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<Page> {
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
            // All of it fits into one page, and the end is where it ends.
            page.next = page.next.map(|next| tenfold(&next, 9));
        }
        Ok(page)
    }
}
