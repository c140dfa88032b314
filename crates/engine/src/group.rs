//! A group: the requests that are evaluated in order, logged together, synced once and published at
//! once.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{
    CancelReason, Capacity, Error, Invalid, Item, ReadMode, Result, TableDefinition, Write,
    Written, limits,
};
use tokio::sync::oneshot;

use crate::catalog::{self, Catalog, Entry};
use crate::evaluate::{self, Outcome, Refusal};
use crate::keys;
use crate::memtable::{RunWrite, Stored};
use crate::record::{ItemChange, Record, Row};
use crate::view::{Early, View};

/// How much one request of the sweep removes, at most.
const EXPIRY_BYTES_MAX: usize = 4 << 20;

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// A write on its way.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) entry: Arc<Entry>,
    pub(crate) key: Bytes,
    pub(crate) write: Write,
    /// What the caller found under the key.
    pub(crate) early: Early,
}

/// A transaction's token and what it stands for.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) key: Bytes,
    pub(crate) fingerprint: [u8; 32],
}

/// A request to the writer.
#[derive(Debug)]
pub(crate) enum Request {
    One(Box<Target>, Reply<Written>),
    Batch(Vec<Target>, Reply<Capacity>),
    Transaction(Vec<Target>, Option<Token>, Reply<Capacity>),
    CreateTable(TableDefinition, Reply<()>),
    DeleteTable(String, Reply<()>),
    /// Rows of the engine itself.
    Rows(Vec<Row>, Reply<()>),
    /// Removes those of these items that are expired; answers how many were.
    Expire(Arc<Entry>, Vec<Bytes>, Reply<usize>),
    /// Forgets those of these tokens whose time is over.
    ForgetTokens(Vec<Bytes>, Reply<()>),
    /// Hands the active run to the checkpointer.
    Freeze(Reply<()>),
}

/// An answer that waits for the sync.
#[derive(Debug)]
enum Answer {
    One(Reply<Written>, Result<Written>),
    Capacity(Reply<Capacity>, Result<Capacity>),
    Done(Reply<()>, Result<()>),
    Count(Reply<usize>, Result<usize>),
}

impl Answer {
    /// A caller that went away does not need its answer.
    fn send(self) {
        match self {
            Self::One(reply, result) => drop(reply.send(result)),
            Self::Capacity(reply, result) => drop(reply.send(result)),
            Self::Done(reply, result) => drop(reply.send(result)),
            Self::Count(reply, result) => drop(reply.send(result)),
        }
    }

    fn fail(self, error: &Error) {
        match self {
            Self::One(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Capacity(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Done(reply, _) => drop(reply.send(Err(error.clone()))),
            Self::Count(reply, _) => drop(reply.send(Err(error.clone()))),
        }
    }
}

/// A group being put together.
#[derive(Debug)]
pub(crate) struct Group<'v> {
    view: &'v View,
    pub(crate) catalog: Arc<Catalog>,
    number: u64,
    next: u64,
    at_ms: u64,
    /// What the group itself wrote, by key.
    overlay: HashMap<Bytes, Stored, ahash::RandomState>,
    records: Vec<Record>,
    pub(crate) writes: Vec<RunWrite>,
    pub(crate) rows: Vec<Row>,
    answers: Vec<Answer>,
    pub(crate) freeze: bool,
    bytes: usize,
}

impl<'v> Group<'v> {
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
            answers: Vec::new(),
            freeze: false,
            bytes: 0,
        }
    }

    /// Roughly how many bytes its records take.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many requests it holds.
    pub(crate) fn len(&self) -> usize {
        self.answers.len()
    }

    /// The last sequence it takes; the one before it while it has no records.
    pub(crate) const fn last(&self) -> u64 {
        self.next - 1
    }

    /// Writes the records' bytes into `out`.
    pub(crate) fn encode(&mut self, out: &mut Vec<u8>) {
        out.clear();
        if let Some(last) = self.records.last_mut() {
            last.ends_group = true;
        }
        self.records.iter().for_each(|record| record.encode(out));
    }

    /// Its records, once they are in the log.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.records)
    }

    /// The first sequence of its records.
    pub(crate) fn first(&self) -> Option<u64> {
        self.records.first().map(|record| record.first)
    }

    /// Sends all answers.
    pub(crate) fn answer(self) {
        self.answers.into_iter().for_each(Answer::send);
    }

    /// Tells everybody that nothing of it happened.
    pub(crate) fn fail(self, error: &Error) {
        self.answers.into_iter().for_each(|answer| answer.fail(error));
    }

    /// When its last request was taken up.
    pub(crate) const fn at_ms(&self) -> u64 {
        self.at_ms
    }

    /// Evaluates one request, taken up at `now_ms`: at the time of the group's first one, an item
    /// that the caller already saw expire could come back.
    pub(crate) fn add(&mut self, request: Request, now_ms: u64) {
        self.at_ms = self.at_ms.max(now_ms);
        let answer = match request {
            Request::One(target, reply) => Answer::One(reply, self.one(&target)),
            Request::Batch(targets, reply) => Answer::Capacity(reply, self.batch(&targets)),
            Request::Transaction(targets, token, reply) => {
                Answer::Capacity(reply, self.transaction(&targets, token))
            }
            Request::CreateTable(definition, reply) => {
                Answer::Done(reply, self.create_table(&definition))
            }
            Request::DeleteTable(name, reply) => Answer::Done(reply, self.delete_table(&name)),
            Request::Rows(rows, reply) => {
                self.record(Vec::new(), rows);
                Answer::Done(reply, Ok(()))
            }
            Request::Expire(entry, keys, reply) => Answer::Count(reply, self.expire(&entry, &keys)),
            Request::ForgetTokens(keys, reply) => Answer::Done(reply, self.forget_tokens(keys)),
            Request::Freeze(reply) => {
                self.freeze = true;
                Answer::Done(reply, Ok(()))
            }
        };
        self.answers.push(answer);
    }

    fn stored(&self, key: &Bytes) -> Result<Stored> {
        match self.overlay.get(key) {
            Some(stored) => Ok(stored.clone()),
            None => self.view.get(key),
        }
    }

    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        Ok(self.stored(key)?.and_then(Item::from_stored))
    }

    fn evaluate(&self, target: &Target) -> Result<Result<Outcome, Refusal>> {
        // The table may have gone since the caller looked it up.
        if self.catalog.by_number(target.entry.number).is_none() {
            let table = target.entry.definition.name.clone();
            return Err(Error::TableMissing { table });
        }
        let stored = match self.overlay.get(&target.key) {
            Some(stored) => stored.clone(),
            None => self.view.get_late(&target.key, &target.early)?,
        };
        let stored = stored.and_then(Item::from_stored);
        Ok(evaluate::evaluate(&target.entry, stored, &target.write, self.at_ms / 1000))
    }

    /// Takes up changes and rows as one record.
    fn record(&mut self, changes: Vec<ItemChange>, rows: Vec<Row>) {
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

    fn one(&mut self, target: &Target) -> Result<Written> {
        let outcome = match self.evaluate(target)? {
            Ok(outcome) => outcome,
            Err(Refusal::Condition(item)) => {
                return Err(Error::ConditionFailed { item: item.map(Box::new) });
            }
            Err(Refusal::Invalid(invalid)) => return Err(invalid.into()),
        };
        if !outcome.changes.is_empty() {
            self.record(outcome.changes, Vec::new());
        }
        Ok(Written { item: outcome.returned, capacity: outcome.charge.alone() })
    }

    fn batch(&mut self, targets: &[Target]) -> Result<Capacity> {
        let mut changes = Vec::with_capacity(targets.len());
        let mut capacity = Capacity::ZERO;
        for target in targets {
            match self.evaluate(target)? {
                Ok(outcome) => {
                    changes.extend(outcome.changes);
                    capacity += outcome.charge.alone();
                }
                Err(Refusal::Invalid(invalid)) => return Err(invalid.into()),
                Err(Refusal::Condition(_)) => {
                    return Err(Error::Unexpected { detail: String::from("a conditional batch") });
                }
            }
        }
        if !changes.is_empty() {
            self.record(changes, Vec::new());
        }
        Ok(capacity)
    }

    fn transaction(&mut self, targets: &[Target], token: Option<Token>) -> Result<Capacity> {
        if let Some(token) = &token
            && let Some(stored) = self.stored(&token.key)?
        {
            let (expires_ms, fingerprint) = read_token(&stored);
            if expires_ms > self.at_ms {
                let same = fingerprint == token.fingerprint;
                return if same { self.repetition(targets) } else { Err(Error::TokenReused) };
            }
        }
        let mut changes = Vec::with_capacity(targets.len());
        let mut reasons = Vec::with_capacity(targets.len());
        let mut capacity = Capacity::ZERO;
        let mut bytes = 0;
        for target in targets {
            reasons.push(match self.evaluate(target)? {
                Ok(outcome) => {
                    bytes += outcome.after.as_ref().map_or(0, Item::size);
                    changes.extend(outcome.changes);
                    capacity += outcome.charge.in_transaction();
                    None
                }
                Err(Refusal::Condition(item)) => {
                    Some(CancelReason::ConditionFailed { item: item.map(Box::new) })
                }
                Err(Refusal::Invalid(invalid)) => Some(CancelReason::Invalid(invalid)),
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

    /// What doing a transaction again costs: only a look at its items.
    fn repetition(&self, targets: &[Target]) -> Result<Capacity> {
        let look = |target: &Target| {
            let definition = &target.entry.definition;
            let live = self.item(&target.key)?;
            let live = live.filter(|item| !definition.is_expired(item, self.at_ms / 1000));
            Ok(Capacity::read(live.as_ref().map_or(0, Item::size), ReadMode::Transactional))
        };
        targets.iter().map(look).sum()
    }

    fn token_row(&self, token: Token) -> Row {
        let expires_ms = self.at_ms + limits::TOKEN_LIFETIME_MS;
        let value = [&expires_ms.to_le_bytes()[..], &token.fingerprint].concat();
        (token.key, Some(value.into()))
    }

    fn create_table(&mut self, definition: &TableDefinition) -> Result<()> {
        if let Ok(existing) = self.catalog.get(&definition.name) {
            return if existing.definition == *definition {
                Ok(())
            } else {
                Err(Error::TableExists { table: definition.name.clone() })
            };
        }
        self.change_catalog(catalog::table_row(self.catalog.next_number()?, Some(definition)))
    }

    fn delete_table(&mut self, name: &str) -> Result<()> {
        let number = self.catalog.get(name)?.number;
        self.change_catalog(catalog::table_row(number, None))
    }

    fn change_catalog(&mut self, row: Row) -> Result<()> {
        Arc::make_mut(&mut self.catalog).absorb(&row)?;
        self.record(Vec::new(), vec![row]);
        Ok(())
    }

    fn expire(&mut self, entry: &Entry, keys: &[Bytes]) -> Result<usize> {
        // The table may have gone since the sweep looked.
        if self.catalog.by_number(entry.number).is_none() {
            return Ok(0);
        }
        let mut changes = Vec::new();
        let mut bytes = 0;
        for key in keys {
            debug_assert_eq!(keys::table_of(key), entry.number);
            if bytes > EXPIRY_BYTES_MAX {
                // The sweep comes back for the rest.
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

    /// Forgets those of these tokens whose time is over, also now: one may be in use again.
    fn forget_tokens(&mut self, keys: Vec<Bytes>) -> Result<()> {
        let mut rows: Vec<Row> = Vec::with_capacity(keys.len());
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

/// When a token's row expires, and what it stands for.
pub(crate) fn read_token(stored: &[u8]) -> (u64, &[u8]) {
    stored
        .split_first_chunk()
        .map_or((0, &[][..]), |(expires, fingerprint)| (u64::from_le_bytes(*expires), fingerprint))
}
