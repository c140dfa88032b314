//! Builds the order of a table that was created without one, by an earlier version.

use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{Item, Order, Result};

use super::Engine;
use crate::catalog::TableEntry;
use crate::keys::{self, KeyRange};
use crate::request::WriterRequest;

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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use roundtable_table::{KeyDefinition, Put, Store, TableDefinition, item};

    use super::*;
    use crate::Options;
    use crate::tree::Tree;

    fn plain() -> TableDefinition {
        TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
    }

    fn ordered() -> TableDefinition {
        plain().with_order("A#", "T#")
    }

    async fn format_with(path: &Path, definition: TableDefinition) -> Option<String> {
        let engine = Engine::open(path, Options::default()).unwrap();
        Store::new(engine.clone()).create_table(definition).await.unwrap();
        engine.0.shared.view.tree.format()
    }

    #[tokio::test]
    async fn the_format_is_2_from_the_first_order_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert_eq!(format_with(path, plain()).await.as_deref(), Some("1"));
        assert_eq!(format_with(path, ordered()).await.as_deref(), Some("2"));
        assert_eq!(format_with(path, plain()).await.as_deref(), Some("2"));
    }

    #[tokio::test]
    async fn an_order_in_a_tree_of_format_1_is_marked_in_backups_and_by_the_next_start() {
        let directory = tempfile::tempdir().unwrap();
        let (path, into) = (directory.path().join("data"), directory.path().join("backup"));
        format_with(&path, ordered()).await;
        let engine = Engine::open(&path, Options::default()).unwrap();
        engine.0.shared.view.tree.set_format("1").unwrap();
        engine.backup(&into).unwrap();
        drop(engine);
        assert_eq!(Tree::open(&into, true).unwrap().format().as_deref(), Some("2"));
        let engine = Engine::open(&path, Options::default()).unwrap();
        assert_eq!(engine.0.shared.view.tree.format().as_deref(), Some("2"));
    }

    #[tokio::test]
    async fn an_order_that_is_not_complete_is_no_finding_of_an_audit() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path(), Options::default()).unwrap();
        let store = Store::new(engine.clone());
        store.create_table(plain()).await.unwrap();
        let item = item! { "PK" => "A#1", "SK" => "T#1" };
        store.table("town").await.unwrap().put(Put::new(item)).await.unwrap();
        let define = |reply| WriterRequest::CreateTable(ordered(), reply);
        engine.send_request(define).await.unwrap();
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
        engine.complete_order("town").await.unwrap();
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn an_unknown_format_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let engine = Engine::open(directory.path(), Options::default()).unwrap();
        engine.0.shared.view.tree.set_format("3").unwrap();
        drop(engine);
        let refused = Engine::open(directory.path(), Options::default()).unwrap_err().to_string();
        assert!(
            refused.contains(r#"its format is "3", this program reads "1" and "2""#),
            "{refused}"
        );
    }
}
