//! Fuzzes the tree with changed values. What is not a value is LMDB's, which trusts its file.

use std::cell::OnceCell;

use roundtable_engine::Engine;
use roundtable_table::{Error, Get, Store};

use super::base_store::{BaseStore, ROWS, directory, key, options, stepped, text};
use crate::choices::ByteChoices;
use crate::response_checks::hash;
use crate::runner::Coverage;

thread_local! {
    static BASE: OnceCell<BaseStore> = const { OnceCell::new() };
}

/// Changes texts of rows in the tree's file, and reads all rows. Panics on a finding.
pub fn values(bytes: &[u8]) -> Coverage {
    let mut choices = ByteChoices(bytes);
    let (log, mut tree) = BASE.with(|base| {
        let base = base.get_or_init(BaseStore::build);
        (base.log.clone(), base.tree.clone())
    });
    for _ in 0..=choices.pick(4) {
        let needle = text(choices.pick(ROWS)).into_bytes();
        let found = tree.windows(needle.len()).position(|part| part == needle);
        if let Some(found) = found {
            let at = found + choices.pick(needle.len());
            tree[at] ^= 1 << choices.pick(8);
        }
    }
    let directory = directory();
    BaseStore::write_tree(&tree, directory.path());
    let disk = BaseStore::disk(&log);
    let engine = Engine::open(directory.path(), options(&disk)).unwrap();
    let table = stepped(&engine, Store::new(engine.clone()).table("town")).unwrap();
    let mut coverage = Coverage::default();
    for row in 0..ROWS {
        match stepped(&engine, table.get(Get::new(key(row)))) {
            Ok(found) => {
                let found = found.item.and_then(|item| item.text("text").map(str::to_owned));
                assert!(
                    found.is_none_or(|found| found == text(row)),
                    "row {row} was served changed"
                );
            }
            Err(Error::Damaged { .. }) => drop(coverage.insert(hash(&format!("damaged {row}")))),
            Err(error) => panic!("row {row}: {error}"),
        }
    }
    coverage
}
