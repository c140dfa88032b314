//! Request rates in TOML. Unknown access patterns, mutations and settings are refused.

use std::collections::BTreeSet;

use roundtable_model::shape::{Index, PatternOperation, PatternShape};
use serde::Deserialize;
use toml::{Table, Value};

use super::mutations::{CountValues, MutationRecord, REQUEST_IDS, mutations};
use super::nearest::nearest;
use super::settings::SettingReader;
use super::{CapacityError, reads};

/// The rates of the design documents.
const DOCUMENTS: &str = include_str!("documents.toml");

/// The requests per second of a workload.
#[derive(Clone, Debug)]
pub struct RequestRates {
    pub name: String,
    pub estimate: Option<CapacityEstimate>,
    /// The rates of access patterns, in the order of the schema.
    pub reads: Vec<ReadRate>,
    /// The rates of mutations, in the order of [`mutations`].
    pub writes: Vec<WriteRate>,
}

/// An estimate to compare with, in units per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityEstimate {
    pub read: f64,
    pub write: f64,
}

/// The rate of an access pattern, and the items it reads.
#[derive(Clone, Debug)]
pub struct ReadRate {
    pub pattern: &'static PatternShape,
    pub per_second: f64,
    pub items: u32,
    /// Partitions read: followees, shards, or days times shards.
    pub partitions: u32,
    /// The share of the keys that hold an item, or of the items that pass the filter.
    pub found: f64,
    pub strong: bool,
}

/// The rate of a mutation, and its size.
#[derive(Clone, Debug)]
pub struct WriteRate {
    pub mutation: &'static MutationRecord,
    pub per_second: f64,
    /// The average of each count that varies: tags, feeds.
    pub counts: CountValues,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesFile {
    #[serde(default)]
    reads: Table,
    #[serde(default)]
    writes: Table,
    #[serde(default)]
    plan: Vec<RatesPlan>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesPlan {
    name: String,
    estimate_read: Option<Value>,
    estimate_write: Option<Value>,
    request_ids: Option<Value>,
    #[serde(default)]
    reads: Table,
    #[serde(default)]
    writes: Table,
}

impl RequestRates {
    /// Parses rates in TOML: `[reads]` and `[writes]` of one plan, or several plans under
    /// `[[plan]]`.
    pub fn parse(text: &str) -> Result<Vec<Self>, CapacityError> {
        let RatesFile { reads, writes, plan } = toml::from_str(text)?;
        let mut all = Vec::new();
        if !reads.is_empty() || !writes.is_empty() || plan.is_empty() {
            all.push(Self::of("", "plan", &reads, &writes, None)?);
        }
        for set in &plan {
            let at = format!("plan {}: ", set.name);
            let settings = SettingReader { at: &at };
            let share = set.request_ids.as_ref();
            let share = share.map(|value| settings.share(REQUEST_IDS, value)).transpose()?;
            let mut rates = Self::of(&at, &set.name, &set.reads, &set.writes, share)?;
            rates.estimate = match (&set.estimate_read, &set.estimate_write) {
                (None, None) => None,
                (read, write) => Some(CapacityEstimate {
                    read: settings.number("estimate_read", read.as_ref())?,
                    write: settings.number("estimate_write", write.as_ref())?,
                }),
            };
            all.push(rates);
        }
        let mut names = BTreeSet::new();
        match all.iter().find(|rates| !names.insert(rates.name.as_str())) {
            Some(repeated) => Err(CapacityError::NamedTwice { name: repeated.name.clone() }),
            None => Ok(all),
        }
    }

    /// Returns the rates of the design documents: those of the small design and of the full one.
    pub fn documents() -> Result<Vec<Self>, CapacityError> {
        Self::parse(DOCUMENTS)
    }

    fn of(
        at: &str,
        name: &str,
        reads: &Table,
        writes: &Table,
        request_ids: Option<f64>,
    ) -> Result<Self, CapacityError> {
        let name = name.to_owned();
        let mut rates = Self { name, estimate: None, reads: Vec::new(), writes: Vec::new() };
        check_names(
            at,
            "reads",
            "access pattern",
            reads,
            reads::patterns().map(|pattern| pattern.name),
        )?;
        for pattern in reads::patterns() {
            for (at, value) in entries(at, "reads", pattern.name, reads) {
                rates.reads.push(ReadRate::of(pattern, &at, value)?);
            }
        }
        let mutations = mutations();
        check_names(
            at,
            "writes",
            "mutation",
            writes,
            mutations.iter().map(|mutation| mutation.name.as_str()),
        )?;
        for mutation in mutations {
            for (at, value) in entries(at, "writes", &mutation.name, writes) {
                rates.writes.push(WriteRate::of(mutation, &at, value, request_ids)?);
            }
        }
        Ok(rates)
    }
}

impl ReadRate {
    /// Returns the rate of a pattern with the page size and consistency of the schema.
    pub fn usual(pattern: &'static PatternShape, per_second: f64) -> Self {
        let single = matches!(pattern.operation, PatternOperation::Get | PatternOperation::First);
        let items = if single { 1 } else { u32::try_from(pattern.page).unwrap_or(u32::MAX) };
        Self { pattern, per_second, items, partitions: 1, found: 1.0, strong: pattern.strong }
    }

    fn of(pattern: &'static PatternShape, at: &str, value: &Value) -> Result<Self, CapacityError> {
        let settings = SettingReader { at };
        let Value::Table(table) = value else {
            return Ok(Self::usual(pattern, settings.rate(value)?));
        };
        let mut rate = Self::usual(pattern, settings.number("rate", table.get("rate"))?);
        for (name, value) in table {
            match name.as_str() {
                "rate" => {}
                "items" if returns_many(pattern) => rate.items = settings.count(name, value)?,
                "partitions" if reads_many_partitions(pattern) => {
                    rate.partitions = settings.count(name, value)?;
                }
                "found" if can_miss(pattern) => {
                    rate.found = settings.found_share(pattern, value)?;
                }
                "strong" if can_be_strong(pattern) => {
                    rate.strong = settings.boolean(name, value)?;
                }
                _ => return Err(settings.unknown(name, settings_of(pattern))),
            }
        }
        Ok(rate)
    }
}

impl WriteRate {
    /// Returns the rate of a mutation with its usual counts.
    pub fn usual(mutation: &'static MutationRecord, per_second: f64) -> Self {
        let counts = mutation.counts();
        Self { mutation, per_second, counts }
    }

    fn of(
        mutation: &'static MutationRecord,
        at: &str,
        value: &Value,
        request_ids: Option<f64>,
    ) -> Result<Self, CapacityError> {
        let settings = SettingReader { at };
        let Value::Table(table) = value else {
            let per_second = settings.rate(value)?;
            return Ok(Self::usual(mutation, per_second).with_request_ids(request_ids));
        };
        let per_second = settings.number("rate", table.get("rate"))?;
        let mut rate = Self::usual(mutation, per_second).with_request_ids(request_ids);
        for (name, value) in table.iter().filter(|(name, _)| *name != "rate") {
            let names = || std::iter::once("rate").chain(rate.counts.keys().copied());
            if !rate.counts.contains_key(name.as_str()) {
                return Err(settings.unknown(name, names()));
            }
            let value = settings.number(name, Some(value))?;
            if let Some(count) = rate.counts.get_mut(name.as_str()) {
                *count = value;
            }
        }
        Ok(rate)
    }

    fn with_request_ids(mut self, share: Option<f64>) -> Self {
        if let (Some(share), Some(count)) = (share, self.counts.get_mut(REQUEST_IDS)) {
            *count = share;
        }
        self
    }
}

/// Returns whether a call can return several items.
fn returns_many(pattern: &PatternShape) -> bool {
    !matches!(pattern.operation, PatternOperation::Get | PatternOperation::First)
}

/// Returns whether a call can read several partitions.
fn reads_many_partitions(pattern: &PatternShape) -> bool {
    matches!(pattern.operation, PatternOperation::Merge | PatternOperation::WalkDays)
}

/// Returns whether a call can pay for items it does not return: keys without an item, filtered
/// items.
fn can_miss(pattern: &PatternShape) -> bool {
    let keyed = matches!(pattern.operation, PatternOperation::Get | PatternOperation::BatchGet);
    keyed || pattern.filter.is_some()
}

/// Returns whether a call can be strong: neither on an index nor across partitions.
fn can_be_strong(pattern: &PatternShape) -> bool {
    pattern.index == Index::Main && !reads_many_partitions(pattern)
}

fn settings_of(pattern: &PatternShape) -> impl Iterator<Item = &'static str> {
    [
        ("rate", true),
        ("items", returns_many(pattern)),
        ("partitions", reads_many_partitions(pattern)),
        ("found", can_miss(pattern)),
        ("strong", can_be_strong(pattern)),
    ]
    .into_iter()
    .filter_map(|(name, applies)| applies.then_some(name))
}

/// Refuses keys of a table that are not among `names`.
fn check_names(
    at: &str,
    table: &str,
    what: &'static str,
    found: &Table,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), CapacityError> {
    match found.keys().find(|key| names.clone().all(|name| name != *key)) {
        None => Ok(()),
        Some(key) => Err(CapacityError::Unknown {
            key: format!("{at}{table}.{key}"),
            what,
            nearest: nearest(key, names),
        }),
    }
}

/// Returns the rates under a name: one, or a list where calls have several sizes.
fn entries<'a>(at: &str, table: &str, name: &str, found: &'a Table) -> Vec<(String, &'a Value)> {
    let key = format!("{at}{table}.{name}");
    match found.get(name) {
        None => Vec::new(),
        Some(Value::Array(several)) => several
            .iter()
            .enumerate()
            .map(|(number, value)| (format!("{key}[{number}]"), value))
            .collect(),
        Some(value) => vec![(key, value)],
    }
}
