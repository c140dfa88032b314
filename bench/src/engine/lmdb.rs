//! Bare LMDB: four databases of bytes, one durable transaction per write.

use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, RwTxn};
use roundtable_table::Item;

use super::data::Address;
use super::subject::Peer;

/// Enough for every workload; LMDB maps it, and the file grows as needed.
const MAP_BYTES: usize = 64 << 30;

type RawDatabase = Database<'static, Bytes, Bytes>;

pub(crate) struct Lmdb {
    env: Env,
    items: RawDatabase,
    indexes: [RawDatabase; 2],
    stream: RawDatabase,
    sequence: AtomicU64,
}

/// The attributes that make the key of each index.
const INDEX_KEYS: [[&str; 2]; 2] = [["GSI1PK", "GSI1SK"], ["GSI2PK", "GSI2SK"]];

impl Peer for Lmdb {
    type Reader = ();
    type Writer = ();

    const NAME: &'static str = "LMDB";

    fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES).max_dbs(4).max_readers(512);
        #[expect(unsafe_code, reason = "the file is ours alone: a fresh directory of this run")]
        let env = unsafe { options.open(dir) }.context("opening LMDB")?;
        let txn = env.write_txn()?;
        let (items, first, second, stream) = env
            .create_databases_and_commit(txn, |opener, txn| {
                let mut create = |name| opener.create_database::<Bytes, Bytes>(txn, Some(name));
                let all = (create("items")?, create("gsi1")?, create("gsi2")?, create("stream")?);
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(all))
            })?
            .unwrap_commit();
        Ok(Self { env, items, indexes: [first, second], stream, sequence: AtomicU64::new(0) })
    }

    fn reader(&self) -> Result<()> {
        Ok(())
    }

    fn writer(&self) -> Result<()> {
        Ok(())
    }

    fn get(&self, (): &mut (), address: &Address) -> Result<Option<Vec<u8>>> {
        let txn = self.env.read_txn()?;
        let key = joined(&[&address.partition, &address.sort]);
        Ok(self.items.get(&txn, &key)?.map(<[u8]>::to_vec))
    }

    fn newest(&self, (): &mut (), partition: &str, limit: usize) -> Result<Vec<Vec<u8>>> {
        let txn = self.env.read_txn()?;
        let mut low = Vec::with_capacity(partition.len() + 1);
        low.extend_from_slice(partition.as_bytes());
        let mut high = low.clone();
        low.push(0);
        high.push(1);
        let range = (Bound::Included(low.as_slice()), Bound::Excluded(high.as_slice()));
        let mut newest = Vec::with_capacity(limit);
        for entry in self.items.rev_range(&txn, &range)?.take(limit) {
            newest.push(entry?.1.to_vec());
        }
        Ok(newest)
    }

    fn write(&self, (): &mut (), items: &[Item]) -> Result<()> {
        let mut txn = self.env.write_txn()?;
        items.iter().try_for_each(|item| self.put(&mut txn, item))?;
        Ok(txn.commit()?)
    }
}

impl Lmdb {
    fn put(&self, txn: &mut RwTxn<'_>, item: &Item) -> Result<()> {
        let text = |name| item.text(name).with_context(|| format!("an item without {name}"));
        let (partition, sort) = (text("PK")?, text("SK")?);
        let key = joined(&[partition, sort]);
        self.items.put(txn, &key, item.as_stored())?;
        for (index, names) in self.indexes.iter().zip(INDEX_KEYS) {
            if let [Some(first), Some(second)] = names.map(|name| item.text(name)) {
                index.put(txn, &joined(&[first, second, partition, sort]), &[])?;
            }
        }
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let record = [key.as_slice(), item.as_stored()].concat();
        Ok(self.stream.put(txn, &sequence.to_be_bytes(), &record)?)
    }
}

/// Joins texts with zero bytes, which keeps the order of the tuple.
fn joined(parts: &[&str]) -> Vec<u8> {
    let mut key = Vec::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for part in parts {
        if !key.is_empty() {
            key.push(0);
        }
        key.extend_from_slice(part.as_bytes());
    }
    key
}
