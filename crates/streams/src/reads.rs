//! Reading many items of one kind at once, wherever they are: what the page's questions about one post
//! or one person cannot ask for.

use std::collections::HashMap;
use std::hash::Hash;

use roundtable_model::table::Table;
use roundtable_model::{At, Entity, items_at};

use crate::Failure;

/// The items that are there, by what they were asked for by.
pub(crate) async fn read_all<K: Eq + Hash, E: Entity>(
    table: &Table,
    places: impl IntoIterator<Item = (K, At<E>)>,
) -> Result<HashMap<K, E>, Failure> {
    let (names, places): (Vec<K>, Vec<At<E>>) = places.into_iter().unzip();
    let found = names.into_iter().zip(items_at(table.clone(), places).await?);
    Ok(found.filter_map(|(name, item)| Some((name, item?))).collect())
}
