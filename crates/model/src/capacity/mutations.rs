//! Every mutation as the list of writes it makes: those of its own transaction, and those the stream
//! processors add. Images are typical items, so units follow from the schema, not from a guess.

mod accounts;
mod chat;
mod counters;
mod goals;
mod groups;
mod people;
mod posts;
mod reactions;
mod step;

use std::collections::BTreeMap;

pub use self::step::{Act, Step};
use super::CapacityError;
use crate::samples;

/// The count that says which share of the calls carries a `requestId`.
pub const REQUEST_IDS: &str = "request_ids";

/// A mutation.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Its name.
    pub name: &'static str,
    /// What it writes, in the order of its transaction.
    pub own: Vec<Step>,
    /// What the stream processors write because of it.
    pub derived: Vec<Step>,
}

impl Mutation {
    /// A mutation of one transaction. Given a `requestId`, it also keeps the outcome.
    fn new(name: &'static str, own: impl IntoIterator<Item = Step>) -> Self {
        let kept = step::put(&samples::idempotency()).times(REQUEST_IDS, 1.0);
        let own = own.into_iter().chain([kept]).map(Step::together).collect();
        Self { name, own, derived: Vec::new() }
    }

    /// A mutation of a single write that is never repeated, so that nothing is kept of it.
    fn single(name: &'static str, own: Step) -> Self {
        Self { name, own: vec![own], derived: Vec::new() }
    }

    /// What the stream processors add.
    fn then(mut self, derived: impl IntoIterator<Item = Step>) -> Self {
        self.derived.extend(derived);
        self
    }

    /// How many of what it has several of there usually are.
    pub fn counts(&self) -> BTreeMap<&'static str, f64> {
        self.own.iter().chain(&self.derived).filter_map(|step| step.count).collect()
    }

    /// The units of its own writes, with so many of each.
    pub fn own_units(&self, counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
        sum(&self.own, counts)
    }

    /// The units of what follows from it, with so many of each.
    pub fn derived_units(
        &self,
        counts: &BTreeMap<&'static str, f64>,
    ) -> Result<f64, CapacityError> {
        sum(&self.derived, counts)
    }
}

fn sum(steps: &[Step], counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
    steps.iter().try_fold(0.0, |sum, step| Ok(sum + step.units_of(counts)?))
}

/// All mutations the plan knows, in the order of the layout.
pub fn mutations() -> Vec<Mutation> {
    [
        accounts::mutations(),
        people::mutations(),
        posts::mutations(),
        reactions::mutations(),
        groups::mutations(),
        goals::mutations(),
        chat::mutations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = mutations().iter().map(|mutation| mutation.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn what_changes_differs_and_keeps_its_place() {
        for mutation in mutations() {
            for step in mutation.own.iter().chain(&mutation.derived) {
                let what = format!("{} {} {}", mutation.name, step.act.name(), step.entity);
                let (Some(old), Some(new)) = (&step.old, &step.new) else { continue };
                assert_eq!(old != new, step.act == Act::Change, "{what}");
                assert_eq!((old.text("PK"), old.text("SK")), (new.text("PK"), new.text("SK")));
            }
        }
    }

    /// No transaction reaches the hundred items that DynamoDB takes, as it usually is.
    #[test]
    fn transactions_stay_small() {
        for mutation in mutations() {
            let items: f64 = mutation.own.iter().map(|step| step.number(&mutation.counts())).sum();
            assert!(items < 100.0, "{}: {items}", mutation.name);
        }
    }
}
