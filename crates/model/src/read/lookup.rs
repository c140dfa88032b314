//! Single items: by primary key, several by theirs, or the first of a range.

use std::collections::HashMap;
use std::marker::PhantomData;

use futures::future::try_join_all;
use roundtable_table::limits::BATCH_GET_KEYS_MAX;
use roundtable_table::{BatchGet, Get, Item, Key, Path, Table};

use super::{Listing, Partitions, Range};
use crate::entity::TYPE;
use crate::shape::{Index, PatternShape};
use crate::{Answer, Entity, Result};

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
        let mut places: HashMap<&Key, usize> = HashMap::with_capacity(self.keys.len());
        let mut distinct: Vec<&Key> = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            places.entry(key).or_insert_with(|| {
                distinct.push(key);
                distinct.len() - 1
            });
        }
        let table = self.table.for_pattern(self.pattern.name);
        let batches = distinct.chunks(BATCH_GET_KEYS_MAX).map(|keys| {
            let mut batch = BatchGet::new(keys.iter().copied().cloned());
            batch = batch.project(projection::<A>());
            batch.strong = self.strong;
            table.batch_get(batch)
        });
        let found = try_join_all(batches).await?;
        let found: Vec<Option<Item>> = found.into_iter().flat_map(|batch| batch.items).collect();
        let item = |key: &Key| found.get(*places.get(key)?)?.as_ref();
        self.keys.iter().map(|key| item(key).map(A::from_item).transpose()).collect()
    }
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
