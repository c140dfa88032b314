//! Implements the table contract for the engine.

use roundtable_table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Get, GetManyOutput, GetOutput,
    Invalid, Item, ItemPage, Limit, Merge, Put, Query, ReadMode, Result, Scan, ShardInfo,
    StreamPage, StreamRead, TableDefinition, TableGet, TableWrite, Transaction, Update, Walk,
    WalkPage, WriteOutput, async_trait, limits,
};

use super::Engine;
use crate::request::{PendingWrite, TransactionToken, WriterRequest};
use crate::{catalog, keys, read, stream};

#[async_trait]
impl Backend for Engine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            strong_index_reads: true,
            single_process: true,
            transaction_conflicts: false,
            walks: true,
        }
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        self.send_request(|reply| WriterRequest::CreateTable(definition.clone(), reply)).await?;
        self.complete_order(&definition.name).await
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        Ok(self.entry(name)?.definition.clone())
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.0.shared.catalog.read().names())
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        self.send_request(|reply| WriterRequest::DeleteTable(name.to_owned(), reply)).await
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        let entry = self.entry(&table.name)?;
        let stored = self.0.shared.view.get(&keys::item_key(entry.number, &get.key))?;
        let item = self.live(&entry, stored);
        let size = item.as_ref().map_or(0, Item::size);
        let item = item.map(|item| read::project(item, &get.projection));
        Ok(GetOutput { item, capacity: Capacity::read(size, ReadMode::of(get.strong)) })
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        let entry = self.entry(&table.name)?;
        // More than DynamoDB promises: it is also cheaper than a snapshot for each key.
        let snapshot = self.0.shared.view.snapshot()?;
        let mut capacity = Capacity::ZERO;
        let mut items = Vec::with_capacity(batch.keys.len());
        for key in &batch.keys {
            let stored = snapshot.get(&keys::item_key(entry.number, key))?;
            let item = self.live(&entry, stored);
            let size = item.as_ref().map_or(0, Item::size);
            capacity += Capacity::read(size, ReadMode::of(batch.strong));
            items.push(item.map(|item| read::project(item, &batch.projection)));
        }
        Ok(GetManyOutput { items, capacity })
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        let entries: Result<Vec<_>> = gets.iter().map(|get| self.entry(&get.table.name)).collect();
        let entries = entries?;
        let snapshot = self.0.shared.view.snapshot()?;
        let mut capacity = Capacity::ZERO;
        let mut items = Vec::with_capacity(gets.len());
        let mut bytes = 0;
        for (entry, TableGet { get, .. }) in entries.iter().zip(&gets) {
            let stored = snapshot.get(&keys::item_key(entry.number, &get.key))?;
            let item = self.live(entry, stored);
            let size = item.as_ref().map_or(0, Item::size);
            capacity += Capacity::read(size, ReadMode::Transactional);
            bytes += size;
            items.push(item.map(|item| read::project(item, &get.projection)));
        }
        let max = limits::TRANSACTION_BYTES_MAX;
        if bytes > max {
            let (limit, subject) =
                (Limit::TransactionBytes, String::from("one transactional read"));
            return Err(Invalid::OverLimit { limit, actual: bytes, max, subject }.into());
        }
        Ok(GetManyOutput { items, capacity })
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.write(table, put.into()).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.write(table, update.into()).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.write(table, delete.into()).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        let writes = writes.into_iter().map(|write| match write {
            BatchWrite::Put(item) => Put::new(item).into(),
            BatchWrite::Delete(key) => Delete::new(key).into(),
        });
        let targets = self.pending_writes(table, writes.collect())?;
        self.send_request(|reply| WriterRequest::Batch(targets, reply)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        let Transaction { writes, token } = transaction;
        let targets =
            writes.into_iter().map(|TableWrite { table, write }| self.pending_write(&table, write));
        let targets = targets.collect::<Result<Vec<_>>>()?;
        let token = token.map(|token| TransactionToken {
            key: catalog::token_key(&token),
            fingerprint: fingerprint(&targets),
        });
        self.send_request(|reply| WriterRequest::Transaction(targets, token, reply)).await
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        let entry = self.entry(&table.name)?;
        read::query(&entry, &self.0.shared.view.snapshot()?, &query, self.now_seconds())
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        let entry = self.entry(&table.name)?;
        read::scan(&entry, &self.0.shared.view.snapshot()?, &scan, self.now_seconds())
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        let entry = self.entry(&table.name)?;
        read::merge(&entry, &self.0.shared.view.snapshot()?, &merge, self.now_seconds())
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        let entry = self.entry(&table.name)?;
        read::walk(&entry, &self.0.shared.view.snapshot()?, &walk, self.now_seconds())
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        self.entry(&table.name).map(|_| stream::shards())
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let entry = self.entry(&table.name)?;
        stream::read(&self.0.shared, &entry, read).await
    }
}

/// Identifies a transaction for its token: a hash over the debug output of its writes, and its keys
/// (debug output shortens long ones). Stored for ten minutes: renaming a type, field or variant of
/// [`Write`](roundtable_table::Write) makes tokens from before an upgrade look reused.
fn fingerprint(targets: &[PendingWrite]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for PendingWrite { entry, key, write, .. } in targets {
        let printed = format!("{:?} {write:?}", entry.definition);
        for part in [printed.as_bytes(), key.get(keys::PREFIX_BYTES..).unwrap_or_default()] {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
    }
    *hasher.finalize().as_bytes()
}
