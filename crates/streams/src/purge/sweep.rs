//! Taking away items that nothing else counts on.

use roundtable_domain::Ground;
use roundtable_model::TYPE;
use roundtable_model::table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_model::table::{BatchWrite, Item, Key, Query};

use crate::Failure;

/// Items of one page.
pub(super) const PAGE_ITEMS: usize = 100;

/// Takes items away, whether they are there or not.
pub(super) async fn remove(ground: &Ground, mut keys: Vec<Key>) -> Result<(), Failure> {
    keys.sort();
    keys.dedup();
    for batch in keys.chunks(BATCH_WRITE_ITEMS_MAX) {
        let deletes = batch.iter().cloned().map(BatchWrite::Delete).collect();
        ground.core().table().batch_write(deletes).await?;
    }
    Ok(())
}

/// A page of a partition: its first items that are none of these types, with their keys.
pub(super) async fn first_of(
    ground: &Ground,
    partition: Key,
    prefix: &str,
    except: &[&str],
) -> Result<Vec<(Key, Item)>, Failure> {
    let table = ground.core().table();
    let mut start = None;
    loop {
        let query = Query::new(partition.partition.clone()).limit(PAGE_ITEMS).strong();
        let query = if prefix.is_empty() { query } else { query.begins_with(prefix) };
        let page = table.query(query.after(start.take())).await?;
        let kept = |item: &Item| item.text(TYPE).is_some_and(|kind| except.contains(&kind));
        let items = page.items.into_iter().filter(|item| !kept(item));
        let keyed = |item: Item| table.definition().key.read(&item).map(|key| (key, item));
        let found: Vec<(Key, Item)> = items.filter_map(keyed).collect();
        if !found.is_empty() || page.next.is_none() {
            return Ok(found);
        }
        start = page.next;
    }
}

/// Takes the first items of a partition away; whether there were any.
pub(super) async fn sweep(
    ground: &Ground,
    partition: impl Into<Key>,
    except: &[&str],
) -> Result<bool, Failure> {
    let found = first_of(ground, partition.into(), "", except).await?;
    let any = !found.is_empty();
    remove(ground, found.into_iter().map(|(key, _)| key).collect()).await?;
    Ok(any)
}
