//! Home feeds, as readers see them.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{
    Code, FeedEntry, Feeds, LiveBus, LiveFeed, LiveSource as _, Page, PageInput, Refusal,
};
use roundtable_model::table::{
    Change, ManualClock, Recorder, ShardInfo, Store, StreamRead, StreamStart,
};
use roundtable_testkit::{SplitStreamBackend, Town, YieldingBackend, stop_at};
use tokio::time::timeout;

/// The preview of each entry on a page.
fn previews(page: &Page<FeedEntry>) -> Vec<String> {
    let preview = |entry: &FeedEntry| entry.activity.preview_text.clone().unwrap_or_default();
    page.items.iter().map(|(entry, _)| preview(entry)).collect()
}

/// The live bus and the feeds of a new process.
fn feeds_of(town: &Town) -> (LiveBus, Feeds) {
    let bus = town.new_bus();
    let feeds = Feeds::new(town.context().clone(), &bus);
    (bus, feeds)
}

/// R25: a home feed has the activities of followed users and of the reader, newest first.
#[tokio::test]
async fn a_home_feed_has_activities_of_followed_users() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    for (who, text) in [("bo", "one"), ("cleo", "two"), ("ana", "three"), ("bo", "four")] {
        town.post(who, text).await;
        town.advance_ms(10);
    }
    let (_, feeds) = feeds_of(&town);
    let page = feeds.home(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(previews(&page), ["four", "three", "one"]);
    assert_eq!(page.next, None);
}

/// R25: pages continue without a gap despite writes in between.
#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    for text in ["one", "two", "three", "four"] {
        town.post("bo", text).await;
        town.advance_ms(10);
    }
    let (_, feeds) = feeds_of(&town);
    let ana = town.caller("ana");
    let first = PageInput { limit: Some(2), after: None };
    let first = feeds.home(&ana, &first).await.unwrap();
    assert_eq!(previews(&first), ["four", "three"]);
    town.post("bo", "five").await;
    let second = PageInput { limit: Some(2), after: first.next };
    let second = feeds.home(&ana, &second).await.unwrap();
    assert_eq!((previews(&second), second.next), (vec!["two".into(), "one".into()], None));
}

/// R25: a process that has just started answers by one walk down all activities, without reading
/// single actors and without waiting for its cache.
#[tokio::test]
async fn the_first_page_of_a_process_is_one_walk() {
    let authors = ["bo", "cleo", "dan", "eve"];
    let town = Town::of(["ana", "bo", "cleo", "dan", "eve", "stranger"]).await;
    for (nth, author) in authors.iter().enumerate() {
        town.follow("ana", author).await;
        for who in [author, "stranger"] {
            town.post(who, &format!("{who} {nth}")).await;
            town.advance_ms(10);
        }
    }
    let (_, feeds) = feeds_of(&town);
    let reads = Arc::new(Recorder::default());
    let feeds = feeds.with_context(town.context().observed(reads.clone()));
    let page = feeds.home(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(previews(&page), ["eve 3", "dan 2", "cleo 1", "bo 0"]);
    let reads = reads.take();
    let count = |name| reads.iter().filter(|read| read.name == name).count();
    assert_eq!((count("walk"), count("merge")), (1, 0), "{reads:?}");
    assert!(reads.iter().all(|read| read.pattern != Some("activities_of")), "{reads:?}");
}

/// R30: a cursor belongs to its reader; a cursor of another list is refused.
#[tokio::test]
async fn cursors_of_other_readers_are_refused() {
    let town = Town::of(["ana", "bo"]).await;
    for text in ["one", "two"] {
        town.post("ana", text).await;
        town.advance_ms(10);
    }
    let (_, feeds) = feeds_of(&town);
    let first = PageInput { limit: Some(1), after: None };
    let after = feeds.home(&town.caller("ana"), &first).await.unwrap().next;
    let refused = feeds.home(&town.caller("bo"), &PageInput { limit: None, after }).await;
    assert_eq!(refused.unwrap_err().code(), Code::BadRequest);
}

/// I9: an entry hidden between two reads is gone at the second.
#[tokio::test]
async fn a_hidden_entry_is_gone_at_the_next_read() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    for followee in ["bo", "cleo", "dan"] {
        town.follow("ana", followee).await;
        town.post(followee, followee).await;
        town.advance_ms(10);
    }
    let (_, feeds) = feeds_of(&town);
    let ana = town.caller("ana");
    let read = async || previews(&feeds.home(&ana, &PageInput::first()).await.unwrap());
    assert_eq!(read().await, ["dan", "cleo", "bo"]);
    town.block("cleo", "ana").await;
    assert_eq!(read().await, ["dan", "bo"]);
    let follows = town.follows();
    follows.update(&ana, &town.id("bo"), Some(true), None, None, None).await.unwrap();
    assert_eq!(read().await, ["dan"]);
    follows.unfollow(&ana, &town.id("dan"), None).await.unwrap();
    assert_eq!(read().await, [] as [String; 0]);
}

/// R25: a subscription delivers each new entry once and in order.
#[tokio::test]
async fn a_subscription_delivers_each_new_entry_once() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    town.post("bo", "before").await;
    let (bus, feeds) = feeds_of(&town);
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    for (who, text) in [("bo", "one"), ("cleo", "two"), ("ana", "three"), ("bo", "four")] {
        town.post(who, text).await;
        bus.catch_up().await.unwrap();
    }
    for expected in ["one", "three", "four"] {
        let delivered = live.next().await.unwrap();
        assert_eq!(delivered.activity.preview_text.as_deref(), Some(expected));
    }
    assert!(live.next().now_or_never().is_none(), "nothing else happened");
}

/// R25: a returning reader gets what they missed, once; also from a process that was not running
/// when it happened.
#[tokio::test]
async fn a_returning_reader_gets_missed_entries() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let ana = town.caller("ana");
    let (bus, feeds) = feeds_of(&town);
    let mut live = feeds.live(&ana, None).await.unwrap();
    town.post("bo", "one").await;
    bus.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().activity.activity_id;
    drop(live);
    for text in ["two", "three"] {
        town.advance_ms(10);
        town.post("bo", text).await;
    }
    for feeds in [feeds, feeds_of(&town).1] {
        let mut live = feeds.live(&ana, Some(&seen.clone().into())).await.unwrap();
        for expected in ["two", "three"] {
            let delivered = live.next().await.unwrap();
            assert_eq!(delivered.activity.preview_text.as_deref(), Some(expected));
        }
        assert!(live.next().now_or_never().is_none(), "nothing else happened");
    }
}

/// R45: entries read in one batch are delivered one by one, each checked again.
#[tokio::test]
async fn an_entry_hidden_before_its_delivery_is_skipped() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    for name in ["bo", "cleo", "dan"] {
        town.follow("ana", name).await;
    }
    let ((bus, feeds), ana) = (feeds_of(&town), town.caller("ana"));
    let mut live = feeds.live(&ana, None).await.unwrap();
    town.post("bo", "one").await;
    let gone = town.post("bo", "two").await;
    town.post("cleo", "three").await;
    town.post("dan", "four").await;
    town.post("bo", "five").await;
    bus.catch_up().await.unwrap();
    let mut delivered = async || live.next().await.unwrap().activity.preview_text.unwrap();
    assert_eq!(delivered().await, "one");
    town.posts().delete(&town.caller("bo"), &gone.id, None).await.unwrap();
    town.block("cleo", "ana").await;
    town.follows().unfollow(&ana, &town.id("dan"), None).await.unwrap();
    assert_eq!(delivered().await, "five");
}

/// R45: an entry is not delivered if its post was deleted after the process last read the stream.
#[tokio::test]
async fn an_entry_hidden_since_the_last_read_of_the_stream_is_skipped() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (bus, feeds) = feeds_of(&town);
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    let gone = town.post("bo", "one").await;
    bus.catch_up().await.unwrap();
    town.posts().delete(&town.caller("bo"), &gone.id, None).await.unwrap();
    assert!(live.next().now_or_never().is_none(), "the only post is deleted");
    town.post("bo", "two").await;
    bus.catch_up().await.unwrap();
    assert_eq!(live.next().await.unwrap().activity.preview_text.as_deref(), Some("two"));
}

/// R25: after a gap in the stream a process still delivers each entry once: also one older than
/// those delivered before, and none again that the stream repeats.
#[tokio::test(start_paused = true)]
async fn a_gap_in_the_stream_hides_and_repeats_nothing() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(SplitStreamBackend::new(Arc::new(Reference::new(clock.clone()))));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    for name in ["bo", "cleo"] {
        town.follow("ana", name).await;
    }
    town.post("bo", "old").await;
    town.advance_ms(10);
    let (bus, feeds) = feeds_of(&town);
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    // Reading a page adds the reader's own activities to memory, however old; they are not delivered.
    feeds.home(&town.caller("bo"), &PageInput::first()).await.unwrap();
    town.advance_ms(10);
    town.post("cleo", "late").await;
    let late = all_changes(&town).await;
    town.advance_ms(10);
    town.post("bo", "early").await;
    let all = all_changes(&town).await;
    let (_, early) = all.split_at(late.len());
    bus.apply(early);
    // The paused clock advances only when no task can progress.
    let mut delivered = async || {
        let next = timeout(Duration::from_secs(1), live.next()).await.ok()?;
        next.unwrap().activity.preview_text
    };
    assert_eq!(delivered().await.as_deref(), Some("early"));
    bus.set_complete(false);
    bus.set_complete(true);
    assert_eq!(delivered().await.as_deref(), Some("late"));
    bus.apply(&all);
    assert_eq!(delivered().await, None, "both were delivered");
    town.advance_ms(10);
    town.post("bo", "next").await;
    bus.apply(&all_changes(&town).await);
    assert_eq!((delivered().await.as_deref(), delivered().await), (Some("next"), None));
}

/// R25: processes receive changes in different orders. Once a reader who left one before it had an entry
/// did not get it from another, where it had arrived before the last entry that the reader saw.
#[tokio::test(start_paused = true)]
async fn a_reader_who_moves_to_another_process_misses_no_entry() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(SplitStreamBackend::new(Arc::new(Reference::new(clock.clone()))));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    for name in ["bo", "cleo"] {
        town.follow("ana", name).await;
    }
    let ana = town.caller("ana");
    let ((one, left), (two, entered)) = (feeds_of(&town), feeds_of(&town));
    let mut live = left.live(&ana, None).await.unwrap();
    tokio::time::advance(Duration::from_mins(1)).await;
    town.post("cleo", "late").await;
    let late = all_changes(&town).await;
    town.advance_ms(10);
    town.post("bo", "early").await;
    let all = all_changes(&town).await;
    one.apply(all.split_at(late.len()).1);
    two.apply(&all);
    let seen = live.next().await.unwrap().activity;
    assert_eq!(seen.preview_text.as_deref(), Some("early"));
    let point = one.resume_point(seen.activity_id.clone());
    // The paused clock advances only when no task can progress.
    let delivered = async |live: &mut LiveFeed| {
        let next = timeout(Duration::from_secs(1), live.next()).await.ok()?;
        next.unwrap().activity.preview_text
    };
    let (_, started) = feeds_of(&town);
    for (feeds, point) in [
        (&entered, point.clone()),
        (&entered, seen.activity_id.clone().into()),
        (&started, point.clone()),
        (&started, seen.activity_id.clone().into()),
    ] {
        let mut live = feeds.live(&ana, Some(&point)).await.unwrap();
        assert_eq!(delivered(&mut live).await.as_deref(), Some("late"), "{point}");
        assert_eq!(delivered(&mut live).await, None, "{point}");
    }
    // Where the reader was, the order is known, and nothing is repeated.
    let mut live = left.live(&ana, Some(&point)).await.unwrap();
    assert_eq!(delivered(&mut live).await, None);
    one.apply(&late);
    assert_eq!(delivered(&mut live).await.as_deref(), Some("late"));
    assert_eq!(delivered(&mut live).await, None);
}

/// All changes of a town so far.
async fn all_changes(town: &Town) -> Vec<Change> {
    let table = town.context().core().table();
    let mut changes = Vec::new();
    for ShardInfo { id: shard, .. } in table.stream_shards().await.unwrap() {
        let read = StreamRead::new(shard, StreamStart::Oldest);
        changes.extend(table.stream_read(read).await.unwrap().changes);
    }
    changes
}

/// R25: an `after` that is not an entry's id is refused rather than read as now.
#[tokio::test]
async fn an_invalid_resume_position_is_refused() {
    let town = Town::of(["ana"]).await;
    let (_, feeds) = feeds_of(&town);
    let useless = "nothing".parse().unwrap();
    let refused = feeds.live(&town.caller("ana"), Some(&useless)).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
    let why = "after: expected the activityId of an entry, found \"nothing\"";
    assert_eq!(refused.to_string(), why);
}

/// R25: a waiting subscription is woken by a new entry.
#[tokio::test]
async fn a_waiting_subscription_is_woken() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (bus, feeds) = feeds_of(&town);
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let following = async {
        bus.run(async { drop(stopped.await) }).await;
    };
    let listening = async {
        let delivered = live.next().await.unwrap();
        stop.send(()).unwrap();
        delivered.activity.preview_text
    };
    let ((), delivered, _) = tokio::join!(following, listening, town.post("bo", "hello"));
    assert_eq!(delivered.as_deref(), Some("hello"));
}

/// A town on a slow store, with bo followed by ana and cleo.
async fn slow_town() -> Town {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(YieldingBackend::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    for name in ["ana", "cleo"] {
        town.follow(name, "bo").await;
    }
    town
}

/// R45: a subscription that is no longer polled, at any point, blocks no other task.
#[tokio::test(start_paused = true)]
async fn a_stalled_subscription_blocks_no_other_task() {
    let town = slow_town().await;
    for steps in 0.. {
        let (bus, feeds) = feeds_of(&town);
        let (ana, cleo) = (town.caller("ana"), town.caller("cleo"));
        let mut still = Box::pin(feeds.live(&ana, None));
        let mut is_listening = false;
        for _ in 0..steps {
            is_listening = is_listening || futures::poll!(still.as_mut()).is_ready();
        }
        let delivered = async {
            let mut live = feeds.live(&cleo, None).await.unwrap();
            town.post("bo", "hello").await;
            bus.catch_up().await.unwrap();
            live.next().await.unwrap().activity.preview_text
        };
        // The paused clock advances only when no task can progress.
        let delivered = timeout(Duration::from_secs(1), delivered).await;
        assert_eq!(delivered, Ok(Some("hello".into())), "after {steps} steps of another task");
        if is_listening {
            assert!(steps > 5, "too few steps");
            return;
        }
    }
}

/// R45: a subscription that is cancelled at any point and polled again loses nothing.
#[tokio::test]
async fn a_cancelled_wait_loses_nothing() {
    let town = slow_town().await;
    let (bus, feeds) = feeds_of(&town);
    let mut live: LiveFeed = feeds.live(&town.caller("ana"), None).await.unwrap();
    town.post("bo", "hello").await;
    bus.catch_up().await.unwrap();
    for stops in 0.. {
        if let Some(delivered) = stop_at(stops, live.next()).await {
            assert_eq!(delivered.unwrap().activity.preview_text.as_deref(), Some("hello"));
            assert!(stops > 5, "too few stops");
            return;
        }
    }
}

/// A circle may be large: concurrent requests of its reader share one load.
#[tokio::test]
async fn concurrent_pages_load_a_circle_once() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let slow = Store::new(YieldingBackend::new(Reference::new(clock.clone())));
    let town = Town::on(slow, clock, Town::settings(), 0).await;
    for name in ["ana", "bo"] {
        town.add_user(name, |_| {}).await;
    }
    town.follow("ana", "bo").await;
    let recorder = Arc::new(Recorder::default());
    let feeds = Feeds::new(town.context().observed(recorder.clone()), &town.new_bus());
    let (ana, page) = (town.caller("ana"), PageInput::first());
    let pages = (0..5).map(|_| feeds.home(&ana, &page));
    futures::future::try_join_all(pages).await.unwrap();
    let loads = recorder.take();
    assert_eq!(loads.iter().filter(|it| it.pattern == Some("following")).count(), 1);
}
