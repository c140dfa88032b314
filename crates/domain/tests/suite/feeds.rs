//! Home feeds, as readers see them.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{Code, FeedEntry, Feeds, LiveFeed, Page, PageInput, Refusal};
use roundtable_model::table::{Change, ManualClock, Shard, Store, StreamRead, StreamStart};
use roundtable_testkit::{Split, Town, Yielding, stop_at};
use tokio::time::timeout;

/// What a page says, one preview a line.
fn said(page: &Page<FeedEntry>) -> Vec<String> {
    let preview = |entry: &FeedEntry| entry.activity.preview_text.clone().unwrap_or_default();
    page.items.iter().map(|(entry, _)| preview(entry)).collect()
}

/// R25: what those one follows did, what oneself did, and nothing else, newest first.
#[tokio::test]
async fn a_home_feed_has_what_those_one_follows_did() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    for (who, text) in [("bo", "one"), ("cleo", "two"), ("ana", "three"), ("bo", "four")] {
        town.post(who, text).await;
        town.pass_ms(10);
    }
    let feeds = Feeds::new(town.ground().clone());
    let page = feeds.home(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(said(&page), ["four", "three", "one"]);
    assert_eq!(page.next, None);
}

/// R25: pages follow each other without a gap, whatever is written in between.
#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    for text in ["one", "two", "three", "four"] {
        town.post("bo", text).await;
        town.pass_ms(10);
    }
    let feeds = Feeds::new(town.ground().clone());
    let ana = town.caller("ana");
    let first = PageInput { limit: Some(2), after: None };
    let first = feeds.home(&ana, &first).await.unwrap();
    assert_eq!(said(&first), ["four", "three"]);
    town.post("bo", "five").await;
    let second = PageInput { limit: Some(2), after: first.next };
    let second = feeds.home(&ana, &second).await.unwrap();
    assert_eq!((said(&second), second.next), (vec!["two".into(), "one".into()], None));
}

/// R30: a cursor is its reader's, and one of another list is refused.
#[tokio::test]
async fn cursors_of_others_are_refused() {
    let town = Town::of(["ana", "bo"]).await;
    for text in ["one", "two"] {
        town.post("ana", text).await;
        town.pass_ms(10);
    }
    let feeds = Feeds::new(town.ground().clone());
    let first = PageInput { limit: Some(1), after: None };
    let after = feeds.home(&town.caller("ana"), &first).await.unwrap().next;
    let refused = feeds.home(&town.caller("bo"), &PageInput { limit: None, after }).await;
    assert_eq!(refused.unwrap_err().code(), Code::BadRequest);
}

/// I9: what is hidden from a reader between two reads is gone at the second.
#[tokio::test]
async fn what_is_hidden_is_gone_at_the_next_read() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    for followee in ["bo", "cleo", "dan"] {
        town.follow("ana", followee).await;
        town.post(followee, followee).await;
        town.pass_ms(10);
    }
    let feeds = Feeds::new(town.ground().clone());
    let ana = town.caller("ana");
    let read = async || said(&feeds.home(&ana, &PageInput::first()).await.unwrap());
    assert_eq!(read().await, ["dan", "cleo", "bo"]);
    town.block("cleo", "ana").await;
    assert_eq!(read().await, ["dan", "bo"]);
    let follows = town.follows();
    follows.update(&ana, &town.id("bo"), Some(true), None, None).await.unwrap();
    assert_eq!(read().await, ["dan"]);
    follows.unfollow(&ana, &town.id("dan"), None).await.unwrap();
    assert_eq!(read().await, [] as [String; 0]);
}

/// R25: whoever listens is told of each new entry once, in order, and of nothing else.
#[tokio::test]
async fn a_listener_is_told_of_each_new_entry_once() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    town.post("bo", "before").await;
    let feeds = Feeds::new(town.ground().clone());
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    for (who, text) in [("bo", "one"), ("cleo", "two"), ("ana", "three"), ("bo", "four")] {
        town.post(who, text).await;
        feeds.catch_up().await.unwrap();
    }
    for expected in ["one", "three", "four"] {
        let told = live.next().await.unwrap();
        assert_eq!(told.activity.preview_text.as_deref(), Some(expected));
    }
    assert!(live.next().now_or_never().is_none(), "nothing else happened");
}

/// R25: whoever comes back is told of what they missed, and of nothing twice; also by a process that
/// was not there when it happened.
#[tokio::test]
async fn a_listener_who_comes_back_is_told_of_what_they_missed() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let ana = town.caller("ana");
    let feeds = Feeds::new(town.ground().clone());
    let mut live = feeds.live(&ana, None).await.unwrap();
    town.post("bo", "one").await;
    feeds.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().activity.activity_id;
    drop(live);
    for text in ["two", "three"] {
        town.pass_ms(10);
        town.post("bo", text).await;
    }
    for feeds in [feeds, Feeds::new(town.ground().clone())] {
        let mut live = feeds.live(&ana, Some(&seen)).await.unwrap();
        for expected in ["two", "three"] {
            let told = live.next().await.unwrap();
            assert_eq!(told.activity.preview_text.as_deref(), Some(expected));
        }
        assert!(live.next().now_or_never().is_none(), "nothing else happened");
    }
}

/// R45: what was found together is told one by one: each is looked at again when its turn comes.
#[tokio::test]
async fn an_entry_that_is_hidden_before_its_turn_is_not_told() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    for name in ["bo", "cleo", "dan"] {
        town.follow("ana", name).await;
    }
    let (feeds, ana) = (Feeds::new(town.ground().clone()), town.caller("ana"));
    let mut live = feeds.live(&ana, None).await.unwrap();
    town.post("bo", "one").await;
    let gone = town.post("bo", "two").await;
    town.post("cleo", "three").await;
    town.post("dan", "four").await;
    town.post("bo", "five").await;
    feeds.catch_up().await.unwrap();
    let mut told = async || live.next().await.unwrap().activity.preview_text.unwrap();
    assert_eq!(told().await, "one");
    town.posts().delete(&town.caller("bo"), &gone.id, None).await.unwrap();
    town.block("cleo", "ana").await;
    town.follows().unfollow(&ana, &town.id("dan"), None).await.unwrap();
    assert_eq!(told().await, "five");
}

/// R25: a process that missed a part of the stream tells its listeners nevertheless: of each entry once,
/// also of one that is older than those they were told of, and of none again that the stream repeats.
#[tokio::test(start_paused = true)]
async fn a_gap_in_the_stream_hides_and_repeats_nothing() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(Split::new(Arc::new(Reference::new(clock.clone()))));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.move_in(name, |_| {}).await;
    }
    for name in ["bo", "cleo"] {
        town.follow("ana", name).await;
    }
    town.post("bo", "old").await;
    town.pass_ms(10);
    let feeds = Feeds::new(town.ground().clone());
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    // Whoever reads makes their own known to the process, however old: that is no news.
    feeds.home(&town.caller("bo"), &PageInput::first()).await.unwrap();
    town.pass_ms(10);
    town.post("cleo", "late").await;
    let late = all_changes(&town).await;
    town.pass_ms(10);
    town.post("bo", "early").await;
    let all = all_changes(&town).await;
    let (_, early) = all.split_at(late.len());
    feeds.apply(early);
    // The clock stands still as long as anybody can go on.
    let mut told = async || {
        let next = timeout(Duration::from_secs(1), live.next()).await.ok()?;
        next.unwrap().activity.preview_text
    };
    assert_eq!(told().await.as_deref(), Some("early"));
    feeds.hears(false);
    feeds.hears(true);
    assert_eq!(told().await.as_deref(), Some("late"));
    feeds.apply(&all);
    assert_eq!(told().await, None, "both were told");
    town.pass_ms(10);
    town.post("bo", "next").await;
    feeds.apply(&all_changes(&town).await);
    assert_eq!((told().await.as_deref(), told().await), (Some("next"), None));
}

/// Everything that happened in a town.
async fn all_changes(town: &Town) -> Vec<Change> {
    let table = town.ground().core().table();
    let mut changes = Vec::new();
    for Shard { id: shard, .. } in table.stream_shards().await.unwrap() {
        let read = StreamRead::new(shard, StreamStart::Oldest);
        changes.extend(table.stream_read(read).await.unwrap().changes);
    }
    changes
}

/// R25: an `after` that is no entry's id is refused, and not taken for now.
#[tokio::test]
async fn whoever_comes_back_says_from_where() {
    let town = Town::of(["ana"]).await;
    let feeds = Feeds::new(town.ground().clone());
    let useless = "nothing".parse().unwrap();
    let refused = feeds.live(&town.caller("ana"), Some(&useless)).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
    let why = "after: expected the activityId of an entry, found \"nothing\"";
    assert_eq!(refused.to_string(), why);
}

/// R25: whoever waits is woken by what happens.
#[tokio::test]
async fn a_waiting_listener_is_woken() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let feeds = Feeds::new(town.ground().clone());
    let mut live = feeds.live(&town.caller("ana"), None).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let following = async {
        feeds.follow(async { drop(stopped.await) }).await;
    };
    let listening = async {
        let told = live.next().await.unwrap();
        stop.send(()).unwrap();
        told.activity.preview_text
    };
    let ((), told, _) = tokio::join!(following, listening, town.post("bo", "hello"));
    assert_eq!(told.as_deref(), Some("hello"));
}

/// A town of bo, whom ana and cleo follow, on a store that keeps everybody waiting.
async fn slow_town() -> Town {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(Yielding::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.move_in(name, |_| {}).await;
    }
    for name in ["ana", "cleo"] {
        town.follow(name, "bo").await;
    }
    town
}

/// R45: a listener who is not looked at any more, wherever that leaves them, keeps nobody waiting.
#[tokio::test(start_paused = true)]
async fn a_listener_who_stands_still_keeps_nobody_waiting() {
    let town = slow_town().await;
    for steps in 0.. {
        let feeds = Feeds::new(town.ground().clone());
        let (ana, cleo) = (town.caller("ana"), town.caller("cleo"));
        let mut still = Box::pin(feeds.live(&ana, None));
        let mut is_listening = false;
        for _ in 0..steps {
            is_listening = is_listening || futures::poll!(still.as_mut()).is_ready();
        }
        let told = async {
            let mut live = feeds.live(&cleo, None).await.unwrap();
            town.post("bo", "hello").await;
            feeds.catch_up().await.unwrap();
            live.next().await.unwrap().activity.preview_text
        };
        // The clock stands still as long as anybody can go on.
        let told = timeout(Duration::from_secs(1), told).await;
        assert_eq!(told, Ok(Some("hello".into())), "after {steps} steps of somebody else");
        if is_listening {
            assert!(steps > 5, "too few steps");
            return;
        }
    }
}

/// R45: whoever stops waiting, at any moment, and waits again has missed nothing.
#[tokio::test]
async fn a_listener_who_stops_waiting_loses_nothing() {
    let town = slow_town().await;
    let feeds = Feeds::new(town.ground().clone());
    let mut live: LiveFeed = feeds.live(&town.caller("ana"), None).await.unwrap();
    town.post("bo", "hello").await;
    feeds.catch_up().await.unwrap();
    for stops in 0.. {
        if let Some(told) = stop_at(stops, live.next()).await {
            assert_eq!(told.unwrap().activity.preview_text.as_deref(), Some("hello"));
            assert!(stops > 5, "too few stops");
            return;
        }
    }
}
