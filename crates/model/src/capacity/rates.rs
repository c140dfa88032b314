//! How often what is asked and done: a TOML of rates, refused where it names what does not exist.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::{Table, Value};

use super::mutations::{Mutation, REQUEST_IDS, mutations};
use super::nearest::nearest;
use super::settings::Settings;
use super::{CapacityError, reads};
use crate::shape::{Index, PatternOperation, PatternShape};

/// The rates of the documents.
const DOCUMENTS: &str = include_str!("documents.toml");

/// What happens in a second.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Whose rates they are.
    pub name: String,
    /// What somebody has estimated for them.
    pub estimate: Option<Estimate>,
    /// What is asked, in the order of the page.
    pub reads: Vec<ReadRate>,
    /// What is done, in the order of [`mutations`].
    pub writes: Vec<WriteRate>,
}

/// Somebody's estimate, in units per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Read units.
    pub read: f64,
    /// Write units.
    pub write: f64,
}

/// How often an access pattern is asked, and what it finds.
#[derive(Clone, Debug)]
pub struct ReadRate {
    /// The pattern.
    pub pattern: &'static PatternShape,
    /// Calls per second.
    pub per_second: f64,
    /// Items on a page, or keys of a batch.
    pub items: u32,
    /// Partitions looked into: followees, shards, or days times shards.
    pub partitions: u32,
    /// The share of the keys that hold an item, or of the items that pass the filter.
    pub found: f64,
    /// Whether it reads strongly.
    pub strong: bool,
}

/// How often a mutation is made, and how large it is.
#[derive(Clone, Debug)]
pub struct WriteRate {
    /// The mutation.
    pub mutation: Mutation,
    /// Calls per second.
    pub per_second: f64,
    /// How many of what it has several of, on average: tags, feeds.
    pub counts: BTreeMap<&'static str, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    reads: Table,
    #[serde(default)]
    writes: Table,
    #[serde(default)]
    plan: Vec<Set>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    name: String,
    estimate_read: Option<Value>,
    estimate_write: Option<Value>,
    request_ids: Option<Value>,
    #[serde(default)]
    reads: Table,
    #[serde(default)]
    writes: Table,
}

impl Rates {
    /// Reads rates in TOML: `[reads]` and `[writes]` of one plan, or several under `[[plan]]`.
    pub fn parse(text: &str) -> Result<Vec<Self>, CapacityError> {
        let File { reads, writes, plan } = toml::from_str(text)?;
        let mut all = Vec::new();
        if !reads.is_empty() || !writes.is_empty() || plan.is_empty() {
            all.push(Self::of("", "plan", &reads, &writes, None)?);
        }
        for set in &plan {
            let at = format!("plan {}: ", set.name);
            let settings = Settings { at: &at };
            let share = set.request_ids.as_ref();
            let share = share.map(|value| settings.share(REQUEST_IDS, value)).transpose()?;
            let mut rates = Self::of(&at, &set.name, &set.reads, &set.writes, share)?;
            rates.estimate = match (&set.estimate_read, &set.estimate_write) {
                (None, None) => None,
                (read, write) => Some(Estimate {
                    read: settings.number("estimate_read", read.as_ref())?,
                    write: settings.number("estimate_write", write.as_ref())?,
                }),
            };
            all.push(rates);
        }
        let mut names = BTreeSet::new();
        match all.iter().find(|rates| !names.insert(rates.name.as_str())) {
            Some(twice) => Err(CapacityError::NamedTwice { name: twice.name.clone() }),
            None => Ok(all),
        }
    }

    /// The rates of the documents: the smaller design and the fuller one.
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
        known(at, "reads", "access pattern", reads, reads::patterns().map(|pattern| pattern.name))?;
        for pattern in reads::patterns() {
            for (at, value) in each(at, "reads", pattern.name, reads) {
                rates.reads.push(ReadRate::of(pattern, &at, value)?);
            }
        }
        let mutations = mutations();
        known(at, "writes", "mutation", writes, mutations.iter().map(|mutation| mutation.name))?;
        for mutation in mutations {
            for (at, value) in each(at, "writes", mutation.name, writes) {
                rates.writes.push(WriteRate::of(mutation.clone(), &at, value, request_ids)?);
            }
        }
        Ok(rates)
    }
}

impl ReadRate {
    /// The pattern as the page has it, so often.
    pub fn usual(pattern: &'static PatternShape, per_second: f64) -> Self {
        let single = matches!(pattern.operation, PatternOperation::Get | PatternOperation::First);
        let items = if single { 1 } else { u32::try_from(pattern.page).unwrap_or(u32::MAX) };
        Self { pattern, per_second, items, partitions: 1, found: 1.0, strong: pattern.strong }
    }

    fn of(pattern: &'static PatternShape, at: &str, value: &Value) -> Result<Self, CapacityError> {
        let settings = Settings { at };
        let Value::Table(table) = value else {
            return Ok(Self::usual(pattern, settings.rate(value)?));
        };
        let mut rate = Self::usual(pattern, settings.number("rate", table.get("rate"))?);
        for (name, value) in table {
            match name.as_str() {
                "rate" => {}
                "items" if many(pattern) => rate.items = settings.count(name, value)?,
                "partitions" if spread(pattern) => rate.partitions = settings.count(name, value)?,
                "found" if misses(pattern) => rate.found = settings.found(pattern, value)?,
                "strong" if strengthens(pattern) => {
                    rate.strong = settings.truth(name, value)?;
                }
                _ => return Err(settings.unknown(name, settings_of(pattern))),
            }
        }
        Ok(rate)
    }
}

impl WriteRate {
    /// The mutation as it usually is, so often.
    pub fn usual(mutation: Mutation, per_second: f64) -> Self {
        let counts = mutation.counts();
        Self { mutation, per_second, counts }
    }

    fn of(
        mutation: Mutation,
        at: &str,
        value: &Value,
        request_ids: Option<f64>,
    ) -> Result<Self, CapacityError> {
        let settings = Settings { at };
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

/// Whether a call can bring several items.
fn many(pattern: &PatternShape) -> bool {
    !matches!(pattern.operation, PatternOperation::Get | PatternOperation::First)
}

/// Whether a call can look into several partitions.
fn spread(pattern: &PatternShape) -> bool {
    matches!(pattern.operation, PatternOperation::Merge | PatternOperation::WalkDays)
}

/// Whether a call pays for what it does not bring: keys without an item, items a filter drops.
fn misses(pattern: &PatternShape) -> bool {
    let keyed = matches!(pattern.operation, PatternOperation::Get | PatternOperation::BatchGet);
    keyed || pattern.filter.is_some()
}

/// Whether a call can be asked for what was written last: not in an index, nor across partitions.
fn strengthens(pattern: &PatternShape) -> bool {
    pattern.index == Index::Main && !spread(pattern)
}

fn settings_of(pattern: &PatternShape) -> impl Iterator<Item = &'static str> {
    [
        ("rate", true),
        ("items", many(pattern)),
        ("partitions", spread(pattern)),
        ("found", misses(pattern)),
        ("strong", strengthens(pattern)),
    ]
    .into_iter()
    .filter_map(|(name, meant)| meant.then_some(name))
}

/// Refuses keys of a table that are none of `names`.
fn known(
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

/// What stands under a name: one rate, or a list of them where calls of several sizes are made.
fn each<'a>(at: &str, table: &str, name: &str, found: &'a Table) -> Vec<(String, &'a Value)> {
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
