//! Puts items back where indexes should show them.

use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Get, Item, Key, Update};
use roundtable_model::{IndexKeys, Result};

use super::{Mended, unchanged};
use crate::Verify;
use crate::kinds::{kind_of, stands_at};

impl Verify {
    /// Rewrites the index keys that follow from an item's fields, if these are still as they were.
    pub(super) async fn rewrite_keys(&self, key: &Key) -> Result<Mended> {
        let table = self.tables.core.table();
        let Some((item, shape, keys)) = self.item_and_keys(key).await? else {
            return Ok(Mended::Done);
        };
        let mut update = Update::new(key.clone()).when(unchanged(&item, key_fields(shape)));
        let mut differs = false;
        for (index, key) in Index::SECONDARY.into_iter().zip(keys) {
            let (partition, sort) = (index.partition_attribute(), index.sort_attribute());
            if stands_at(&item, index, key.as_ref().map(|(at, rank)| (&**at, &**rank))) {
                continue;
            }
            differs = true;
            update = match key {
                Some((at, rank)) => update.set(partition, at).set(sort, rank),
                None => update.remove(partition).remove(sort),
            };
        }
        if differs {
            table.update(update).await?;
        }
        Ok(Mended::Done)
    }

    /// Takes an item out of its indexes and puts it back, because a write that leaves a key as it is
    /// leaves the entry as it is, too. Stopped in between, it has no keys, which the next check finds.
    pub(super) async fn list_again(&self, key: &Key) -> Result<Mended> {
        let table = self.tables.core.table();
        let Some((item, shape, _)) = self.item_and_keys(key).await? else {
            let reason = "an index shows an item that is not there: only the store could mend it";
            return Ok(Mended::left(reason));
        };
        let names = || Index::SECONDARY.into_iter().flat_map(attributes);
        let taken = names().filter(|name| item.get(name).is_some());
        let still = unchanged(&item, key_fields(shape).chain(names()));
        let out = taken.fold(Update::new(key.clone()).when(still), Update::remove);
        if out.actions.is_empty() {
            return Ok(Mended::left("it stands in no index"));
        }
        table.update(out).await?;
        self.rewrite_keys(key).await
    }

    /// An item as it is now, and the keys that follow from its fields.
    async fn item_and_keys(
        &self,
        key: &Key,
    ) -> Result<Option<(Item, &'static EntityShape, IndexKeys)>> {
        let get = Get::new(key.clone()).strong();
        let Some(item) = self.tables.core.table().get(get).await?.item else { return Ok(None) };
        let Some(kind) = kind_of(&item) else { return Ok(None) };
        let (_, keys) = (kind.keys)(&item)?;
        Ok(Some((item, kind.shape, keys)))
    }
}

fn attributes(index: Index) -> [&'static str; 2] {
    [index.partition_attribute(), index.sort_attribute()]
}

/// The attributes that an entity's keys follow from.
fn key_fields(shape: &'static EntityShape) -> impl Iterator<Item = &'static str> {
    let keyed = shape.fields.iter().filter(|field| shape.in_key(field.field));
    keyed.map(|field| field.attribute)
}
