//! Rewrites index keys and index entries.

use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Get, Item, Key, Update};
use roundtable_model::{IndexKeys, Result};

use super::{RepairOutcome, unchanged};
use crate::Verifier;
use crate::entity_checks::{entity_check_of, has_keys};

impl Verifier {
    /// Rewrites the index keys of an item on condition that the fields they follow from have not
    /// changed.
    pub(super) async fn rewrite_keys(&self, key: &Key) -> Result<RepairOutcome> {
        let table = self.tables.core.table();
        let Some((item, shape, keys)) = self.item_and_keys(key).await? else {
            return Ok(RepairOutcome::Done);
        };
        let mut update = Update::new(key.clone()).when(unchanged(&item, key_fields(shape)));
        let mut differs = false;
        for (index, key) in Index::SECONDARY.into_iter().zip(keys) {
            let (partition, sort) = (index.partition_attribute(), index.sort_attribute());
            let expected = key.as_ref().map(|(first, second)| (&**first, &**second));
            if has_keys(&item, index, expected) {
                continue;
            }
            differs = true;
            update = match key {
                Some((partition_key, sort_key)) => {
                    update.set(partition, partition_key).set(sort, sort_key)
                }
                None => update.remove(partition).remove(sort),
            };
        }
        if differs {
            table.update(update).await?;
        }
        Ok(RepairOutcome::Done)
    }

    /// Removes an item from its indexes and puts it back, because a write that keeps an index key
    /// keeps its entry too. If it stops in between, the next check finds the missing keys.
    pub(super) async fn reindex(&self, key: &Key) -> Result<RepairOutcome> {
        let table = self.tables.core.table();
        let Some((item, shape, _)) = self.item_and_keys(key).await? else {
            let reason = "an index shows an item that does not exist: restore a backup";
            return Ok(RepairOutcome::skipped(reason));
        };
        let names = || Index::SECONDARY.into_iter().flat_map(attributes);
        let taken = names().filter(|name| item.get(name).is_some());
        let unchanged_item = unchanged(&item, key_fields(shape).chain(names()));
        let removal = taken.fold(Update::new(key.clone()).when(unchanged_item), Update::remove);
        if removal.actions.is_empty() {
            return Ok(RepairOutcome::skipped("it is in no index"));
        }
        table.update(removal).await?;
        self.rewrite_keys(key).await
    }

    /// Reads an item, and derives the keys from its fields.
    async fn item_and_keys(
        &self,
        key: &Key,
    ) -> Result<Option<(Item, &'static EntityShape, IndexKeys)>> {
        let get = Get::new(key.clone()).strong();
        let Some(item) = self.tables.core.table().get(get).await?.item else { return Ok(None) };
        let Some(kind) = entity_check_of(&item) else { return Ok(None) };
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
