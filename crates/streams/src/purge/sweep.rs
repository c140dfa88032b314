//! Removes the items that belong to an owner, as the schema declares them.

use std::fmt::Display;

use roundtable_domain::Context;
use roundtable_model::shape::{EntityShape, KeyShape};
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
/// some entities.
pub(super) async fn belongings<I: OwnerId + Display>(
    context: &Context,
    owner: &I,
    except: &[&str],
) -> Result<Vec<(Key, Item)>> {
    for (entity, key) in I::KIND.belongings().filter(|(entity, _)| !except.contains(&entity.name)) {
        let found = first_of(context, entity, key, key.partition.of_owner(owner)).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns the first items of an entity in one partition of a key.
async fn first_of(
    context: &Context,
    entity: &EntityShape,
    key: &KeyShape,
    partition: String,
) -> Result<Vec<(Key, Item)>> {
    let table = context.core().table();
    let mut start = None;
    loop {
        let mut query = Query::new(partition.as_str()).limit(PAGE_ITEMS).after(start.take());
        query = match key.index.name() {
            Some(index) => query.index(index),
            None => query.strong(),
        };
        let prefix = key.sort.prefix();
        if !prefix.is_empty() {
            query = query.begins_with(prefix);
        }
        let page = table.query(query).await?;
        let items = page.items.into_iter().filter(|item| item.text(TYPE) == Some(entity.name));
        let keyed = |item: Item| table.definition().key.read(&item).map(|key| (key, item));
        let found: Vec<(Key, Item)> = items.filter_map(keyed).collect();
        if !found.is_empty() || page.next.is_none() {
            return Ok(found);
        }
        start = page.next;
    }
}
