mod races;

use std::sync::Arc;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_model::table::{Item, ManualClock, Sequence};
use roundtable_model::{Entity as _, Time};
use roundtable_testkit::YieldingBackend;

use super::super::cached_activity::written;
use super::super::ring::RingWalk;
use super::*;
use crate::Context;
use crate::memory::tests::{bus, bus_on, bus_with, put};

fn did(actor: &str, ms: u64) -> Activity {
    written(actor, ms, usize::try_from(ms).unwrap()).activity()
}

fn home(name: &str) -> ActorId {
    name.parse().unwrap()
}

async fn times(memory: &FeedMemory, context: &Context, names: &[&str]) -> Vec<u64> {
    let homes: Vec<_> = names.iter().map(|name| home(name)).collect();
    let merged = memory.newest(context, homes.iter(), None, 50).await.unwrap();
    assert!(merged.exhausted.is_empty() && merged.missing.is_empty());
    merged.entries.iter().map(|entry| entry.position.at.ms()).collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_cached_before_changes_are_received() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    put(context, &did("ana", 1)).await;
    let homes = [home("ana")];
    let merged = memory.newest(context, homes.iter(), None, 50).await.unwrap();
    assert_eq!(merged.exhausted, homes);
    memory.load_tails(context, homes.to_vec()).await.unwrap();
    assert_eq!(memory.stats().actors, 0);
}

#[tokio::test(start_paused = true)]
async fn tails_are_loaded_once_and_then_follow_changes() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    bus.catch_up().await.unwrap();
    put(context, &did("ana", 1)).await;
    put(context, &did("bo", 2)).await;
    assert_eq!(times(memory, context, &["ana", "bo", "cleo"]).await, [2, 1]);
    put(context, &did("ana", 3)).await;
    put(context, &did("cleo", 4)).await;
    bus.catch_up().await.unwrap();
    assert_eq!(times(memory, context, &["ana", "bo", "cleo"]).await, [4, 3, 2, 1]);
    let gone = Activity::at(&home("bo"), &Time::from_ms(2), &did("bo", 2).activity_id);
    context.core().table().delete(gone.delete()).await.unwrap();
    bus.catch_up().await.unwrap();
    assert_eq!(times(memory, context, &["ana", "bo", "cleo"]).await, [4, 3, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_long_history_is_cut_and_reported_incomplete() {
    let settings = FeedMemorySettings { each: 3, ..FeedMemorySettings::default() };
    let bus = bus_with(settings).await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    bus.catch_up().await.unwrap();
    for ms in 1..=5 {
        put(context, &did("ana", ms)).await;
    }
    let homes = [home("ana")];
    let merged = memory.newest(context, homes.iter(), None, 50).await.unwrap();
    assert_eq!(merged.entries.len(), 3);
    assert_eq!(merged.down_to, Some(FeedPosition::of(&did("ana", 3))));
}

#[tokio::test(start_paused = true)]
async fn the_ring_holds_earlier_and_later_activities() {
    let settings = FeedMemorySettings { recent: 3, ..FeedMemorySettings::default() };
    let bus = bus_with(settings).await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    for ms in 1..=4 {
        put(context, &did("ana", ms)).await;
    }
    assert!(memory.recent(None, 9, 9, |_| true).is_none() && memory.needs_ring());
    bus.warm_up().await.unwrap();
    let recent = || {
        let RingWalk { entries, down_to, .. } = memory.recent(None, 9, 9, |_| true).unwrap();
        let times: Vec<_> = entries.iter().map(|entry| entry.position.at.ms()).collect();
        (times, down_to.map(|position| position.at.ms()))
    };
    assert_eq!(recent(), (vec![4, 3, 2], Some(2)));
    put(context, &did("bo", 5)).await;
    bus.catch_up().await.unwrap();
    assert_eq!(recent(), (vec![5, 4, 3], Some(3)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_load_leaves_nothing_behind() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = YieldingBackend::new(Reference::new(clock));
    let bus = bus_on(backend, FeedMemorySettings::default()).await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    bus.catch_up().await.unwrap();
    let ana = [home("ana")];
    let tails = memory.load_tails(context, ana.to_vec()).now_or_never();
    assert!(tails.is_none(), "it was waiting");
    assert!(!memory.state.read().tails.is_loading(&ana[0]));
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_the_stream_clears_the_cache() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.feed_memory());
    bus.warm_up().await.unwrap();
    times(memory, context, &["ana"]).await;
    memory.reset(true);
    assert_eq!(memory.stats(), FeedMemoryStats::default());
    assert!(memory.needs_ring());
}

fn change(new: Item) -> Change {
    Change {
        sequence: Sequence::from(1),
        at_ms: 0,
        key: did("ana", 1).key().into_key(),
        old: None,
        new: Some(new),
        expired: false,
    }
}

#[test]
fn an_undecodable_change_clears_the_cache() {
    let memory = FeedMemory::new(&FeedMemorySettings::default(), false);
    let mut state = memory.state.write();
    let ticket = state.tails.begin(&home("ana"));
    state.tails.finish(&home("ana"), ticket, Vec::new(), true);
    drop(state);
    let item = did("ana", 1).item();
    memory.apply(&[change(item.with("type", "Follow"))]);
    assert_eq!((memory.stats().actors, memory.stats().actor_entries), (1, 0));
    memory.apply(&[change(item.clone())]);
    assert_eq!(memory.stats().actor_entries, 1);
    memory.apply(&[change(item.with("createdAt", 5))]);
    assert_eq!(memory.stats().actors, 0);
}

#[tokio::test(start_paused = true)]
async fn with_other_writers_own_activities_are_added_before_they_are_delivered() {
    let bus = bus().await;
    let (context, memory) =
        (bus.context(), &FeedMemory::new(&FeedMemorySettings::default(), false));
    put(context, &did("ana", 1)).await;
    assert!(!memory.needs_ring());
    assert_eq!(times(memory, context, &["ana"]).await, [1]);
    // A reader's own activity is there before the stream delivers it; the stream alone wakes
    // subscriptions, and once.
    let mine = did("ana", 2);
    put(context, &mine).await;
    let changed = memory.log().changes();
    memory.remember_own(&mine);
    memory.remember_own(&mine);
    assert_eq!(times(memory, context, &["ana"]).await, [2, 1]);
    assert!(!changed.has_changed().unwrap());
    memory.apply(&[change(mine.item()), change(mine.item())]);
    assert!(changed.has_changed().unwrap());
    assert_eq!(times(memory, context, &["ana"]).await, [2, 1]);
    let next = memory.log().number_after(&mine.activity_id);
    assert_eq!((next, memory.log().end()), (Some(1), 1));
    assert_eq!(memory.log().read_from(0, 9).unwrap().len(), 1);
}
