//! Every mutation of the contract as the list of writes it makes: its own, and those the stream
//! processors add. Images are typical items, so units follow from the schema, not from a guess.
//!
//! A mutation stands here as it usually is. Where it does something else altogether, that is listed
//! beside it under a name of its own that begins with the mutation's: `updateTaskDone`.

mod accounts;
mod chat;
mod counters;
mod goals;
mod groups;
mod members;
mod moderation;
mod offers;
mod people;
mod posts;
mod quests;
mod reactions;
mod sign_in;
mod staff;
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
    /// What it writes itself, in order.
    pub own: Vec<Step>,
    /// What the stream processors write because of it.
    pub derived: Vec<Step>,
}

impl Mutation {
    /// A mutation of one transaction, which can be sent again: given a `requestId`, it also keeps the
    /// outcome.
    fn repeatable(name: &'static str, own: impl IntoIterator<Item = Step>) -> Self {
        let kept = step::put(&samples::idempotency()).times(REQUEST_IDS, 1.0);
        Self::once(name, together(own.into_iter().chain([kept])))
    }

    /// A mutation without a `requestId`. Each write says whether it is part of a transaction.
    fn once(name: &'static str, own: impl IntoIterator<Item = Step>) -> Self {
        Self { name, own: own.into_iter().collect(), derived: Vec::new() }
    }

    /// What it writes itself afterwards.
    fn and(mut self, own: impl IntoIterator<Item = Step>) -> Self {
        self.own.extend(own);
        self
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

/// Writes of one transaction.
fn together(steps: impl IntoIterator<Item = Step>) -> impl Iterator<Item = Step> {
    steps.into_iter().map(Step::together)
}

/// All mutations, about in the order of the contract.
pub fn mutations() -> Vec<Mutation> {
    [
        sign_in::mutations(),
        accounts::mutations(),
        people::mutations(),
        groups::mutations(),
        members::mutations(),
        goals::mutations(),
        quests::mutations(),
        posts::mutations(),
        reactions::mutations(),
        chat::mutations(),
        offers::mutations(),
        moderation::mutations(),
        staff::mutations(),
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
