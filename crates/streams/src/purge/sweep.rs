//! Removes the items that belong to an owner, as the schema declares them.

use std::collections::BTreeMap;
use std::fmt::Display;

use roundtable_domain::Context;
use roundtable_model::shape::Index;
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Item, Key, Query};
use roundtable_model::{OwnerId, TYPE};

use crate::Result;

pub(super) const PAGE_ITEMS: usize = 100;

/// Removes items whether they exist or not.
pub(super) async fn remove(context: &Context, mut keys: Vec<Key>) -> Result<()> {
    keys.sort();
    keys.dedup();
    for batch in keys.chunks(BATCH_WRITE_ITEMS_MAX) {
        let deletes = batch.iter().cloned().map(BatchWrite::Delete).collect();
        context.core().table().batch_write(deletes).await?;
    }
    Ok(())
}

/// Removes a page of everything that belongs to an owner, except for items of some entities. Returns
/// whether there was any.
pub(super) async fn remove_belongings<I: OwnerId + Display>(
    context: &Context,
    owner: &I,
    except: &[&str],
) -> Result<bool> {
    let found = belongings(context, owner, except).await?;
    let any = !found.is_empty();
    remove(context, found.into_iter().map(|(key, _)| key).collect()).await?;
    Ok(any)
}

/// Returns the first items that belong to an owner, with their primary keys, except for items of
/// some entities. Each partition is read once for all entities in it.
pub(super) async fn belongings<I: OwnerId + Display>(
    context: &Context,
    owner: &I,
    except: &[&str],
) -> Result<Vec<(Key, Item)>> {
    let mut partitions: BTreeMap<(Index, String), Vec<&str>> = BTreeMap::new();
    for (entity, key) in I::KIND.belongings().filter(|(entity, _)| !except.contains(&entity.name)) {
        let partition = (key.index, key.partition.of_owner(owner));
        partitions.entry(partition).or_default().push(entity.name);
    }
    for ((index, partition), entities) in partitions {
        let found = first_of(context, index, partition, &entities).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns the first items of some entities in one partition.
async fn first_of(
    context: &Context,
    index: Index,
    partition: String,
    entities: &[&str],
) -> Result<Vec<(Key, Item)>> {
    let table = context.core().table();
    let mut start = None;
    loop {
        let query = Query::new(partition.as_str()).limit(PAGE_ITEMS).after(start.take());
        let query = match index.name() {
            Some(index) => query.index(index),
            None => query.strong(),
        };
        let page = table.query(query).await?;
        let belongs = |item: &Item| item.text(TYPE).is_some_and(|kind| entities.contains(&kind));
        let items = page.items.into_iter().filter(belongs);
        let keyed = |item: Item| table.definition().key.read(&item).map(|key| (key, item));
        let found: Vec<(Key, Item)> = items.filter_map(keyed).collect();
        if !found.is_empty() || page.next.is_none() {
            return Ok(found);
        }
        start = page.next;
    }
}
