//! Single items: by primary key, several by theirs, or the first of a range.

use std::collections::HashMap;
use std::marker::PhantomData;

use futures::future::{BoxFuture, FutureExt, try_join_all};
use roundtable_table::limits::BATCH_GET_KEYS_MAX;
use roundtable_table::{BatchGet, Get, Item, Key, Path, Table};

use super::{Listing, Partitions, Range};
use crate::entity::TYPE;
use crate::shape::{Index, PatternShape};
use crate::{Answer, At, Entity, Result};

/// A question about one item.
#[derive(Debug)]
#[must_use = "a question is asked by `get`"]
pub struct Lookup<'a, A> {
    table: &'a Table,
    pattern: &'static PatternShape,
    key: Key,
    strong: bool,
    answer: PhantomData<fn() -> A>,
}

impl<'a, A: Answer> Lookup<'a, A> {
    #[doc(hidden)]
    pub fn new(table: &'a Table, pattern: &'static PatternShape, key: Key) -> Self {
        Self { table, pattern, key, strong: pattern.strong, answer: PhantomData }
    }

    /// Sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// The item, if it is there.
    pub async fn get(self) -> Result<Option<A>> {
        let mut get = Get::new(self.key).project(projection::<A>());
        get.strong = self.strong;
        let found = self.table.for_pattern(self.pattern.name).get(get).await?;
        found.item.as_ref().map(A::from_item).transpose()
    }
}

/// A question about several items.
#[derive(Debug)]
#[must_use = "a question is asked by `get`"]
pub struct Lookups<'a, A> {
    table: &'a Table,
    pattern: &'static PatternShape,
    keys: Vec<Key>,
    strong: bool,
    answer: PhantomData<fn() -> A>,
}

impl<'a, A: Answer> Lookups<'a, A> {
    #[doc(hidden)]
    pub fn new(table: &'a Table, pattern: &'static PatternShape, keys: Vec<Key>) -> Self {
        Self { table, pattern, keys, strong: pattern.strong, answer: PhantomData }
    }

    /// Sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// The items in the order they were asked for, `None` where there is none. The same item may be
    /// asked for twice; it is read once.
    pub async fn get(self) -> Result<Vec<Option<A>>> {
        let table = self.table.for_pattern(self.pattern.name);
        in_batches(&table, &self.keys, self.strong).await
    }
}

/// What is at these places, each in its own, as every write acknowledged before has left it: for places of
/// several owners, which no question of the page names together.
pub fn items_at<E: Entity>(
    table: Table,
    places: impl IntoIterator<Item = At<E>>,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    at_places(table, places, true)
}

/// The same, perhaps as it was a moment ago, which costs half as much.
pub fn items_lately_at<E: Entity>(
    table: Table,
    places: impl IntoIterator<Item = At<E>>,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    at_places(table, places, false)
}

fn at_places<E: Entity>(
    table: Table,
    places: impl IntoIterator<Item = At<E>>,
    strong: bool,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    let keys: Vec<Key> = places.into_iter().map(At::into_key).collect();
    async move { in_batches(&table, &keys, strong).await }.boxed()
}

/// Items in the order of their keys. What is named twice is read once.
async fn in_batches<A: Answer>(
    table: &Table,
    keys: &[Key],
    strong: bool,
) -> Result<Vec<Option<A>>> {
    let mut places: HashMap<&Key, usize> = HashMap::with_capacity(keys.len());
    let mut distinct: Vec<&Key> = Vec::with_capacity(keys.len());
    for key in keys {
        places.entry(key).or_insert_with(|| {
            distinct.push(key);
            distinct.len() - 1
        });
    }
    let batches = distinct.chunks(BATCH_GET_KEYS_MAX).map(|keys| {
        let mut batch = BatchGet::new(keys.iter().copied().cloned());
        batch = batch.project(projection::<A>());
        batch.strong = strong;
        table.batch_get(batch)
    });
    let found = try_join_all(batches).await?;
    let found: Vec<Option<Item>> = found.into_iter().flat_map(|batch| batch.items).collect();
    let item = |key: &Key| found.get(*places.get(key)?)?.as_ref();
    keys.iter().map(|key| item(key).map(A::from_item).transpose()).collect()
}

/// A question about the first item of a range.
#[derive(Debug)]
#[must_use = "a question is asked by `get`"]
pub struct First<'a, E>(Listing<'a, E, false>);

impl<'a, E: Entity> First<'a, E> {
    #[doc(hidden)]
    pub fn new(
        table: &'a Table,
        pattern: &'static PatternShape,
        asked: String,
        partitions: Partitions,
        range: Range,
    ) -> Self {
        Self(Listing::new(table, pattern, asked, partitions, range))
    }

    /// The item, if it is there.
    pub async fn get(self) -> Result<Option<E>> {
        Ok(self.0.limit(1).page().await?.items.into_iter().next())
    }
}

/// What to read of an item: everything for an entity, the fields of a view with what tells it is one.
fn projection<A: Answer>() -> Vec<Path> {
    if !A::IS_VIEW {
        return Vec::new();
    }
    let fields = A::FIELDS.iter().map(|field| field.attribute);
    let main = [Index::Main.partition_attribute(), Index::Main.sort_attribute(), TYPE];
    fields.chain(main).map(Path::new).collect()
}
