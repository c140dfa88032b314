//! Reading many items of one kind at once, wherever they are: what the page's questions about one post
//! or one person cannot ask for.

use std::collections::HashMap;
use std::hash::Hash;

use futures::future::try_join_all;
use roundtable_model::table::limits::BATCH_GET_KEYS_MAX;
use roundtable_model::table::{BatchGet, Table};
use roundtable_model::{At, Entity};

use crate::Failure;

/// The items that are there, by what they were asked for by; each place once.
pub(crate) async fn read_all<K: Eq + Hash, E: Entity>(
    table: &Table,
    places: impl IntoIterator<Item = (K, At<E>)>,
) -> Result<HashMap<K, E>, Failure> {
    let (names, places): (Vec<K>, Vec<At<E>>) = places.into_iter().unzip();
    let batches = places.chunks(BATCH_GET_KEYS_MAX).map(|places| {
        let keys = places.iter().map(|place| place.clone().into_key());
        table.batch_get(BatchGet::new(keys).strong())
    });
    let found = try_join_all(batches).await?;
    let items = found.into_iter().flat_map(|found| found.items);
    let mut all = HashMap::new();
    for (name, item) in names.into_iter().zip(items) {
        if let Some(item) = item {
            all.insert(name, E::from_item(&item)?);
        }
    }
    Ok(all)
}
