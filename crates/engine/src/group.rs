//! A commit group: requests that are evaluated in order, logged together, synced once and published
//! atomically.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{
    CancelReason, Capacity, Error, Invalid, Item, ReadMode, Result, TableDefinition, WriteOutput,
    limits,
};

use crate::catalog::{self, Catalog, TableEntry};
use crate::evaluate::{self, WriteEffect, WriteRejection};
use crate::keys;
use crate::memtable::{RunWrite, StoredValue};
use crate::record::{EngineRow, ItemChange, Record};
use crate::request::{PendingWrite, ReplySender, TransactionToken, WriterRequest};
use crate::view::View;

/// Most bytes that one request of the sweep removes.
const EXPIRY_BYTES_MAX: usize = 4 << 20;

/// A reply that is held back until the group is synced.
#[derive(Debug)]
enum PendingReply {
    Single(ReplySender<WriteOutput>, Result<WriteOutput>),
    Capacity(ReplySender<Capacity>, Result<Capacity>),
    Done(ReplySender<()>, Result<()>),
    Count(ReplySender<usize>, Result<usize>),
}

impl PendingReply {
    /// Sends the reply; a caller that went away does not need it.
    fn send(self) {
        match self {
            Self::Single(reply, result) => drop(reply.send(result)),
            Self::Capacity(reply, result) => drop(reply.send(result)),
            Self::Done(reply, result) => drop(reply.send(result)),
            Self::Count(reply, result) => drop(reply.send(result)),
        }
    }

    fn fail(self, error: &Error) {
        match self {
            Self::Single(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Capacity(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Done(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Count(reply, _) => drop(reply.send(Err(error.clone()))),
        }
    }
}

/// A group under construction.
#[derive(Debug)]
pub(crate) struct CommitGroup<'v> {
    view: &'v View,
    pub(crate) catalog: Arc<Catalog>,
    number: u64,
    next: u64,
    at_ms: u64,
    /// Values written by this group, by key.
    overlay: HashMap<Bytes, StoredValue, ahash::RandomState>,
    records: Vec<Record>,
    pub(crate) writes: Vec<RunWrite>,
    pub(crate) rows: Vec<EngineRow>,
    replies: Vec<PendingReply>,
    pub(crate) freeze: bool,
    bytes: usize,
}

impl<'v> CommitGroup<'v> {
    pub(crate) fn new(
        view: &'v View,
        catalog: Arc<Catalog>,
        number: u64,
        next: u64,
        at_ms: u64,
        expected: usize,
    ) -> Self {
        Self {
            view,
            catalog,
            number,
            next,
            at_ms,
            overlay: HashMap::with_capacity_and_hasher(expected, ahash::RandomState::new()),
            records: Vec::new(),
            writes: Vec::new(),
            rows: Vec::new(),
            replies: Vec::new(),
            freeze: false,
            bytes: 0,
        }
    }

    /// Returns roughly the bytes of its records.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of requests.
    pub(crate) fn len(&self) -> usize {
        self.replies.len()
    }

    /// Returns the last sequence it takes; the sequence before it while it has no records.
    pub(crate) const fn last(&self) -> u64 {
        self.next - 1
    }

    /// Replaces `out` with the encoded records.
    pub(crate) fn encode(&mut self, out: &mut Vec<u8>) {
        out.clear();
        if let Some(last) = self.records.last_mut() {
            last.ends_group = true;
        }
        self.records.iter().for_each(|record| record.encode(out));
    }

    /// Removes and returns the records, once they are in the log.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    pub(crate) fn first(&self) -> Option<u64> {
        self.records.first().map(|record| record.first)
    }

    pub(crate) fn send_replies(self) {
        self.replies.into_iter().for_each(PendingReply::send);
    }

    /// Fails all requests: nothing of the group happened.
    pub(crate) fn fail(self, error: &Error) {
        self.replies.into_iter().for_each(|reply| reply.fail(error));
    }

    /// Returns the time of its last request.
    pub(crate) const fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// Evaluates one request at `now_ms`. With the time of the group's first request instead, an item
    /// that the caller already saw expire could reappear.
    pub(crate) fn add(&mut self, request: WriterRequest, now_ms: u64) {
        self.at_ms = self.at_ms.max(now_ms);
        let reply = match request {
            WriterRequest::Single(target, reply) => {
                PendingReply::Single(reply, self.single(&target))
            }
            WriterRequest::Batch(targets, reply) => {
                PendingReply::Capacity(reply, self.batch(&targets))
            }
            WriterRequest::Transaction(targets, token, reply) => {
                PendingReply::Capacity(reply, self.transaction(&targets, token))
            }
            WriterRequest::CreateTable(definition, reply) => {
                PendingReply::Done(reply, self.create_table(&definition))
            }
            WriterRequest::DeleteTable(name, reply) => {
                PendingReply::Done(reply, self.delete_table(&name))
            }
            WriterRequest::Rows(rows, reply) => {
                self.record(Vec::new(), rows);
                PendingReply::Done(reply, Ok(()))
            }
            WriterRequest::Order(entry, keys, reply) => {
                PendingReply::Done(reply, self.order(&entry, &keys))
            }
            WriterRequest::Expire(entry, keys, reply) => {
                PendingReply::Count(reply, self.expire(&entry, &keys))
            }
            WriterRequest::ForgetTokens(keys, reply) => {
                PendingReply::Done(reply, self.forget_tokens(keys))
            }
            WriterRequest::Retry(reply) => {
                self.record(Vec::new(), Vec::new());
                PendingReply::Done(reply, Ok(()))
            }
            WriterRequest::Freeze(reply) => {
                self.freeze = true;
                PendingReply::Done(reply, Ok(()))
            }
        };
        self.replies.push(reply);
    }

    fn stored(&self, key: &Bytes) -> Result<StoredValue> {
        match self.overlay.get(key) {
            Some(stored) => Ok(stored.clone()),
            None => self.view.get(key),
        }
    }

    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        Ok(self.stored(key)?.and_then(Item::from_stored))
    }

    fn evaluate(&self, target: &PendingWrite) -> Result<Result<WriteEffect, WriteRejection>> {
        // The table may have been deleted since the caller looked it up.
        if self.catalog.by_number(target.entry.number).is_none() {
            let table = target.entry.definition.name.clone();
            return Err(Error::TableNotFound { table });
        }
        let stored = match self.overlay.get(&target.key) {
            Some(stored) => stored.clone(),
            None => self.view.get_with_read_ahead(&target.key, &target.read_ahead)?,
        };
        let stored = stored.and_then(Item::from_stored);
        Ok(evaluate::evaluate(&target.entry, stored, &target.write, self.at_ms / 1000))
    }

    /// Adds changes and rows as one record.
    fn record(&mut self, changes: Vec<ItemChange>, rows: Vec<EngineRow>) {
        let record = Record {
            group: self.number,
            first: self.next,
            at_ms: self.at_ms,
            ends_group: false,
            changes,
            rows,
        };
        let started = self.writes.len();
        for (sequence, change) in (record.first..).zip(&record.changes) {
            if let Some(entry) = self.catalog.by_number(change.table) {
                evaluate::derive(entry, change, sequence, &mut self.writes);
            }
            let images = change.old.iter().chain(&change.new);
            self.bytes += images.map(|image| image.as_stored().len()).sum::<usize>();
        }
        self.next = record.last() + 1;
        for (key, value) in &record.rows {
            self.bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            let (key, value) = (key.clone(), value.clone());
            self.writes.push(RunWrite { key, value, sequence: self.next - 1 });
        }
        for write in self.writes.get(started..).unwrap_or_default() {
            self.overlay.insert(write.key.clone(), write.value.clone());
        }
        self.rows.extend(record.rows.iter().cloned());
        self.records.push(record);
    }

    fn single(&mut self, target: &PendingWrite) -> Result<WriteOutput> {
        let effect = match self.evaluate(target)? {
            Ok(effect) => effect,
            Err(WriteRejection::Condition(item)) => {
                return Err(Error::ConditionFailed { item: item.map(Box::new) });
            }
            Err(WriteRejection::Invalid(invalid)) => return Err(invalid.into()),
        };
        if !effect.changes.is_empty() {
            self.record(effect.changes, Vec::new());
        }
        Ok(WriteOutput { item: effect.returned, capacity: effect.cost.standalone() })
    }

    fn batch(&mut self, targets: &[PendingWrite]) -> Result<Capacity> {
        let mut changes = Vec::with_capacity(targets.len());
        let mut capacity = Capacity::ZERO;
        for target in targets {
            match self.evaluate(target)? {
                Ok(effect) => {
                    changes.extend(effect.changes);
                    capacity += effect.cost.standalone();
                }
                Err(WriteRejection::Invalid(invalid)) => return Err(invalid.into()),
                Err(WriteRejection::Condition(_)) => {
                    return Err(Error::Unexpected { detail: String::from("a conditional batch") });
                }
            }
        }
        if !changes.is_empty() {
            self.record(changes, Vec::new());
        }
        Ok(capacity)
    }

    fn transaction(
        &mut self,
        targets: &[PendingWrite],
        token: Option<TransactionToken>,
    ) -> Result<Capacity> {
        if let Some(token) = &token
            && let Some(stored) = self.stored(&token.key)?
        {
            let (expires_ms, fingerprint) = read_token(&stored);
            if expires_ms > self.at_ms {
                let same = fingerprint == token.fingerprint;
                return if same { self.repetition_cost(targets) } else { Err(Error::TokenReused) };
            }
        }
        let mut changes = Vec::with_capacity(targets.len());
        let mut reasons = Vec::with_capacity(targets.len());
        let mut capacity = Capacity::ZERO;
        let mut bytes = 0;
        for target in targets {
            reasons.push(match self.evaluate(target)? {
                Ok(effect) => {
                    bytes += effect.after.as_ref().map_or(0, Item::size);
                    changes.extend(effect.changes);
                    capacity += effect.cost.in_transaction();
                    None
                }
                Err(WriteRejection::Condition(item)) => {
                    Some(CancelReason::ConditionFailed { item: item.map(Box::new) })
                }
                Err(WriteRejection::Invalid(invalid)) => Some(CancelReason::Invalid(invalid)),
            });
        }
        if reasons.iter().any(Option::is_some) {
            return Err(Error::Cancelled { reasons });
        }
        check_transaction_bytes(bytes)?;
        let token = token.map(|token| self.token_row(token));
        if !changes.is_empty() || token.is_some() {
            self.record(changes, token.into_iter().collect());
        }
        Ok(capacity)
    }

    /// Returns the cost of a repeated transaction, which only reads its items.
    fn repetition_cost(&self, targets: &[PendingWrite]) -> Result<Capacity> {
        let look = |target: &PendingWrite| {
            let definition = &target.entry.definition;
            let live = self.item(&target.key)?;
            let live = live.filter(|item| !definition.is_expired(item, self.at_ms / 1000));
            Ok(Capacity::read(live.as_ref().map_or(0, Item::size), ReadMode::Transactional))
        };
        targets.iter().map(look).sum()
    }

    fn token_row(&self, token: TransactionToken) -> EngineRow {
        let expires_ms = self.at_ms + limits::TOKEN_LIFETIME_MS;
        let value = [&expires_ms.to_le_bytes()[..], &token.fingerprint].concat();
        (token.key, Some(value.into()))
    }

    fn create_table(&mut self, definition: &TableDefinition) -> Result<()> {
        let Ok(existing) = self.catalog.get(&definition.name) else {
            let number = self.catalog.next_number()?;
            return self.define_table(number, definition, true);
        };
        let (number, ordered) = (existing.number, &existing.definition.order);
        let is_same = existing.definition.is_same_but_order(definition);
        match &definition.order {
            // An order is no reason to refuse a table to callers who do not know of it.
            None if is_same => Ok(()),
            Some(_) if is_same && *ordered == definition.order => Ok(()),
            Some(_) if is_same && ordered.is_none() => self.define_table(number, definition, false),
            _ => Err(Error::TableExists { table: definition.name.clone() }),
        }
    }

    fn define_table(
        &mut self,
        number: u16,
        definition: &TableDefinition,
        is_ordered: bool,
    ) -> Result<()> {
        if definition.order.is_some() {
            self.view.tree.mark_ordered()?;
        }
        self.change_catalog(catalog::table_row(number, definition, is_ordered))
    }

    fn delete_table(&mut self, name: &str) -> Result<()> {
        let number = self.catalog.get(name)?.number;
        self.change_catalog(catalog::deleted_row(number))
    }

    /// Adds items to the order of their table as they are now. Later changes keep it current.
    fn order(&mut self, entry: &TableEntry, keys: &[Bytes]) -> Result<()> {
        // The table may have been deleted since its items were read.
        let Some(entry) = self.catalog.by_number(entry.number).map(Arc::clone) else {
            return Ok(());
        };
        if keys.is_empty() {
            let TableEntry { number, definition, .. } = &*entry;
            return self.change_catalog(catalog::table_row(*number, definition, true));
        }
        let mut rows: Vec<EngineRow> = Vec::with_capacity(keys.len());
        for key in keys {
            let item = self.item(key)?;
            let place = |item| keys::order_key_of(entry.number, &entry.definition, item, key);
            if let Some(place) = item.as_ref().and_then(place) {
                rows.push((place, Some(key.clone())));
            }
        }
        if !rows.is_empty() {
            self.record(Vec::new(), rows);
        }
        Ok(())
    }

    fn change_catalog(&mut self, row: EngineRow) -> Result<()> {
        Arc::make_mut(&mut self.catalog).apply_row(&row)?;
        self.record(Vec::new(), vec![row]);
        Ok(())
    }

    fn expire(&mut self, entry: &TableEntry, keys: &[Bytes]) -> Result<usize> {
        // The table may have been deleted since the sweep read it.
        if self.catalog.by_number(entry.number).is_none() {
            return Ok(0);
        }
        let mut changes = Vec::new();
        let mut bytes = 0;
        for key in keys {
            debug_assert_eq!(keys::table_of(key), entry.number);
            if bytes > EXPIRY_BYTES_MAX {
                // The next sweep removes the rest.
                break;
            }
            if let Some(item) = self.item(key)?
                && entry.definition.is_expired(&item, self.at_ms / 1000)
            {
                bytes += item.as_stored().len();
                changes.push(evaluate::expiry(entry.number, item));
            }
        }
        let count = changes.len();
        if count > 0 {
            self.record(changes, Vec::new());
        }
        Ok(count)
    }

    /// Deletes the tokens that are still expired: one may be in use again since the sweep read it.
    fn forget_tokens(&mut self, keys: Vec<Bytes>) -> Result<()> {
        let mut rows: Vec<EngineRow> = Vec::with_capacity(keys.len());
        for key in keys {
            let stored = self.stored(&key)?;
            if stored.is_some_and(|stored| read_token(&stored).0 <= self.at_ms) {
                rows.push((key, None));
            }
        }
        if !rows.is_empty() {
            self.record(Vec::new(), rows);
        }
        Ok(())
    }
}

fn check_transaction_bytes(actual: usize) -> Result<()> {
    let max = limits::TRANSACTION_BYTES_MAX;
    if actual <= max {
        return Ok(());
    }
    let (limit, subject) = (limits::Limit::TransactionBytes, String::from("one transaction"));
    Err(Invalid::OverLimit { limit, actual, max, subject }.into())
}

/// Reads a token's row: expiry in milliseconds, and fingerprint.
pub(crate) fn read_token(stored: &[u8]) -> (u64, &[u8]) {
    stored
        .split_first_chunk()
        .map_or((0, &[][..]), |(expires, fingerprint)| (u64::from_le_bytes(*expires), fingerprint))
}
