//! Every mutation that the API has is in the plan, under its own name.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_planning::capacity::{REQUEST_IDS, mutations};

/// Returns the mutations of the GraphQL schema, with whether they take a `requestId`.
fn contract() -> BTreeMap<&'static str, bool> {
    let schema = include_str!("../../../graphql/schema.graphql");
    let (_, mutations) = schema.split_once("\ntype Mutation {").unwrap();
    let (mutations, _) = mutations.split_once("\n}").unwrap();
    let (mut fields, mut last) = (BTreeMap::new(), None);
    for line in mutations.lines().map(str::trim) {
        let name = line.split_once('(').map(|(name, _)| name);
        if let Some(name) = name.filter(|name| name.chars().all(|it| it.is_ascii_alphanumeric())) {
            fields.insert(name, false);
            last = Some(name);
        } else if let Some(name) = last.filter(|_| line.starts_with("requestId: ID")) {
            fields.insert(name, true);
        }
    }
    fields
}

/// Returns the mutation that an entry is, or is a variant of.
fn mutation_of(entry: &str, contract: &BTreeMap<&'static str, bool>) -> Option<&'static str> {
    let names = contract.keys().copied().filter(|name| {
        let rest = entry.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_lowercase()))
    });
    names.max_by_key(|name| name.len())
}

/// R41: the plan covers all mutations of the API.
#[test]
fn every_mutation_is_planned() {
    let contract = contract();
    assert!(contract.len() > 70, "{contract:?}");
    let planned: BTreeSet<&str> =
        mutations().iter().map(|mutation| mutation.name.as_str()).collect();
    let missing: Vec<_> = contract.keys().filter(|name| !planned.contains(*name)).collect();
    assert!(
        missing.is_empty(),
        "no cost is recorded for {missing:?}: add a case to crates/testkit/tests/costs"
    );
}

/// R41: every other entry is a variant of a mutation.
#[test]
fn variants_are_named_after_their_mutation() {
    let contract = contract();
    for mutation in mutations() {
        let name = &mutation.name;
        assert!(mutation_of(name, &contract).is_some(), "{name} is not in the contract");
    }
}

/// R32: a mutation stores its outcome if and only if it accepts a `requestId`.
#[test]
fn mutations_with_a_request_id_store_their_outcome() {
    let contract = contract();
    for mutation in mutations() {
        let stores = mutation.own.iter().any(|write| write.entity == "Idempotency");
        let counted = mutation.counts().contains_key(REQUEST_IDS);
        let accepts = mutation_of(&mutation.name, &contract).is_some_and(|name| contract[name]);
        assert_eq!((stores, counted), (accepts, accepts), "{}", mutation.name);
    }
}
