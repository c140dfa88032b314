//! No read shows hidden content (I9): everything that can be hidden holds a secret word, and
//! everything that each kind of viewer can read is searched for these words.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "canaries/events.rs"]
mod events;
#[path = "canaries/feeds.rs"]
mod feeds;
#[path = "canaries/goals.rs"]
mod goals;
#[path = "canaries/live.rs"]
mod live;
#[path = "canaries/media.rs"]
mod media;
#[path = "canaries/notifications.rs"]
mod notifications;
#[path = "canaries/quests.rs"]
mod quests;
#[path = "canaries/reads.rs"]
mod reads;
#[path = "canaries/relations.rs"]
mod relations;
#[path = "canaries/rooms.rs"]
mod rooms;
#[path = "canaries/search.rs"]
mod search_reads;
#[path = "canaries/trade.rs"]
mod trade;

use std::collections::BTreeSet;

use reads::{Observation, read_everything};
use roundtable_testkit::{Canary, SecretTown, VIEWERS};

/// Known leaks, by viewer and secret; a fix must remove its entry. Suspended users may read public
/// content and their own.
const KNOWN: &[(&str, &str)] = &[];

/// Returns the secrets that the viewer must not see, with the reads that showed them.
fn leaks(
    canaries: &[Canary],
    viewer: &str,
    observations: &[Observation],
) -> Vec<(&'static str, String)> {
    let secrets = canaries.iter().filter(|canary| !canary.seen_by.contains(&viewer));
    let found = secrets.flat_map(|canary| {
        let secret = canary.secret();
        let by = observations.iter().filter(move |one| one.text.contains(&secret));
        by.map(|one| (canary.name, one.by.clone()))
    });
    found.collect()
}

/// Returns the secrets that the viewer may see and no read showed.
fn missing(canaries: &[Canary], viewer: &str, observations: &[Observation]) -> Vec<&'static str> {
    let meant = canaries.iter().filter(|canary| canary.seen_by.contains(&viewer));
    let unseen = meant.filter(|canary| {
        let secret = canary.secret();
        !observations.iter().any(|one| one.text.contains(&secret))
    });
    unseen.map(|canary| canary.name).collect()
}

async fn search(secrets: &SecretTown, known: &[(&str, &str)]) {
    let (mut wrong, mut leaked) = (Vec::new(), BTreeSet::new());
    for viewer in VIEWERS {
        let observations = read_everything(secrets, viewer).await;
        for (name, by) in leaks(&secrets.canaries, viewer, &observations) {
            leaked.insert((viewer, name));
            if !known.contains(&(viewer, name)) {
                wrong.push(format!("{viewer} was shown {name} by {by}"));
            }
        }
        for name in missing(&secrets.canaries, viewer, &observations) {
            wrong.push(format!("{viewer} was not shown {name}"));
        }
    }
    for known in known.iter().filter(|known| !leaked.contains(known)) {
        wrong.push(format!("{known:?} no longer leaks: remove it from KNOWN"));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// I9: both before and after the processors have run.
#[tokio::test]
async fn no_viewer_reads_hidden_content() {
    let secrets = SecretTown::create().await;
    search(&secrets, KNOWN).await;
    secrets.town.settle().await;
    search(&secrets, KNOWN).await;
}

/// I9, R44: webhooks receive what an anonymous viewer may read, and no more.
#[tokio::test]
async fn no_webhook_receives_hidden_content() {
    let secrets = SecretTown::create().await;
    let observations = events::events(&secrets).await;
    assert!(observations.len() > 100, "{} events are too few to be all", observations.len());
    assert_eq!(leaks(&secrets.canaries, "nobody", &observations), []);
    let public = |canary: &&Canary| canary.seen_by.contains(&"nobody");
    let all = secrets.canaries.iter().filter(public).count();
    let received = all - missing(&secrets.canaries, "nobody", &observations).len();
    assert!(received > 0, "none of {all} secrets was received: the search proves nothing");
    assert!(
        observations.iter().all(|event| !event.text.contains("@example.com")),
        "no e-mail addresses"
    );
}

/// The search works: ana's secrets would be leaks to a stranger, and a stranger's reads would miss
/// some of ana's.
#[tokio::test]
async fn a_leak_would_be_found() {
    let secrets = SecretTown::create().await;
    let (anas, sams) =
        (read_everything(&secrets, "ana").await, read_everything(&secrets, "sam").await);
    let leaked: BTreeSet<_> =
        leaks(&secrets.canaries, "sam", &anas).into_iter().map(|leak| leak.0).collect();
    let lacked: BTreeSet<_> = missing(&secrets.canaries, "ana", &sams).into_iter().collect();
    let own: BTreeSet<_> = secrets
        .canaries
        .iter()
        .filter(|canary| canary.seen_by.contains(&"ana") && !canary.seen_by.contains(&"sam"))
        .map(|canary| canary.name)
        .collect();
    assert!(own.len() > 10, "{own:?}");
    assert!(leaked.is_superset(&own), "{leaked:?}");
    assert_eq!(lacked, own);
}
