//! Builds the order of a table that was created without one, by an earlier version.

use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{Item, Order, Result};

use super::Engine;
use crate::catalog::TableEntry;
use crate::group::WriterRequest;
use crate::keys::{self, KeyRange};

/// Items added by one request to the writer.
const BATCH: usize = 2_000;
/// Items read from one snapshot, which is to be held briefly.
const READ_MAX: usize = 20_000;

impl Engine {
    /// Adds all earlier items to the order of a table, if it has one that is incomplete. Can be
    /// interrupted and repeated: changes meanwhile keep what is there current.
    pub(super) async fn complete_order(&self, name: &str) -> Result<()> {
        let entry = self.entry(name)?;
        if entry.is_ordered || entry.definition.order.is_none() {
            return Ok(());
        }
        tracing::info!(table = name, "ordering the items of a table; this happens once");
        let mut rest = KeyRange::of_prefix(keys::prefix(entry.number, keys::ITEMS));
        loop {
            let (found, last) = self.keys_in_order(&entry, &rest)?;
            for batch in found.chunks(BATCH) {
                self.add_to_order(&entry, batch.to_vec()).await?;
            }
            let Some(last) = last else { break };
            // The smallest key above it.
            rest.low = [&last[..], &[0]].concat();
        }
        self.add_to_order(&entry, Vec::new()).await
    }

    async fn add_to_order(&self, entry: &Arc<TableEntry>, keys: Vec<Bytes>) -> Result<()> {
        self.send_request(|reply| WriterRequest::Order(Arc::clone(entry), keys, reply)).await
    }

    /// Returns the keys of the next items that belong into the order, and the last key read; `None`
    /// at the end.
    fn keys_in_order(
        &self,
        entry: &TableEntry,
        range: &KeyRange,
    ) -> Result<(Vec<Bytes>, Option<Bytes>)> {
        let snapshot = self.0.shared.view.snapshot()?;
        let mut cursor = snapshot.walk(range, Order::Ascending, BATCH)?;
        let mut found = Vec::new();
        for read in 1.. {
            let Some(next) = cursor.step()? else { break };
            let key = Bytes::copy_from_slice(next.key());
            let item = Item::from_stored(next.into_value());
            if item.is_some_and(|item| entry.definition.sort_in_order(&item).is_some()) {
                found.push(key.clone());
            }
            if read == READ_MAX {
                return Ok((found, Some(key)));
            }
        }
        Ok((found, None))
    }
}
