//! Generates random scripts.

use std::sync::Arc;

use bytes::Bytes;
use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_table::{
    BatchGet, BatchWrite, Check, Comparison, Condition, Delete, Get, Merge, Operand, Order, Path,
    Position, Put, Query, Returning, Scalar, Scan, SortRange, TableDefinition, Term, Update, Value,
    ValueKind, Write, size_of,
};

use crate::samples::{Samples, attributes_of, pick, schemas};
use crate::script::{NAMES, NamedTable, Step};

pub(crate) struct ScriptGenerator {
    rng: SmallRng,
    samples: Samples,
    tables: Vec<Arc<TableDefinition>>,
    /// Transactions with tokens, to be repeated.
    repeatable: Vec<Step>,
}

impl ScriptGenerator {
    pub(crate) fn new(mut rng: SmallRng) -> Self {
        let samples = Samples::choose(&mut rng);
        Self { rng, samples, tables: Vec::new(), repeatable: Vec::new() }
    }

    /// A few tables, a few items in each, then anything.
    pub(crate) fn write(mut self) -> Vec<Step> {
        let tables = self.rng.random_range(1..=NAMES.len());
        let steps = self.rng.random_range(15..60);
        let mut script: Vec<Step> =
            NAMES.into_iter().take(tables).map(|name| self.create(name)).collect();
        for table in [self.tables.clone(), self.tables.clone()].concat() {
            script.push(Step::BatchWrite(NamedTable(Arc::clone(&table)), self.batch(&table)));
        }
        script.extend((0..steps).map(|_| self.step()));
        script
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_ratio(1, n)
    }

    fn create(&mut self, name: &str) -> Step {
        let definition = Arc::new(pick(&mut self.rng, &schemas(name)).clone());
        if !self.tables.iter().any(|table| table.name == name) {
            self.tables.push(Arc::clone(&definition));
        }
        Step::CreateTable(definition)
    }

    fn table(&mut self) -> Arc<TableDefinition> {
        Arc::clone(pick(&mut self.rng, &self.tables))
    }

    fn step(&mut self) -> Step {
        if self.tables.is_empty() || self.one_in(60) {
            let name = *pick(&mut self.rng, &NAMES);
            return self.create(name);
        }
        let table = self.table();
        match self.rng.random_range(0..100) {
            0 => {
                let name = table.name.clone();
                self.tables.retain(|table| table.name != name);
                Step::DeleteTable(name)
            }
            1 => Step::DescribeTables,
            2..22 => Step::Put(NamedTable(Arc::clone(&table)), self.put(&table)),
            22..34 => Step::Update(NamedTable(Arc::clone(&table)), self.update(&table)),
            34..40 => Step::Delete(NamedTable(Arc::clone(&table)), self.delete(&table)),
            40..45 => Step::BatchWrite(NamedTable(Arc::clone(&table)), self.batch(&table)),
            45..54 => self.transaction(),
            54..57 => Step::Get(NamedTable(Arc::clone(&table)), self.get(&table)),
            57..59 => Step::BatchGet(NamedTable(Arc::clone(&table)), self.batch_get(&table)),
            59..61 => self.transact_get(),
            61..71 => Step::Query(NamedTable(Arc::clone(&table)), self.query(&table)),
            71..75 => Step::Scan(NamedTable(Arc::clone(&table)), self.scan(&table)),
            75..80 => Step::Merge(NamedTable(Arc::clone(&table)), self.merge(&table)),
            80..83 => Step::Stream(
                NamedTable(table),
                self.rng.random_range(0..1000),
                self.rng.random_range(1..6),
            ),
            83..90 => Step::AdvanceMs(*pick(&mut self.rng, &[1, 900, 1000, 5000, 40_000, 700_000])),
            90..93 => Step::Sweep,
            93..95 => Step::Checkpoint,
            95 => Step::Reopen,
            96..98 => Step::Crash,
            _ => self.repetition(),
        }
    }

    fn returning(&mut self) -> Returning {
        *pick(&mut self.rng, &[Returning::Nothing, Returning::Old, Returning::New])
    }

    fn condition_for(&mut self, table: &TableDefinition) -> Option<Condition> {
        self.one_in(5).then(|| self.condition(table, 2))
    }

    fn put(&mut self, table: &TableDefinition) -> Put {
        let mut item = self.samples.item(&mut self.rng, table);
        if self.one_in(400) {
            item = item.with("bulk", "b".repeat(self.rng.random_range(200_000..420_000)));
        }
        let condition = self.condition_for(table);
        Put { item, condition, returning: self.returning() }
    }

    fn update(&mut self, table: &TableDefinition) -> Update {
        let key = self.samples.key(&mut self.rng, &table.key);
        let (condition, returning) = (self.condition_for(table), self.returning());
        let mut update = Update { key, actions: Vec::new(), condition, returning };
        for _ in 0..self.rng.random_range(0..4) {
            update = self.act(update, table);
        }
        update
    }

    /// Adds an action; two may overlap, which is invalid.
    fn act(&mut self, update: Update, table: &TableDefinition) -> Update {
        let name = pick(&mut self.rng, &attributes_of(table)).clone();
        let value = self.samples.attribute(&mut self.rng, &name);
        // Only valid ttls are set: nothing may expire at second 0, the time of the engine's upkeep
        // thread.
        let mut path = self.path(table);
        while path.name() == "ttl" {
            path = self.path(table);
        }
        match self.rng.random_range(0..12) {
            0..4 => update.set(name, value),
            4 => update.set("n", Term::if_not_exists("n", 0).plus(1)),
            5 => {
                let list = Term::if_not_exists("list", Value::L(Vec::new()));
                update.set("list", list.append(Value::list([1])))
            }
            6 => update.set(path, value),
            7 if name != "ttl" => update.set(name, Term::Path(path)),
            7 | 8 => update.remove(path),
            9 => update.remove(name),
            10 => update.add(if self.one_in(2) { "n" } else { "set" }, self.addend()),
            _ => update.subtract("set", Value::texts([*pick(&mut self.rng, &["x", "y"])])),
        }
    }

    fn addend(&mut self) -> Value {
        if self.one_in(2) { Value::from(1) } else { Value::texts(["x"]) }
    }

    fn path(&mut self, table: &TableDefinition) -> Path {
        match self.rng.random_range(0..8) {
            0 => Path::new("map").field("a"),
            1 => Path::new("map").field("b").index(0),
            2 => Path::new("map").field("c"),
            3 => Path::new("list").index(0),
            4 => Path::new("list").index(self.rng.random_range(0..6)),
            5 => Path::new(table.key.partition.name.clone()),
            _ => Path::new(pick(&mut self.rng, &attributes_of(table)).clone()),
        }
    }

    fn condition(&mut self, table: &TableDefinition, depth: u32) -> Condition {
        let path = self.path(table);
        let same_kind = |generator: &mut Self| {
            let name = path.name().to_owned();
            Operand::Value(generator.samples.attribute(&mut generator.rng, &name))
        };
        let comparisons = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ];
        let kinds =
            [ValueKind::S, ValueKind::N, ValueKind::B, ValueKind::L, ValueKind::M, ValueKind::Ss];
        let choices = if depth > 0 { 14 } else { 11 };
        match self.rng.random_range(0..choices) {
            0..2 => Condition::Exists(path),
            2..4 => Condition::NotExists(path),
            4..6 => {
                let how = *pick(&mut self.rng, &comparisons);
                let other = same_kind(self);
                Condition::Compare(Operand::Path(path), how, other)
            }
            6 => size_of(path).ge(self.rng.random_range(0..3)),
            7 => {
                let (low, high) = (same_kind(self), same_kind(self));
                Condition::Between(Operand::Path(path), low, high)
            }
            8 => Condition::In(Operand::Path(path.clone()), vec![same_kind(self), same_kind(self)]),
            9 => Condition::IsA(path, *pick(&mut self.rng, &kinds)),
            10 if self.one_in(2) => Condition::BeginsWith(path, Operand::from("a")),
            10 => Condition::Contains(path, Operand::from(1)),
            11 => self.condition(table, depth - 1).and(self.condition(table, depth - 1)),
            12 => self.condition(table, depth - 1).or(self.condition(table, depth - 1)),
            _ => self.condition(table, depth - 1).negate(),
        }
    }

    fn delete(&mut self, table: &TableDefinition) -> Delete {
        let key = self.samples.key(&mut self.rng, &table.key);
        Delete { key, condition: self.condition_for(table), returning: self.returning() }
    }

    fn batch(&mut self, table: &TableDefinition) -> Vec<BatchWrite> {
        let mut batch: Vec<BatchWrite> = Vec::new();
        let key = |write: &BatchWrite| match write {
            BatchWrite::Put(item) => table.key.read(item),
            BatchWrite::Delete(key) => Some(key.clone()),
        };
        for _ in 0..self.rng.random_range(1..10) {
            let write = if self.one_in(3) {
                BatchWrite::Delete(self.samples.key(&mut self.rng, &table.key))
            } else {
                BatchWrite::Put(self.samples.item(&mut self.rng, table))
            };
            // Mostly without duplicates, which make the batch invalid.
            if !batch.iter().any(|other| key(other) == key(&write)) || self.one_in(50) {
                batch.push(write);
            }
        }
        batch
    }

    fn transaction(&mut self) -> Step {
        let mut writes: Vec<(NamedTable, Write)> = Vec::new();
        for _ in 0..self.rng.random_range(1..6) {
            let table = self.table();
            let write = match self.rng.random_range(0..8) {
                0..3 => Write::Put(self.put(&table)),
                3..5 => Write::Update(self.update(&table)),
                5..7 => Write::Delete(self.delete(&table)),
                _ => {
                    let key = self.samples.key(&mut self.rng, &table.key);
                    let condition = self.condition(&table, 1);
                    Write::Check(Check { key, condition, returning: self.returning() })
                }
            };
            let key = write.key(&table);
            let again =
                writes.iter().any(|(other, w)| other.0.name == table.name && w.key(&table) == key);
            if !again || self.one_in(50) {
                writes.push((NamedTable(table), write));
            }
        }
        if self.one_in(2) {
            return Step::Transact(writes, None);
        }
        // Few tokens, so that some are reused with other writes.
        let token = format!("token {}", self.rng.random_range(0..5));
        let step = Step::Transact(writes, Some(token));
        self.repeatable.push(step.clone());
        step
    }

    fn repetition(&mut self) -> Step {
        if self.repeatable.is_empty() {
            return self.transaction();
        }
        pick(&mut self.rng, &self.repeatable).clone()
    }

    fn get(&mut self, table: &TableDefinition) -> Get {
        let key = self.samples.key(&mut self.rng, &table.key);
        Get { key, strong: self.one_in(2), projection: self.projection(table) }
    }

    fn batch_get(&mut self, table: &TableDefinition) -> BatchGet {
        let keys =
            (0..self.rng.random_range(1..8)).map(|_| self.samples.key(&mut self.rng, &table.key));
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        keys.dedup();
        BatchGet { keys, strong: self.one_in(2), projection: self.projection(table) }
    }

    fn transact_get(&mut self) -> Step {
        let mut gets: Vec<(NamedTable, Get)> = Vec::new();
        for _ in 0..self.rng.random_range(1..6) {
            let table = self.table();
            let get = self.get(&table);
            if !gets.iter().any(|(other, g)| other.0.name == table.name && g.key == get.key) {
                gets.push((NamedTable(table), get));
            }
        }
        Step::TransactGet(gets)
    }

    fn projection(&mut self, table: &TableDefinition) -> Vec<Path> {
        if !self.one_in(4) {
            return Vec::new();
        }
        let mut paths: Vec<Path> = Vec::new();
        for _ in 0..self.rng.random_range(1..4) {
            let path = self.path(table);
            if !paths.iter().any(|other| other.overlaps(&path)) {
                paths.push(path);
            }
        }
        paths
    }

    fn index(&mut self, table: &TableDefinition) -> Option<String> {
        let at = self.rng.random_range(0..=table.indexes.len());
        table.indexes.get(at).map(|index| index.name.clone())
    }

    fn sort_range(&mut self, table: &TableDefinition, index: Option<&str>) -> SortRange {
        let Some(sort) = table.key_of(index).unwrap().sort.as_ref() else { return SortRange::All };
        let value = self.samples.value(&mut self.rng, &sort.name);
        let other = self.samples.value(&mut self.rng, &sort.name);
        match self.rng.random_range(0..20) {
            0 => SortRange::Equal(value),
            1 => SortRange::Less(value),
            2 => SortRange::LessOrEqual(value),
            3 => SortRange::Greater(value),
            4 => SortRange::GreaterOrEqual(value),
            5 => SortRange::Between(value.clone().min(other.clone()), value.max(other)),
            6..8 => SortRange::BeginsWith(self.beginning(value)),
            _ => SortRange::All,
        }
    }

    fn beginning(&mut self, value: Scalar) -> Scalar {
        match value {
            Scalar::S(text) => {
                let len = self.rng.random_range(0..=text.chars().count());
                Scalar::S(text.chars().take(len).collect())
            }
            Scalar::B(bytes) => {
                let len = self.rng.random_range(0..=bytes.len());
                Scalar::B(Bytes::copy_from_slice(bytes.get(..len).unwrap_or_default()))
            }
            number @ Scalar::N(_) => number,
        }
    }

    /// A start position of a page, with or without an item there.
    fn start(&mut self, table: &TableDefinition, index: Option<&str>) -> Option<Position> {
        if !self.one_in(2) {
            return None;
        }
        let base = self.samples.key(&mut self.rng, &table.key);
        let index = index.map(|index| {
            let key = table.key_of(Some(index)).unwrap();
            self.samples.key(&mut self.rng, key)
        });
        Some(Position { base, index })
    }

    fn order(&mut self) -> Order {
        if self.one_in(2) { Order::Ascending } else { Order::Descending }
    }

    fn query(&mut self, table: &TableDefinition) -> Query {
        let index = self.index(table);
        let key = table.key_of(index.as_deref()).unwrap();
        let partition = self.samples.value(&mut self.rng, &key.partition.name);
        let mut start = self.start(table, index.as_deref());
        if let Some(start) = &mut start {
            let key = start.index.as_mut().unwrap_or(&mut start.base);
            key.partition = partition.clone();
        }
        Query {
            sort: self.sort_range(table, index.as_deref()),
            order: self.order(),
            limit: self.one_in(2).then(|| self.rng.random_range(1..5)),
            start,
            filter: self.one_in(4).then(|| self.condition(table, 1)),
            projection: self.projection(table),
            strong: self.one_in(2),
            index,
            partition,
        }
    }

    fn scan(&mut self, table: &TableDefinition) -> Scan {
        let index = self.index(table);
        let total = self.rng.random_range(1..5);
        Scan {
            segment: self.one_in(2).then(|| (self.rng.random_range(0..total), total)),
            limit: self.one_in(2).then(|| self.rng.random_range(1..6)),
            start: self.start(table, index.as_deref()),
            filter: self.one_in(4).then(|| self.condition(table, 1)),
            projection: self.projection(table),
            strong: self.one_in(2),
            index,
        }
    }

    fn merge(&mut self, table: &TableDefinition) -> Merge {
        let index = self.index(table);
        let key = table.key_of(index.as_deref()).unwrap();
        let mut partitions = self.samples.values(&key.partition.name);
        partitions.truncate(self.rng.random_range(1..=partitions.len()));
        Merge {
            partitions,
            sort: self.sort_range(table, index.as_deref()),
            order: self.order(),
            limit: self.rng.random_range(1..6),
            start: self.start(table, index.as_deref()),
            projection: self.projection(table),
            index,
        }
    }
}
