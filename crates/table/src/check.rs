//! Refuses requests that break a limit or rule, before any backend sees them.

use std::collections::HashSet;

use crate::condition::Resolved;
use crate::definition::check_part;
use crate::limits::{self, Limit};
use crate::update::Action;
use crate::{
    BatchGet, BatchWrite, Comparison, Condition, Get, Invalid, Item, Key, Kind, Merge, Operand,
    Path, Position, Query, Scalar, Scan, SortRange, TableDefinition, TableGet, TableWrite, Term,
    Transaction, Update, Value, ValueRef, Write,
};

type Checked = Result<(), Invalid>;

fn at_most(limit: Limit, actual: usize, max: usize, subject: impl Into<String>) -> Checked {
    if actual <= max {
        return Ok(());
    }
    Err(Invalid::OverLimit { limit, actual, max, subject: subject.into() })
}

impl TableDefinition {
    /// Refuses an item that may not be stored in this table.
    pub fn check_item(&self, item: &Item) -> Checked {
        let Some(key) = self.key.read(item) else {
            return Err(self.key_fault(item));
        };
        self.key.check(&key)?;
        let subject = || key.to_string();
        for (name, value) in item {
            check_name(name, &subject)?;
            check_value(name, value, 0, &subject)?;
        }
        at_most(Limit::ItemBytes, item.size(), limits::ITEM_BYTES_MAX, subject())?;
        self.indexes.iter().try_for_each(|index| index.check(item))
    }

    /// Why the key of `item` cannot be read.
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
        Invalid::Refused { detail: String::from("the item's key cannot be read") }
    }

    pub(crate) fn check_get(&self, get: &Get) -> Checked {
        self.key.check(&get.key)?;
        check_paths(&get.projection)
    }

    pub(crate) fn check_batch_get(&self, batch: &BatchGet) -> Checked {
        if batch.keys.is_empty() {
            return Err(Invalid::Nothing { what: "a batch read without keys" });
        }
        at_most(Limit::BatchGetKeys, batch.keys.len(), limits::BATCH_GET_KEYS_MAX, &*self.name)?;
        batch.keys.iter().try_for_each(|key| self.key.check(key))?;
        all_different(batch.keys.iter())?;
        check_paths(&batch.projection)
    }

    pub(crate) fn check_batch_write(&self, writes: &[BatchWrite]) -> Checked {
        if writes.is_empty() {
            return Err(Invalid::Nothing { what: "a batch without writes" });
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
        all_different(keys)
    }

    /// Refuses a write that no item could make valid.
    pub fn check_write(&self, write: &Write) -> Checked {
        match write {
            Write::Put(put) => self.check_item(&put.item)?,
            Write::Update(update) => self.check_update(update)?,
            Write::Delete(delete) => self.key.check(&delete.key)?,
            Write::Check(check) => self.key.check(&check.key)?,
        }
        write.condition().map_or(Ok(()), check_condition)
    }

    fn check_update(&self, update: &Update) -> Checked {
        self.key.check(&update.key)?;
        let operators = update.actions.iter().map(Action::operators).sum();
        let key = || update.key.to_string();
        at_most(Limit::Operators, operators, limits::OPERATORS_MAX, key())?;
        for (at, action) in update.actions.iter().enumerate() {
            let path = action.path();
            check_paths(std::slice::from_ref(path))?;
            if self.key.names(path.name()) {
                return Err(Invalid::UpdatesKey { attribute: path.name().to_owned(), key: key() });
            }
            let earlier = update.actions.iter().take(at).map(Action::path);
            if let Some(first) = earlier.into_iter().find(|earlier| earlier.overlaps(path)) {
                return Err(Invalid::PathOverlap { first: first.clone(), second: path.clone() });
            }
            check_action(action, &key)?;
            self.check_index_keys(action)?;
        }
        Ok(())
    }

    /// Refuses a constant that no index key may have; what depends on the item shows later.
    fn check_index_keys(&self, action: &Action) -> Checked {
        let (Action::Set(path, Term::Value(value)) | Action::Add(path, value)) = action else {
            return Ok(());
        };
        if !path.steps().is_empty() {
            return Ok(());
        }
        let alone = Item::from_iter([(path.name(), value.clone())]);
        self.indexes.iter().try_for_each(|index| index.check(&alone))
    }

    /// Refuses a query this table cannot answer.
    pub(crate) fn check_query(&self, query: &Query, strong_index_reads: bool) -> Checked {
        let index = query.index.as_deref();
        self.check_strength(index, query.strong, strong_index_reads)?;
        self.check_range(index, &query.partition, &query.sort)?;
        self.check_start(index, query.start.as_ref())?;
        if let Some(start) = &query.start {
            let key = start.index.as_ref().unwrap_or(&start.base);
            let inside = key.partition == query.partition
                && key.sort.as_ref().is_none_or(|sort| query.sort.contains(sort));
            if !inside {
                return Err(Invalid::BadStart { key: key.to_string() });
            }
        }
        if query.limit == Some(0) {
            return Err(Invalid::ZeroLimit);
        }
        check_paths(&query.projection)?;
        self.check_carried(index, &query.projection, query.filter.as_ref())?;
        let Some(filter) = &query.filter else {
            return Ok(());
        };
        check_condition(filter)?;
        let key = self.key_of(index)?;
        let mut named = None;
        filter.visit_paths(&mut |path| {
            if key.names(path.name()) {
                named = Some(path.name().to_owned());
            }
        });
        named.map_or(Ok(()), |attribute| Err(Invalid::FilterOnKey { attribute }))
    }

    pub(crate) fn check_scan(&self, scan: &Scan, strong_index_reads: bool) -> Checked {
        let index = scan.index.as_deref();
        self.check_strength(index, scan.strong, strong_index_reads)?;
        self.check_start(index, scan.start.as_ref())?;
        if let Some((segment, total)) = scan.segment {
            let max = limits::SCAN_SEGMENTS_MAX as usize;
            at_most(Limit::ScanSegments, total as usize, max, &*self.name)?;
            if segment >= total {
                return Err(Invalid::BadSegment { segment, total });
            }
        }
        if scan.limit == Some(0) {
            return Err(Invalid::ZeroLimit);
        }
        check_paths(&scan.projection)?;
        self.check_carried(index, &scan.projection, scan.filter.as_ref())?;
        scan.filter.as_ref().map_or(Ok(()), check_condition)
    }

    pub(crate) fn check_merge(&self, merge: &Merge) -> Checked {
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
            return Err(Invalid::SameItemTwice { key: twice.to_string() });
        }
        if merge.limit == 0 {
            return Err(Invalid::ZeroLimit);
        }
        check_paths(&merge.projection)?;
        self.check_carried(index, &merge.projection, None)
    }

    /// Refuses a read of attributes that the index does not carry.
    fn check_carried(
        &self,
        index: Option<&str>,
        projection: &[Path],
        filter: Option<&Condition>,
    ) -> Checked {
        let Some(index) = index else { return Ok(()) };
        let Some(carried) = self.projected(self.index(index)?) else {
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

    fn check_strength(&self, index: Option<&str>, strong: bool, possible: bool) -> Checked {
        match index {
            Some(index) if strong && !possible => {
                self.index(index)?;
                Err(Invalid::StrongIndexRead { index: index.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn check_range(&self, index: Option<&str>, partition: &Scalar, range: &SortRange) -> Checked {
        let key = self.key_of(index)?;
        check_part(&key.partition, partition, true, || partition.to_string())?;
        if *range == SortRange::All {
            return Ok(());
        }
        let Some(sort) = &key.sort else {
            return Err(Invalid::KeyUnexpected { key: partition.to_string() });
        };
        for bound in range.bounds() {
            check_part(sort, bound, false, || format!("{partition} / {bound}"))?;
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

    fn check_start(&self, index: Option<&str>, start: Option<&Position>) -> Checked {
        let Some(start) = start else { return Ok(()) };
        self.key.check(&start.base)?;
        match (index, &start.index) {
            (Some(index), Some(key)) => self.key_of(Some(index))?.check(key),
            (None, None) => Ok(()),
            _ => Err(Invalid::BadStart { key: start.base.to_string() }),
        }
    }
}

impl Transaction {
    /// Refuses a transaction that breaks a limit, whatever the items are.
    pub(crate) fn check(&self) -> Checked {
        if self.writes.is_empty() {
            return Err(Invalid::Nothing { what: "a transaction without writes" });
        }
        let max = limits::TRANSACTION_ITEMS_MAX;
        at_most(Limit::TransactionItems, self.writes.len(), max, "one transaction")?;
        if let Some(token) = &self.token {
            if token.is_empty() {
                return Err(Invalid::Nothing { what: "an empty transaction token" });
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
        all_different(self.writes.iter().filter_map(TableWrite::address))
    }
}

impl TableWrite {
    fn address(&self) -> Option<Addressed> {
        let key = self.write.key(&self.table)?;
        Some(Addressed { table: self.table.name.clone(), key })
    }
}

/// A key and its table, for telling items of several tables apart.
#[derive(PartialEq, Eq, Hash)]
struct Addressed {
    table: String,
    key: Key,
}

impl std::fmt::Display for Addressed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in {}", self.key, self.table)
    }
}

pub(crate) fn check_transact_get(gets: &[TableGet]) -> Checked {
    if gets.is_empty() {
        return Err(Invalid::Nothing { what: "a transaction without reads" });
    }
    let max = limits::TRANSACTION_ITEMS_MAX;
    at_most(Limit::TransactionItems, gets.len(), max, "one transaction")?;
    gets.iter().try_for_each(|get| get.table.check_get(&get.get))?;
    let address =
        |get: &TableGet| Addressed { table: get.table.name.clone(), key: get.get.key.clone() };
    all_different(gets.iter().map(address))
}

fn all_different<K: Eq + std::hash::Hash + ToString>(keys: impl Iterator<Item = K>) -> Checked {
    let mut seen = HashSet::new();
    for key in keys {
        if let Some(key) = seen.replace(key) {
            return Err(Invalid::SameItemTwice { key: key.to_string() });
        }
    }
    Ok(())
}

fn check_name(name: &str, subject: &dyn Fn() -> String) -> Checked {
    if name.is_empty() {
        return Err(Invalid::EmptyName { subject: subject() });
    }
    at_most(Limit::NameBytes, name.len(), limits::NAME_BYTES_MAX, subject())
}

fn check_value(
    name: &str,
    value: ValueRef<'_>,
    depth: usize,
    subject: &dyn Fn() -> String,
) -> Checked {
    let deeper = || {
        at_most(
            Limit::Nesting,
            depth + 2, // with the item around it
            limits::NESTING_MAX,
            format!("{name:?} of {}", subject()),
        )
    };
    let empty = match value {
        ValueRef::L(mut values) => {
            deeper()?;
            return values.try_for_each(|value| check_value(name, value, depth + 1, subject));
        }
        ValueRef::M(mut entries) => {
            deeper()?;
            return entries.try_for_each(|(field, value)| {
                check_name(field, subject)?;
                check_value(name, value, depth + 1, subject)
            });
        }
        ValueRef::Ss(mut texts) => texts.next().is_none(),
        ValueRef::Ns(mut numbers) => numbers.next().is_none(),
        ValueRef::Bs(mut blobs) => blobs.next().is_none(),
        _ => false,
    };
    if empty {
        return Err(Invalid::EmptySet { attribute: name.to_owned(), subject: subject() });
    }
    Ok(())
}

fn check_paths(paths: &[Path]) -> Checked {
    for (at, path) in paths.iter().enumerate() {
        let depth = 1 + path.steps().len();
        at_most(Limit::PathDepth, depth, limits::PATH_DEPTH_MAX, path.to_string())?;
        check_name(path.name(), &|| path.to_string())?;
        if let Some(first) = paths.iter().take(at).find(|earlier| earlier.overlaps(path)) {
            return Err(Invalid::PathOverlap { first: first.clone(), second: path.clone() });
        }
    }
    Ok(())
}

fn check_condition(condition: &Condition) -> Checked {
    at_most(Limit::Operators, condition.operators(), limits::OPERATORS_MAX, "one condition")?;
    let mut fault = Ok(());
    condition.visit_paths(&mut |path| {
        if fault.is_ok() {
            fault = check_paths(std::slice::from_ref(path));
        }
    });
    fault?;
    check_operands(condition)
}

fn check_operands(condition: &Condition) -> Checked {
    match condition {
        Condition::In(_, others) if others.is_empty() => {
            return Err(Invalid::Nothing { what: "IN without operands" });
        }
        Condition::In(_, others) => {
            at_most(Limit::InOperands, others.len(), limits::IN_OPERANDS_MAX, "one IN")
        }
        Condition::All(inner) | Condition::Any(inner) => inner.iter().try_for_each(check_operands),
        Condition::Not(inner) => check_operands(inner),
        _ => Ok(()),
    }?;
    check_operand_types(condition)
}

/// Refuses what can be seen to make no sense without any item, as DynamoDB does.
fn check_operand_types(condition: &Condition) -> Checked {
    let ordered = &[Kind::S, Kind::N, Kind::B];
    match condition {
        Condition::Compare(left, how, right) => {
            if !matches!(how, Comparison::Equal | Comparison::NotEqual) {
                of_kind("comparison by order", "text, a number or bytes", left, ordered)?;
                of_kind("comparison by order", "text, a number or bytes", right, ordered)?;
            }
            all_distinct(left, std::slice::from_ref(right))
        }
        Condition::Between(first, low, high) => {
            for operand in [first, low, high] {
                of_kind("BETWEEN", "text, a number or bytes", operand, ordered)?;
            }
            let bounds = (Resolved::constant(low), Resolved::constant(high));
            if let (Some(low), Some(high)) = bounds
                && low.order(high).is_none_or(std::cmp::Ordering::is_gt)
            {
                let (low, high) = (low.to_value(), high.to_value());
                return Err(Invalid::EmptyRange {
                    low: format!("{low:?}"),
                    high: format!("{high:?}"),
                });
            }
            all_distinct(first, &[low.clone(), high.clone()])
        }
        Condition::In(first, others) => all_distinct(first, others),
        Condition::BeginsWith(path, prefix) => {
            of_kind("begins_with", "text or bytes", prefix, &[Kind::S, Kind::B])?;
            all_distinct(&Operand::Path(path.clone()), std::slice::from_ref(prefix))
        }
        Condition::Contains(path, member) => {
            all_distinct(&Operand::Path(path.clone()), std::slice::from_ref(member))
        }
        _ => Ok(()),
    }
}

fn of_kind(
    action: &'static str,
    expected: &'static str,
    operand: &Operand,
    kinds: &[Kind],
) -> Checked {
    let found = match operand {
        Operand::Path(_) => return Ok(()),
        Operand::Value(value) => value.kind(),
        Operand::Size(_) => Kind::N,
    };
    if kinds.contains(&found) {
        return Ok(());
    }
    Err(Invalid::OperandType {
        action,
        path: String::from("an operand"),
        expected,
        found: found.to_string(),
        key: String::from("of a condition"),
    })
}

/// Refuses to compare a path with itself.
fn all_distinct(first: &Operand, others: &[Operand]) -> Checked {
    match first {
        Operand::Path(path) if others.contains(first) => {
            Err(Invalid::SameOperand { path: path.clone() })
        }
        _ => Ok(()),
    }
}

fn check_action(action: &Action, key: &dyn Fn() -> String) -> Checked {
    let (name, path, value) = match action {
        Action::Add(path, value) => ("ADD", path, value),
        Action::Subtract(path, value) => ("DELETE", path, value),
        Action::Set(..) | Action::Remove(_) => return Ok(()),
    };
    if !path.steps().is_empty() {
        return Err(Invalid::TopLevelOnly { action: name, path: path.clone() });
    }
    let empty = match value {
        Value::N(_) if name == "ADD" => false,
        Value::Ss(texts) => texts.is_empty(),
        Value::Ns(numbers) => numbers.is_empty(),
        Value::Bs(blobs) => blobs.is_empty(),
        other => {
            return Err(Invalid::OperandType {
                action: name,
                path: path.to_string(),
                expected: if name == "ADD" { "a number or a set" } else { "a set" },
                found: other.kind().to_string(),
                key: key(),
            });
        }
    };
    if empty {
        return Err(Invalid::EmptySet { attribute: path.name().to_owned(), subject: key() });
    }
    Ok(())
}
