//! Rejects requests that break a limit or rule, before any backend sees them.

mod expression_length;
mod parts;

use std::collections::HashSet;

use self::expression_length::{ExpressionLength, check_lengths};
use self::parts::{check_action, check_condition, check_name, check_paths, check_value};
use crate::definition::check_key_part;
use crate::limits::{self, Limit};
use crate::update::UpdateAction;
use crate::{
    BatchGet, BatchWrite, Check, Condition, Delete, Get, Invalid, Item, Key, Merge, Path, Position,
    Put, Query, Scalar, Scan, SortRange, StreamRead, TableDefinition, TableGet, TableWrite, Term,
    Transaction, Update, Walk, Write,
};

type CheckResult = Result<(), Invalid>;

fn at_most(limit: Limit, actual: usize, max: usize, subject: impl Into<String>) -> CheckResult {
    if actual <= max {
        return Ok(());
    }
    Err(Invalid::OverLimit { limit, actual, max, subject: subject.into() })
}

/// Same as [`at_most`], but builds the subject only on failure: hardly any request breaks a limit.
fn at_most_of(
    limit: Limit,
    actual: usize,
    max: usize,
    subject: &dyn Fn() -> String,
) -> CheckResult {
    if actual <= max { Ok(()) } else { at_most(limit, actual, max, subject()) }
}

impl TableDefinition {
    /// Rejects an item that may not be stored in this table.
    pub fn check_item(&self, item: &Item) -> CheckResult {
        let Some(key) = self.key.read(item) else {
            return Err(self.key_fault(item));
        };
        self.key.check(&key)?;
        let subject = || key.to_string();
        for (name, value) in item {
            check_name(name, &subject)?;
            check_value(name, value, 0, &subject)?;
        }
        at_most_of(Limit::ItemBytes, item.size(), limits::ITEM_BYTES_MAX, &subject)?;
        self.indexes.iter().try_for_each(|index| index.check(item))
    }

    /// Returns the reason why the key of `item` cannot be read.
    fn key_fault(&self, item: &Item) -> Invalid {
        for attribute in self.key.attributes() {
            let key = || String::from("of the item written");
            match item.get(&attribute.name) {
                None => {
                    return Invalid::KeyMissing { attribute: attribute.name.clone(), key: key() };
                }
                Some(value) if value.kind() != attribute.kind.kind() => {
                    return Invalid::KeyType {
                        attribute: attribute.name.clone(),
                        expected: attribute.kind.kind(),
                        found: value.kind(),
                        key: key(),
                    };
                }
                Some(_) => {}
            }
        }
        Invalid::Rejected { detail: String::from("the item's key cannot be read") }
    }

    pub(crate) fn check_get(&self, get: &Get) -> CheckResult {
        self.key.check(&get.key)?;
        self.check_projection(&get.projection, None)
    }

    pub(crate) fn check_batch_get(&self, batch: &BatchGet) -> CheckResult {
        if batch.keys.is_empty() {
            return Err(Invalid::EmptyRequest { what: "a batch read without keys" });
        }
        at_most(Limit::BatchGetKeys, batch.keys.len(), limits::BATCH_GET_KEYS_MAX, &*self.name)?;
        batch.keys.iter().try_for_each(|key| self.key.check(key))?;
        check_no_duplicates(batch.keys.iter())?;
        self.check_projection(&batch.projection, None)
    }

    pub(crate) fn check_batch_write(&self, writes: &[BatchWrite]) -> CheckResult {
        if writes.is_empty() {
            return Err(Invalid::EmptyRequest { what: "a batch without writes" });
        }
        at_most(Limit::BatchWriteItems, writes.len(), limits::BATCH_WRITE_ITEMS_MAX, &*self.name)?;
        for write in writes {
            match write {
                BatchWrite::Put(item) => self.check_item(item)?,
                BatchWrite::Delete(key) => self.key.check(key)?,
            }
        }
        let keys = writes.iter().filter_map(|write| match write {
            BatchWrite::Put(item) => self.key.read(item),
            BatchWrite::Delete(key) => Some(key.clone()),
        });
        check_no_duplicates(keys)
    }

    /// Rejects a write that is invalid for every stored item.
    pub fn check_write(&self, write: &Write) -> CheckResult {
        match write {
            Write::Put(put) => self.check_put(put),
            Write::Update(update) => self.check_update(update),
            Write::Delete(delete) => self.check_delete(delete),
            Write::Check(Check { key, condition, .. }) => {
                self.check_key_and_condition(key, Some(condition))
            }
        }
    }

    pub(crate) fn check_put(&self, put: &Put) -> CheckResult {
        self.check_item(&put.item)?;
        let key = || self.key.read(&put.item).map_or_else(String::new, |key| key.to_string());
        check_write_expressions(put.condition.as_ref(), None, &key)
    }

    pub(crate) fn check_delete(&self, delete: &Delete) -> CheckResult {
        self.check_key_and_condition(&delete.key, delete.condition.as_ref())
    }

    fn check_key_and_condition(&self, key: &Key, condition: Option<&Condition>) -> CheckResult {
        self.key.check(key)?;
        check_write_expressions(condition, None, &|| key.to_string())
    }

    pub(crate) fn check_update(&self, update: &Update) -> CheckResult {
        self.key.check(&update.key)?;
        let operators = update.actions.iter().map(UpdateAction::operators).sum();
        let key = || update.key.to_string();
        at_most_of(Limit::Operators, operators, limits::OPERATORS_MAX, &key)?;
        for (at, action) in update.actions.iter().enumerate() {
            let path = action.path();
            check_paths(std::slice::from_ref(path))?;
            if self.key.contains(path.name()) {
                return Err(Invalid::UpdatesKey { attribute: path.name().to_owned(), key: key() });
            }
            let earlier = update.actions.iter().take(at).map(UpdateAction::path);
            if let Some(first) = earlier.into_iter().find(|earlier| earlier.overlaps(path)) {
                return Err(Invalid::PathOverlap { first: first.clone(), second: path.clone() });
            }
            check_action(action, &key)?;
            self.check_index_keys(action)?;
        }
        check_write_expressions(update.condition.as_ref(), Some(&update.actions), &key)
    }

    /// Rejects paths that overlap, or that are too long together with the filter.
    fn check_projection(&self, projection: &[Path], filter: Option<&Condition>) -> CheckResult {
        let texts = [
            ExpressionLength::of_paths(projection),
            filter.map_or_else(ExpressionLength::default, ExpressionLength::of),
        ];
        check_lengths(&texts, &|| self.name.clone())?;
        check_paths(projection)
    }

    /// Rejects a constant that is no valid index key; values that depend on the item are checked later.
    fn check_index_keys(&self, action: &UpdateAction) -> CheckResult {
        let (UpdateAction::Set(path, Term::Value(value)) | UpdateAction::Add(path, value)) = action
        else {
            return Ok(());
        };
        if !path.steps().is_empty() {
            return Ok(());
        }
        let alone = Item::from_iter([(path.name(), value.clone())]);
        self.indexes.iter().try_for_each(|index| index.check(&alone))
    }

    pub(crate) fn check_query(&self, query: &Query, strong_index_reads: bool) -> CheckResult {
        let index = query.index.as_deref();
        self.check_strength(index, query.strong, strong_index_reads)?;
        self.check_range(index, &query.partition, &query.sort)?;
        self.check_start(index, query.start.as_ref())?;
        if let Some(start) = &query.start {
            let key = start.index.as_ref().unwrap_or(&start.base);
            let inside = key.partition == query.partition
                && key.sort.as_ref().is_none_or(|sort| query.sort.contains(sort));
            if !inside {
                return Err(Invalid::InvalidStart { key: key.to_string() });
            }
        }
        if query.limit == Some(0) {
            return Err(Invalid::ZeroLimit);
        }
        self.check_projection(&query.projection, query.filter.as_ref())?;
        self.check_projected(index, &query.projection, query.filter.as_ref())?;
        let Some(filter) = &query.filter else {
            return Ok(());
        };
        check_condition(filter)?;
        let key = self.key_of(index)?;
        let mut named = None;
        filter.visit_paths(&mut |path| {
            if key.contains(path.name()) {
                named = Some(path.name().to_owned());
            }
        });
        named.map_or(Ok(()), |attribute| Err(Invalid::FilterOnKey { attribute }))
    }

    pub(crate) fn check_scan(&self, scan: &Scan, strong_index_reads: bool) -> CheckResult {
        let index = scan.index.as_deref();
        self.check_strength(index, scan.strong, strong_index_reads)?;
        self.check_start(index, scan.start.as_ref())?;
        if let Some((segment, total)) = scan.segment {
            let max = limits::SCAN_SEGMENTS_MAX as usize;
            at_most(Limit::ScanSegments, total as usize, max, &*self.name)?;
            if segment >= total {
                return Err(Invalid::InvalidSegment { segment, total });
            }
        }
        if scan.limit == Some(0) {
            return Err(Invalid::ZeroLimit);
        }
        self.check_projection(&scan.projection, scan.filter.as_ref())?;
        self.check_projected(index, &scan.projection, scan.filter.as_ref())?;
        scan.filter.as_ref().map_or(Ok(()), check_condition)
    }

    pub(crate) fn check_stream_read(&self, read: &StreamRead) -> CheckResult {
        if read.limit == 0 {
            return Err(Invalid::ZeroLimit);
        }
        at_most(Limit::StreamChanges, read.limit, limits::STREAM_CHANGES_MAX, &*self.name)?;
        read.filter.as_ref().map_or(Ok(()), check_condition)
    }

    pub(crate) fn check_merge(&self, merge: &Merge) -> CheckResult {
        let index = merge.index.as_deref();
        let max = limits::MERGE_PARTITIONS_MAX;
        at_most(Limit::MergePartitions, merge.partitions.len(), max, &*self.name)?;
        self.key_of(index)?;
        for partition in &merge.partitions {
            self.check_range(index, partition, &merge.sort)?;
        }
        self.check_start(index, merge.start.as_ref())?;
        let mut seen = HashSet::with_capacity(merge.partitions.len());
        if let Some(twice) = merge.partitions.iter().find(|partition| !seen.insert(*partition)) {
            return Err(Invalid::DuplicateItem { key: twice.to_string() });
        }
        if merge.limit == 0 {
            return Err(Invalid::ZeroLimit);
        }
        at_most(Limit::MergeItems, merge.limit, limits::MERGE_ITEMS_MAX, &*self.name)?;
        self.check_projection(&merge.projection, None)?;
        self.check_projected(index, &merge.projection, None)
    }

    pub(crate) fn check_walk(&self, walk: &Walk<'_>) -> CheckResult {
        if self.order.is_none() {
            let detail = format!("table {:?} has no order", self.name);
            return Err(Invalid::Rejected { detail });
        }
        if walk.limit == 0 || walk.passed_max == 0 {
            return Err(Invalid::ZeroLimit);
        }
        Ok(())
    }

    /// Rejects a read of attributes that the index does not project.
    fn check_projected(
        &self,
        index: Option<&str>,
        projection: &[Path],
        filter: Option<&Condition>,
    ) -> CheckResult {
        let Some(index) = index else { return Ok(()) };
        let Some(carried) = self.projected_attributes(self.index(index)?) else {
            return Ok(());
        };
        let mut absent = None;
        let mut look = |path: &Path| {
            if !carried.iter().any(|name| name == path.name()) {
                absent = Some(path.name().to_owned());
            }
        };
        projection.iter().for_each(&mut look);
        if let Some(filter) = filter {
            filter.visit_paths(&mut look);
        }
        match absent {
            Some(attribute) => Err(Invalid::NotProjected { index: index.to_owned(), attribute }),
            None => Ok(()),
        }
    }

    fn check_strength(&self, index: Option<&str>, strong: bool, possible: bool) -> CheckResult {
        match index {
            Some(index) if strong && !possible => {
                self.index(index)?;
                Err(Invalid::StrongIndexRead { index: index.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn check_range(
        &self,
        index: Option<&str>,
        partition: &Scalar,
        range: &SortRange,
    ) -> CheckResult {
        let key = self.key_of(index)?;
        check_key_part(&key.partition, partition, true, || partition.to_string())?;
        if *range == SortRange::All {
            return Ok(());
        }
        let Some(sort) = &key.sort else {
            return Err(Invalid::KeyUnexpected { key: partition.to_string() });
        };
        for bound in range.bounds() {
            check_key_part(sort, bound, false, || format!("{partition} / {bound}"))?;
        }
        match range {
            SortRange::Between(low, high) if low > high => {
                Err(Invalid::EmptyRange { low: low.to_string(), high: high.to_string() })
            }
            SortRange::BeginsWith(Scalar::N(_)) => {
                Err(Invalid::PrefixOfNumber { attribute: sort.name.clone() })
            }
            _ => Ok(()),
        }
    }

    fn check_start(&self, index: Option<&str>, start: Option<&Position>) -> CheckResult {
        let Some(start) = start else { return Ok(()) };
        self.key.check(&start.base)?;
        match (index, &start.index) {
            (Some(index), Some(key)) => self.key_of(Some(index))?.check(key),
            (None, None) => Ok(()),
            _ => Err(Invalid::InvalidStart { key: start.base.to_string() }),
        }
    }
}

/// Rejects the expressions of a write if their operands are invalid or their text is too long.
fn check_write_expressions(
    condition: Option<&Condition>,
    actions: Option<&[UpdateAction]>,
    subject: &dyn Fn() -> String,
) -> CheckResult {
    condition.map_or(Ok(()), check_condition)?;
    let texts = [
        actions.map_or_else(ExpressionLength::default, ExpressionLength::of_actions),
        condition.map_or_else(ExpressionLength::default, ExpressionLength::of),
    ];
    check_lengths(&texts, subject)
}

impl Transaction {
    /// Rejects a transaction that breaks a limit regardless of the stored items.
    pub(crate) fn check(&self) -> CheckResult {
        if self.writes.is_empty() {
            return Err(Invalid::EmptyRequest { what: "a transaction without writes" });
        }
        let max = limits::TRANSACTION_ITEMS_MAX;
        at_most(Limit::TransactionItems, self.writes.len(), max, "one transaction")?;
        if let Some(token) = &self.token {
            if token.is_empty() {
                return Err(Invalid::EmptyRequest { what: "an empty transaction token" });
            }
            at_most(Limit::TokenBytes, token.len(), limits::TOKEN_BYTES_MAX, &**token)?;
        }
        self.writes.iter().try_for_each(|write| write.table.check_write(&write.write))?;
        let bytes = self.writes.iter().map(|write| match &write.write {
            Write::Put(put) => put.item.size(),
            _ => 0,
        });
        let max = limits::TRANSACTION_BYTES_MAX;
        at_most(Limit::TransactionBytes, bytes.sum(), max, "one transaction")?;
        check_no_duplicates(self.writes.iter().filter_map(TableWrite::address))
    }
}

impl TableWrite {
    fn address(&self) -> Option<ItemAddress> {
        let key = self.write.key(&self.table)?;
        Some(ItemAddress { table: self.table.name.clone(), key })
    }
}

/// A key and its table, to distinguish items of several tables.
#[derive(PartialEq, Eq, Hash)]
struct ItemAddress {
    table: String,
    key: Key,
}

impl std::fmt::Display for ItemAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {}", self.key, self.table)
    }
}

pub(crate) fn check_transact_get(gets: &[TableGet]) -> CheckResult {
    if gets.is_empty() {
        return Err(Invalid::EmptyRequest { what: "a transaction without reads" });
    }
    let max = limits::TRANSACTION_ITEMS_MAX;
    at_most(Limit::TransactionItems, gets.len(), max, "one transaction")?;
    gets.iter().try_for_each(|get| get.table.check_get(&get.get))?;
    let address =
        |get: &TableGet| ItemAddress { table: get.table.name.clone(), key: get.get.key.clone() };
    check_no_duplicates(gets.iter().map(address))
}

fn check_no_duplicates<K: Eq + std::hash::Hash + ToString>(
    keys: impl Iterator<Item = K>,
) -> CheckResult {
    let mut seen = HashSet::new();
    for key in keys {
        if let Some(key) = seen.replace(key) {
            return Err(Invalid::DuplicateItem { key: key.to_string() });
        }
    }
    Ok(())
}
