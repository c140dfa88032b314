//! Nothing that the API says shows what is hidden (I9): secret words in everything that can be hidden,
//! then every question, every edge behind it and everything that can be listened to, by every kind of
//! viewer, is searched for them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

mod documents;
mod listening;
mod rows;
#[path = "../props/services.rs"]
mod services;
mod stage;
mod things;
mod types;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use documents::Documents;
use roundtable_testkit::{Canary, Hidden, VIEWERS};
use rows::{QUERIES, Row, SUBSCRIPTIONS};
use stage::{Told, Viewer};
use tokio::runtime::{Builder, Runtime};

/// Secrets that their owner finds elsewhere: no field of the API has a place for them.
const ELSEWHERE: &[&str] = &["unposted-file", "suspended-unposted-file"];

/// Which processes are asked what.
#[derive(Clone, Copy, PartialEq)]
enum Round {
    /// One that has just begun, everything.
    Everything,
    /// One that remembers all that it can, every list.
    Lists,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What somebody is told of everything.
async fn everything(hidden: &Hidden, documents: &Documents, name: &str, round: Round) -> Told {
    let mut viewer = Viewer::new(hidden, name);
    if round == Round::Lists {
        viewer.services.feeds.warm_up().await.unwrap();
    }
    viewer.ask_all(documents, |document| document.is_paged || round == Round::Everything).await;
    let heard = viewer.listen_to_all(documents).await;
    assert!(heard > 0, "{name} was told nothing, not even that they may not listen");
    viewer.told
}

/// What everybody is told, in as many threads as there is room for.
fn all_told(hidden: &Hidden, documents: &Documents, round: Round) -> Vec<(&'static str, Told)> {
    let (left, told) = (Mutex::new(VIEWERS.to_vec()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                let runtime = runtime();
                while let Some(name) = { left.lock().unwrap().pop() } {
                    let all = runtime.block_on(everything(hidden, documents, name, round));
                    told.lock().unwrap().push((name, all));
                }
            });
        }
    });
    told.into_inner().unwrap()
}

/// The secrets that somebody was shown and should not have been, with the fields that showed them.
fn leaks<'a>(
    canaries: &'a [Canary],
    name: &str,
    told: &'a Told,
) -> Vec<(&'a str, &'a BTreeSet<String>)> {
    let hidden = canaries.iter().filter(|canary| !canary.seen_by.contains(&name));
    hidden.filter_map(|canary| Some((canary.name, told.words.get(canary.name)?))).collect()
}

/// The secrets that somebody should have been shown and was not.
fn missing<'a>(canaries: &'a [Canary], name: &str, told: &Told) -> Vec<&'a str> {
    let meant = canaries.iter().filter(|canary| canary.seen_by.contains(&name));
    let meant = meant.map(|canary| canary.name).filter(|word| !ELSEWHERE.contains(word));
    meant.filter(|word| !told.words.contains_key(*word)).collect()
}

fn search(hidden: &Hidden, documents: &Documents, round: Round) {
    let (mut wrong, mut answered) = (Vec::new(), BTreeSet::new());
    for (name, told) in all_told(hidden, documents, round) {
        for (word, by) in leaks(&hidden.canaries, name, &told) {
            wrong.push(format!("{name} was shown {word} by {by:?}"));
        }
        if round == Round::Everything {
            let missing = missing(&hidden.canaries, name, &told).into_iter();
            wrong.extend(missing.map(|word| format!("{name} was not shown {word}")));
        }
        assert!(told.words.len() > 10, "{name} was shown next to nothing: {:?}", told.words);
        // Mia has muted tom: nothing of his comes to her by itself.
        let unwanted = ["getFeed", "onFeedEntry"].map(str::to_owned);
        if name == "mia" && unwanted.iter().any(|field| told.words["toms"].contains(field)) {
            wrong.push(String::from("mia was told what she does not want to hear"));
        }
        wrong.extend(told.wrong.into_iter().map(|what| format!("{name}: {what}")));
        answered.extend(told.answered);
    }
    if round == Round::Everything {
        let edges = documents.types.edges_asked();
        let blind = edges.difference(&answered);
        wrong.extend(blind.map(|edge| format!("nobody was told anything of {edge}")));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// I9: at once, when nothing has followed from it yet, and when everything has.
#[test]
fn nobody_is_shown_what_is_hidden() {
    let (runtime, schema) =
        (runtime(), roundtable_graphql::Limits::default().on(roundtable_graphql::schema()));
    let hidden = runtime.block_on(Hidden::set());
    let documents = runtime.block_on(Documents::of(&hidden, &schema.sdl()));
    search(&hidden, &documents, Round::Everything);
    runtime.block_on(hidden.town.settle());
    search(&hidden, &documents, Round::Lists);
}

/// The search finds what it looks for: what ana is shown would be a leak to a stranger, and what a
/// stranger is shown would be too little for ana.
#[tokio::test]
async fn a_leak_would_be_found() {
    let (hidden, schema) = (
        Hidden::set().await,
        roundtable_graphql::Limits::default().on(roundtable_graphql::schema()),
    );
    let documents = Documents::of(&hidden, &schema.sdl()).await;
    let anas = everything(&hidden, &documents, "ana", Round::Everything).await;
    let sams = everything(&hidden, &documents, "sam", Round::Everything).await;
    let leaked: BTreeSet<&str> =
        leaks(&hidden.canaries, "sam", &anas).into_iter().map(|leak| leak.0).collect();
    let lacked: BTreeSet<&str> = missing(&hidden.canaries, "ana", &sams).into_iter().collect();
    let own = hidden
        .canaries
        .iter()
        .filter(|canary| canary.seen_by.contains(&"ana") && !canary.seen_by.contains(&"sam"));
    let own: BTreeSet<&str> =
        own.map(|canary| canary.name).filter(|word| !ELSEWHERE.contains(word)).collect();
    assert!(own.len() > 10, "{own:?}");
    assert!(leaked.is_superset(&own), "{leaked:?}");
    assert_eq!(lacked, own);
}

/// Whatever can be asked for is asked for: a field that has no row is found here.
#[tokio::test]
async fn every_field_of_the_schema_is_asked_for() {
    let (hidden, schema) = (
        Hidden::set().await,
        roundtable_graphql::Limits::default().on(roundtable_graphql::schema()),
    );
    let types = Documents::of(&hidden, &schema.sdl()).await.types;
    let named = |rows: &'static [Row]| rows.iter().map(|row| row.0).collect::<BTreeSet<&str>>();
    assert_eq!(types.fields("Query"), named(QUERIES));
    assert_eq!(types.fields("Subscription"), named(SUBSCRIPTIONS));
    for root in ["Query", "Subscription"] {
        assert_eq!(types.unasked(root), [] as [String; 0]);
    }
}
