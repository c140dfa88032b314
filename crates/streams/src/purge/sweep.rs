//! Removes items that no counter depends on.

use roundtable_domain::Context;
use roundtable_model::TYPE;
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Item, Key, Query};

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

/// Returns the first items of a partition, with their keys, except for some types.
pub(super) async fn first_of(
    context: &Context,
    partition: String,
    except: &[&str],
) -> Result<Vec<(Key, Item)>> {
    let table = context.core().table();
    let mut start = None;
    loop {
        let query = Query::new(partition.as_str()).limit(PAGE_ITEMS).strong();
        let page = table.query(query.after(start.take())).await?;
        let is_excepted = |item: &Item| item.text(TYPE).is_some_and(|kind| except.contains(&kind));
        let items = page.items.into_iter().filter(|item| !is_excepted(item));
        let keyed = |item: Item| table.definition().key.read(&item).map(|key| (key, item));
        let found: Vec<(Key, Item)> = items.filter_map(keyed).collect();
        if !found.is_empty() || page.next.is_none() {
            return Ok(found);
        }
        start = page.next;
    }
}

/// Removes the first items of a partition. Returns whether there were any.
pub(super) async fn sweep(context: &Context, partition: String, except: &[&str]) -> Result<bool> {
    let found = first_of(context, partition, except).await?;
    let any = !found.is_empty();
    remove(context, found.into_iter().map(|(key, _)| key).collect()).await?;
    Ok(any)
}
