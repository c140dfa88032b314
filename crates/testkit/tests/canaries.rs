//! Nothing shows what is hidden (I9): secret words in everything that can be hidden, then everything
//! that every kind of viewer can read is searched for them.

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
#[path = "canaries/rooms.rs"]
mod rooms;
#[path = "canaries/ties.rs"]
mod ties;
#[path = "canaries/trade.rs"]
mod trade;

use std::collections::BTreeSet;

use reads::{Told, everything};
use roundtable_testkit::{Canary, Hidden, VIEWERS};

/// What is shown although it should not be: to whom, and which secret. Whoever mends one takes it
/// away. A suspended person reads what everybody may, and what is their own.
const KNOWN: &[(&str, &str)] = &[];

/// The secrets that a viewer was shown and should not have been, with what showed them.
fn leaks(canaries: &[Canary], viewer: &str, told: &[Told]) -> Vec<(&'static str, String)> {
    let hidden = canaries.iter().filter(|canary| !canary.seen_by.contains(&viewer));
    let found = hidden.flat_map(|canary| {
        let secret = canary.secret();
        let by = told.iter().filter(move |told| told.text.contains(&secret));
        by.map(|told| (canary.name, told.by.clone()))
    });
    found.collect()
}

/// The secrets that a viewer should have been shown and was not.
fn missing(canaries: &[Canary], viewer: &str, told: &[Told]) -> Vec<&'static str> {
    let meant = canaries.iter().filter(|canary| canary.seen_by.contains(&viewer));
    let unseen = meant.filter(|canary| {
        let secret = canary.secret();
        !told.iter().any(|told| told.text.contains(&secret))
    });
    unseen.map(|canary| canary.name).collect()
}

async fn search(hidden: &Hidden, known: &[(&str, &str)]) {
    let (mut wrong, mut leaked) = (Vec::new(), BTreeSet::new());
    for viewer in VIEWERS {
        let told = everything(hidden, viewer).await;
        for (name, by) in leaks(&hidden.canaries, viewer, &told) {
            leaked.insert((viewer, name));
            if !known.contains(&(viewer, name)) {
                wrong.push(format!("{viewer} was shown {name} by {by}"));
            }
        }
        for name in missing(&hidden.canaries, viewer, &told) {
            wrong.push(format!("{viewer} was not shown {name}"));
        }
    }
    for known in known.iter().filter(|known| !leaked.contains(known)) {
        wrong.push(format!("{known:?} is mended: take it away"));
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// I9: at once, when nothing has followed from it yet, and when everything has.
#[tokio::test]
async fn nobody_is_shown_what_is_hidden() {
    let hidden = Hidden::set().await;
    search(&hidden, KNOWN).await;
    hidden.town.settle().await;
    search(&hidden, KNOWN).await;
}

/// I9, R44: endpoints outside are told what somebody who is not signed in may read, and no more.
#[tokio::test]
async fn no_endpoint_is_told_what_is_hidden() {
    let hidden = Hidden::set().await;
    let told = events::events(&hidden).await;
    assert!(told.len() > 100, "{} events are too few to be all", told.len());
    assert_eq!(leaks(&hidden.canaries, "nobody", &told), []);
    let public = |canary: &&Canary| canary.seen_by.contains(&"nobody");
    let all = hidden.canaries.iter().filter(public).count();
    let heard = all - missing(&hidden.canaries, "nobody", &told).len();
    assert!(heard > 0, "none of {all} was told: nothing is looked for");
    assert!(told.iter().all(|event| !event.text.contains("@example.com")), "no e-mail addresses");
}

/// The search finds what it looks for: what ana is shown would be a leak to a stranger, and what a
/// stranger is shown would be too little for ana.
#[tokio::test]
async fn a_leak_would_be_found() {
    let hidden = Hidden::set().await;
    let (anas, sams) = (everything(&hidden, "ana").await, everything(&hidden, "sam").await);
    let leaked: BTreeSet<_> =
        leaks(&hidden.canaries, "sam", &anas).into_iter().map(|leak| leak.0).collect();
    let lacked: BTreeSet<_> = missing(&hidden.canaries, "ana", &sams).into_iter().collect();
    let own: BTreeSet<_> = hidden
        .canaries
        .iter()
        .filter(|canary| canary.seen_by.contains(&"ana") && !canary.seen_by.contains(&"sam"))
        .map(|canary| canary.name)
        .collect();
    assert!(own.len() > 10, "{own:?}");
    assert!(leaked.is_superset(&own), "{leaked:?}");
    assert_eq!(lacked, own);
}
