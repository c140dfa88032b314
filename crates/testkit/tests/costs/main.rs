//! The cost of every mutation of the GraphQL contract, recorded on the reference backend: its own
//! writes and reads, and those that the stream processors add. `roundtable-planning` includes the
//! recording, so that the capacity plan follows the services.
//!
//! After an intended change: `ROUNDTABLE_RECORD=1 cargo test -p roundtable-testkit --test costs`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod accounts;
mod book;
mod chat;
mod comments;
mod expression;
mod goals;
mod groups;
mod people;
mod posts;
mod recorder;
mod scene;
mod staff;
mod trade;

use std::path::Path;
use std::{env, fs};

use book::CostBook;

const RECORDING: &str = "../planning/src/capacity/mutations.toml";
const CONTRACT: &str = "../graphql/schema.graphql";
const REGENERATE: &str = "ROUNDTABLE_RECORD=1 cargo test -p roundtable-testkit --test costs";

#[tokio::test]
async fn the_recorded_costs_are_those_of_the_services() {
    let mut book = CostBook::new().await;
    accounts::record(&mut book).await;
    people::record(&mut book).await;
    groups::record(&mut book).await;
    goals::record(&mut book).await;
    posts::record(&mut book).await;
    comments::record(&mut book).await;
    chat::record(&mut book).await;
    trade::record(&mut book).await;
    staff::record(&mut book).await;
    let contract = contract();
    let missing = contract.iter().filter(|mutation| !book.has(mutation)).collect::<Vec<_>>();
    assert!(missing.is_empty(), "no cost is recorded for {missing:?}: add a case to this test");
    let recorded = book.render(&contract);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDING);
    if env::var_os("ROUNDTABLE_RECORD").is_some() {
        fs::write(&path, &recorded).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let mut lines =
        kept.lines().map(Some).chain([None]).zip(recorded.lines().map(Some).chain([None]));
    if let Some((kept, recorded)) = lines.find(|(kept, recorded)| kept != recorded) {
        panic!(
            "costs have changed; the first difference is\n  kept     {kept:?}\n  recorded \
             {recorded:?}\nif that is intended: {REGENERATE}"
        );
    }
}

/// Returns the names of the mutations, in the order of the GraphQL schema.
fn contract() -> Vec<String> {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join(CONTRACT);
    let schema = fs::read_to_string(schema).unwrap();
    let (_, mutations) = schema.split_once("\ntype Mutation {").unwrap();
    let (mutations, _) = mutations.split_once("\n}").unwrap();
    let fields = mutations.lines().filter_map(|line| {
        let (name, _) = line.trim().split_once('(')?;
        name.chars().all(|letter| letter.is_ascii_alphanumeric()).then(|| name.to_owned())
    });
    fields.collect()
}
