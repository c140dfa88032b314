//! No response shows hidden content (I9). Everything that can be hidden contains secret words, and the
//! responses to all queries, nested fields and subscriptions of all kinds of viewers are searched for them.

#![expect(clippy::unwrap_used, reason = "a failed setup should stop the test")]
#![expect(clippy::indexing_slicing, reason = "JSON yields null for missing values")]

mod argument_values;
mod documents;
mod root_fields;
mod schema_types;
#[path = "../support/services.rs"]
mod services;
mod subscriptions;
mod viewer;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use documents::Documents;
use root_fields::{QUERIES, RootField, SUBSCRIPTIONS};
use roundtable_testkit::{Canary, SecretTown, VIEWERS};
use tokio::runtime::{Builder, Runtime};
use viewer::{Observed, Viewer};

/// Secrets that no field of the API shows, not even to their owner.
const NOT_IN_API: &[&str] = &["unposted-file", "suspended-unposted-file"];

/// The documents to execute, and the state of the process.
#[derive(Clone, Copy, PartialEq)]
enum Coverage {
    /// All documents in a new process.
    Everything,
    /// All lists in a process with warm caches.
    Lists,
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn observe(
    hidden: &SecretTown,
    documents: &Documents,
    name: &str,
    coverage: Coverage,
) -> Observed {
    let mut viewer = Viewer::new(hidden, name);
    if coverage == Coverage::Lists {
        viewer.services.bus.warm_up().await.unwrap();
    }
    viewer
        .execute_all(documents, |document| document.is_paged || coverage == Coverage::Everything)
        .await;
    let events = viewer.subscribe_to_all(documents).await;
    assert!(events > 0, "{name} got no event, not even a refusal");
    viewer.observed
}

/// Observes all viewers in parallel.
fn observe_all(
    hidden: &SecretTown,
    documents: &Documents,
    coverage: Coverage,
) -> Vec<(&'static str, Observed)> {
    let (left, observed) = (Mutex::new(VIEWERS.to_vec()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                let runtime = runtime();
                while let Some(name) = { left.lock().unwrap().pop() } {
                    let all = runtime.block_on(observe(hidden, documents, name, coverage));
                    observed.lock().unwrap().push((name, all));
                }
            });
        }
    });
    observed.into_inner().unwrap()
}

/// Returns the secrets shown to a viewer who may not see them, with the fields that showed them.
fn leaks<'a>(
    canaries: &'a [Canary],
    name: &str,
    observed: &'a Observed,
) -> Vec<(&'a str, &'a BTreeSet<String>)> {
    let hidden = canaries.iter().filter(|canary| !canary.seen_by.contains(&name));
    hidden.filter_map(|canary| Some((canary.name, observed.words.get(canary.name)?))).collect()
}

/// Returns the secrets that a viewer should have been shown and was not.
fn missing<'a>(canaries: &'a [Canary], name: &str, observed: &Observed) -> Vec<&'a str> {
    let visible = canaries.iter().filter(|canary| canary.seen_by.contains(&name));
    let visible = visible.map(|canary| canary.name).filter(|word| !NOT_IN_API.contains(word));
    visible.filter(|word| !observed.words.contains_key(*word)).collect()
}

fn search(hidden: &SecretTown, documents: &Documents, coverage: Coverage) {
    let (mut problems, mut nonempty_fields) = (Vec::new(), BTreeSet::new());
    for (name, observed) in observe_all(hidden, documents, coverage) {
        for (word, by) in leaks(&hidden.canaries, name, &observed) {
            problems.push(format!("{name} was shown {word} by {by:?}"));
        }
        if coverage == Coverage::Everything {
            let missing = missing(&hidden.canaries, name, &observed).into_iter();
            problems.extend(missing.map(|word| format!("{name} was not shown {word}")));
        }
        assert!(observed.words.len() > 10, "{name} was shown almost nothing: {:?}", observed.words);
        // Mia has muted tom, so her feeds must not show his posts.
        let unwanted = ["getFeed", "onFeedEntry"].map(str::to_owned);
        if name == "mia" && unwanted.iter().any(|field| observed.words["toms"].contains(field)) {
            problems.push(String::from("mia was shown posts of a muted user"));
        }
        problems.extend(observed.problems.into_iter().map(|what| format!("{name}: {what}")));
        nonempty_fields.extend(observed.nonempty_fields);
    }
    if coverage == Coverage::Everything {
        let edges = documents.types.selected_edges();
        let unobserved = edges.difference(&nonempty_fields);
        problems.extend(unobserved.map(|edge| format!("no viewer got a value of {edge}")));
    }
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}

/// I9: before the processors have run, and after.
#[test]
fn hidden_content_is_never_shown() {
    let runtime = runtime();
    let hidden = runtime.block_on(SecretTown::create());
    let documents = runtime.block_on(Documents::of(&hidden, roundtable_graphql::SDL));
    search(&hidden, &documents, Coverage::Everything);
    runtime.block_on(hidden.town.settle());
    search(&hidden, &documents, Coverage::Lists);
}

/// The content shown to ana would be a leak to a stranger, and that shown to a stranger too little for ana.
#[tokio::test]
async fn the_search_finds_leaks() {
    let hidden = SecretTown::create().await;
    let documents = Documents::of(&hidden, roundtable_graphql::SDL).await;
    let ana = observe(&hidden, &documents, "ana", Coverage::Everything).await;
    let sam = observe(&hidden, &documents, "sam", Coverage::Everything).await;
    let leaked: BTreeSet<&str> =
        leaks(&hidden.canaries, "sam", &ana).into_iter().map(|leak| leak.0).collect();
    let lacked: BTreeSet<&str> = missing(&hidden.canaries, "ana", &sam).into_iter().collect();
    let own = hidden
        .canaries
        .iter()
        .filter(|canary| canary.seen_by.contains(&"ana") && !canary.seen_by.contains(&"sam"));
    let own: BTreeSet<&str> =
        own.map(|canary| canary.name).filter(|word| !NOT_IN_API.contains(word)).collect();
    assert!(own.len() > 10, "{own:?}");
    assert!(leaked.is_superset(&own), "{leaked:?}");
    assert_eq!(lacked, own);
}

/// A new root field without an entry in `root_fields` fails here.
#[tokio::test]
async fn every_field_of_the_schema_is_selected() {
    let hidden = SecretTown::create().await;
    let types = Documents::of(&hidden, roundtable_graphql::SDL).await.types;
    let named = |root_fields: &'static [RootField]| {
        root_fields.iter().map(|row| row.0).collect::<BTreeSet<&str>>()
    };
    assert_eq!(types.fields("Query"), named(QUERIES));
    assert_eq!(types.fields("Subscription"), named(SUBSCRIPTIONS));
    for root in ["Query", "Subscription"] {
        assert_eq!(types.unselected(root), [] as [String; 0]);
    }
}
