//! The writes of every mutation of the GraphQL schema: its own, and those the stream processors
//! add. Images are typical items, so that units follow from the table schema.
//!
//! A mutation is listed with its usual writes. A variant with different writes has its own entry,
//! whose name begins with the mutation's: `updateTaskDone`.

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

pub use self::step::{MutationStep, WriteKind};
use roundtable_model::samples;

use super::CapacityError;

/// The count of calls with a `requestId`: a share from 0 to 1.
pub const REQUEST_IDS: &str = "request_ids";

/// The writes that one mutation causes.
#[derive(Clone, Debug)]
pub struct MutationWrites {
    pub name: &'static str,
    /// The mutation's own writes, in order.
    pub own: Vec<MutationStep>,
    /// The writes of stream processors that follow.
    pub derived: Vec<MutationStep>,
}

impl MutationWrites {
    /// A mutation of one transaction that stores its outcome when the call has a `requestId`.
    fn idempotent(name: &'static str, own: impl IntoIterator<Item = MutationStep>) -> Self {
        let outcome = step::put(&samples::idempotency()).times(REQUEST_IDS, 1.0);
        Self::plain(name, in_transaction(own.into_iter().chain([outcome])))
    }

    /// A mutation without a `requestId`. Each write states whether it is part of a transaction.
    fn plain(name: &'static str, own: impl IntoIterator<Item = MutationStep>) -> Self {
        Self { name, own: own.into_iter().collect(), derived: Vec::new() }
    }

    /// Adds own writes after the existing ones.
    fn and_own(mut self, own: impl IntoIterator<Item = MutationStep>) -> Self {
        self.own.extend(own);
        self
    }

    /// Adds writes of stream processors.
    fn then_derived(mut self, derived: impl IntoIterator<Item = MutationStep>) -> Self {
        self.derived.extend(derived);
        self
    }

    /// Returns the usual value of each count that varies: tags, feeds.
    pub fn counts(&self) -> BTreeMap<&'static str, f64> {
        self.own.iter().chain(&self.derived).filter_map(|step| step.count).collect()
    }

    /// Returns the units of its own writes, with these counts.
    pub fn own_units(&self, counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
        sum(&self.own, counts)
    }

    /// Returns the units of the derived writes, with these counts.
    pub fn derived_units(
        &self,
        counts: &BTreeMap<&'static str, f64>,
    ) -> Result<f64, CapacityError> {
        sum(&self.derived, counts)
    }
}

fn sum(steps: &[MutationStep], counts: &BTreeMap<&'static str, f64>) -> Result<f64, CapacityError> {
    steps.iter().try_fold(0.0, |sum, step| Ok(sum + step.units_of(counts)?))
}

/// Marks writes as parts of one transaction.
fn in_transaction(
    steps: impl IntoIterator<Item = MutationStep>,
) -> impl Iterator<Item = MutationStep> {
    steps.into_iter().map(MutationStep::in_transaction)
}

/// Returns all mutations, roughly in the order of the GraphQL schema.
pub fn mutations() -> Vec<MutationWrites> {
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
    fn a_change_has_different_images_under_one_key() {
        for mutation in mutations() {
            for step in mutation.own.iter().chain(&mutation.derived) {
                let what = format!("{} {} {}", mutation.name, step.kind.name(), step.entity);
                let (Some(old), Some(new)) = (&step.old, &step.new) else { continue };
                assert_eq!(old != new, step.kind == WriteKind::Change, "{what}");
                assert_eq!((old.text("PK"), old.text("SK")), (new.text("PK"), new.text("SK")));
            }
        }
    }

    /// DynamoDB accepts at most 100 items in a transaction.
    #[test]
    fn transactions_stay_small() {
        for mutation in mutations() {
            let items: f64 = mutation.own.iter().map(|step| step.number(&mutation.counts())).sum();
            assert!(items < 100.0, "{}: {items}", mutation.name);
        }
    }
}
