//! Reads many items of one type by their keys, across partitions.

use std::collections::HashMap;
use std::hash::Hash;

use roundtable_model::table::Table;
use roundtable_model::{Entity, EntityKey, items_by_key};

use crate::Result;

/// Returns the existing items, each under the label its key was given with.
pub(crate) async fn read_all<K: Eq + Hash, E: Entity>(
    table: &Table,
    keys: impl IntoIterator<Item = (K, EntityKey<E>)>,
) -> Result<HashMap<K, E>> {
    let (labels, keys): (Vec<K>, Vec<EntityKey<E>>) = keys.into_iter().unzip();
    let found = labels.into_iter().zip(items_by_key(table.clone(), keys).await?);
    Ok(found.filter_map(|(label, item)| Some((label, item?))).collect())
}
