//! Reads of single items by primary key, of several by theirs, or of the first of a range.

use std::collections::HashMap;
use std::marker::PhantomData;

use futures::future::{BoxFuture, FutureExt, try_join_all};
use roundtable_table::limits::BATCH_GET_KEYS_MAX;
use roundtable_table::{BatchGet, Get, Item, Key, Path, Table};

use super::{Listing, Partitions, SortKeyRange};
use crate::entity::TYPE;
use crate::shape::{Index, PatternShape};
use crate::upgrade::SHAPE;
use crate::{Entity, EntityKey, FromItem, Result};

/// A read of one item.
#[derive(Debug)]
#[must_use = "a read is run by `get`"]
pub struct Lookup<'a, A> {
    table: &'a Table,
    pattern: &'static PatternShape,
    key: Key,
    strong: bool,
    result: PhantomData<fn() -> A>,
}

impl<'a, A: FromItem> Lookup<'a, A> {
    #[doc(hidden)]
    pub fn new(table: &'a Table, pattern: &'static PatternShape, key: Key) -> Self {
        Self { table, pattern, key, strong: pattern.strong, result: PhantomData }
    }

    /// Makes the read strong: it sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// Returns the item, if it exists.
    pub async fn get(self) -> Result<Option<A>> {
        let mut get = Get::new(self.key).project(projection::<A>());
        get.strong = self.strong;
        let found = self.table.for_pattern(self.pattern.name).get(get).await?;
        found.item.as_ref().map(A::from_item).transpose()
    }
}

/// A read of several items.
#[derive(Debug)]
#[must_use = "a read is run by `get`"]
pub struct BatchLookup<'a, A> {
    table: &'a Table,
    pattern: &'static PatternShape,
    keys: Vec<Key>,
    strong: bool,
    result: PhantomData<fn() -> A>,
}

impl<'a, A: FromItem> BatchLookup<'a, A> {
    #[doc(hidden)]
    pub fn new(table: &'a Table, pattern: &'static PatternShape, keys: Vec<Key>) -> Self {
        Self { table, pattern, keys, strong: pattern.strong, result: PhantomData }
    }

    /// Makes the read strong: it sees every write acknowledged before.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// Returns the items in the order of their keys, `None` for missing ones. An item requested
    /// twice is read once.
    pub async fn get(self) -> Result<Vec<Option<A>>> {
        let table = self.table.for_pattern(self.pattern.name);
        batch_get(&table, &self.keys, self.strong).await
    }
}

/// Reads the items with these keys strongly, in the order of the keys; for items of several owners,
/// which no access pattern reads together.
pub fn items_by_key<E: Entity>(
    table: Table,
    keys: impl IntoIterator<Item = EntityKey<E>>,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    read_keys(table, keys, true)
}

/// Like [`items_by_key`], but eventually consistent, which costs half as much.
pub fn items_by_key_eventual<E: Entity>(
    table: Table,
    keys: impl IntoIterator<Item = EntityKey<E>>,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    read_keys(table, keys, false)
}

fn read_keys<E: Entity>(
    table: Table,
    keys: impl IntoIterator<Item = EntityKey<E>>,
    strong: bool,
) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
    let keys: Vec<Key> = keys.into_iter().map(EntityKey::into_key).collect();
    async move { batch_get(&table, &keys, strong).await }.boxed()
}

/// Reads items in the order of their keys. A repeated key is read once.
async fn batch_get<A: FromItem>(
    table: &Table,
    keys: &[Key],
    strong: bool,
) -> Result<Vec<Option<A>>> {
    let mut positions: HashMap<&Key, usize> = HashMap::with_capacity(keys.len());
    let mut distinct: Vec<&Key> = Vec::with_capacity(keys.len());
    for key in keys {
        positions.entry(key).or_insert_with(|| {
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
    let item = |key: &Key| found.get(*positions.get(key)?)?.as_ref();
    keys.iter().map(|key| item(key).map(A::from_item).transpose()).collect()
}

/// A read of the first item of a range.
#[derive(Debug)]
#[must_use = "a read is run by `get`"]
pub struct FirstLookup<'a, E>(Listing<'a, E, false>);

impl<'a, E: Entity> FirstLookup<'a, E> {
    #[doc(hidden)]
    pub fn new(
        table: &'a Table,
        pattern: &'static PatternShape,
        arguments: String,
        partitions: Partitions,
        range: SortKeyRange,
    ) -> Self {
        Self(Listing::new(table, pattern, arguments, partitions, range))
    }

    /// Returns the item, if it exists.
    pub async fn get(self) -> Result<Option<E>> {
        Ok(self.0.limit(1).page().await?.items.into_iter().next())
    }
}

/// Returns the attributes to read: all for an entity (an empty list), and for one whose items may have
/// to be upgraded; or a view's fields, key, shape and type.
fn projection<A: FromItem>() -> Vec<Path> {
    if !A::IS_VIEW || !A::ENTITY.upgrades.is_empty() {
        return Vec::new();
    }
    let fields = A::FIELDS.iter().map(|field| field.attribute);
    let main = [Index::Main.partition_attribute(), Index::Main.sort_attribute(), SHAPE, TYPE];
    fields.chain(main).map(Path::new).collect()
}
