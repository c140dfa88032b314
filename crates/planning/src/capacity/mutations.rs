//! The recorded cost of every mutation of the GraphQL schema: its own operations, and those the
//! stream processors add. The file is written by the test `costs` of `roundtable-testkit`, which runs
//! the services.
//!
//! A variant of a mutation with different writes has its own entry, whose name begins with the
//! mutation's: `updateTaskDone`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::expression::CountExpression;

/// The count of calls with a `requestId`: a share from 0 to 1.
pub const REQUEST_IDS: &str = "request_ids";

#[expect(clippy::expect_used, reason = "the file is built in, and a test reads it")]
static RECORDED: LazyLock<Vec<MutationRecord>> = LazyLock::new(|| {
    let file: RecordedFile =
        toml::from_str(include_str!("mutations.toml")).expect("the recorded costs must parse");
    file.mutation
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedFile {
    mutation: Vec<MutationRecord>,
}

/// The operations that one mutation causes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutationRecord {
    pub name: String,
    counts: BTreeMap<String, f64>,
    /// The read units of the mutation itself.
    pub own_reads: CountExpression,
    /// The mutation's own writes.
    pub own: Vec<WriteRecord>,
    /// The read units of the stream processors that follow.
    pub derived_reads: CountExpression,
    /// The writes of the stream processors.
    pub derived: Vec<WriteRecord>,
}

/// Equal writes of a mutation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteRecord {
    pub kind: WriteKind,
    pub entity: String,
    /// The size of the largest image, before or after the write.
    pub bytes: u32,
    pub transaction: bool,
    /// The write units of one write, including indexes.
    pub units: u32,
    /// The number of writes.
    pub times: CountExpression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteKind {
    Put,
    Change,
    Delete,
    /// Checks a condition in a transaction.
    Check,
}

impl WriteKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Change => "change",
            Self::Delete => "delete",
            Self::Check => "check",
        }
    }
}

/// The values of counts: tags, feeds.
pub type CountValues = BTreeMap<&'static str, f64>;

impl MutationRecord {
    /// Returns the usual value of each count that varies.
    pub fn counts(&'static self) -> CountValues {
        self.counts.iter().map(|(name, usual)| (name.as_str(), *usual)).collect()
    }

    /// Returns the write units of its own writes.
    pub fn own_units(&self, counts: &CountValues) -> f64 {
        self.own.iter().map(|write| write.units_of(counts)).sum()
    }

    /// Returns the write units of the stream processors' writes.
    pub fn derived_units(&self, counts: &CountValues) -> f64 {
        self.derived.iter().map(|write| write.units_of(counts)).sum()
    }

    /// Returns the read units of the mutation and the stream processors.
    pub fn read_units(&self, counts: &CountValues) -> f64 {
        self.own_reads.value(counts) + self.derived_reads.value(counts)
    }
}

impl WriteRecord {
    /// Returns the units of all such writes.
    pub fn units_of(&self, counts: &CountValues) -> f64 {
        f64::from(self.units) * self.times.value(counts)
    }
}

/// Returns all mutations, in the order of the GraphQL schema.
pub fn mutations() -> &'static [MutationRecord] {
    &RECORDED
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use roundtable_model::SCHEMA;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> =
            mutations().iter().map(|mutation| mutation.name.as_str()).collect();
        assert_eq!(names.len(), mutations().len());
    }

    #[test]
    fn entities_and_counts_exist() {
        for mutation in mutations() {
            let (counts, writes) =
                (mutation.counts(), mutation.own.iter().chain(&mutation.derived));
            let reads = [&mutation.own_reads, &mutation.derived_reads].into_iter();
            for name in reads
                .chain(writes.clone().map(|write| &write.times))
                .flat_map(CountExpression::counts)
            {
                assert!(counts.contains_key(name), "{} has no count {name}", mutation.name);
            }
            for write in writes {
                let found = SCHEMA.iter().any(|table| table.entity(&write.entity).is_some());
                assert!(found, "{} writes {}", mutation.name, write.entity);
            }
        }
    }

    /// DynamoDB accepts at most 100 items in a transaction.
    #[test]
    fn transactions_stay_small() {
        for mutation in mutations() {
            let transactional = mutation.own.iter().filter(|write| write.transaction);
            let items: f64 = transactional.map(|write| write.times.value(&mutation.counts())).sum();
            assert!(items < 100.0, "{}: {items}", mutation.name);
        }
    }
}
