//! Notifications as they come: none is lost, whatever the reader or the process does meanwhile.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{Code, LiveNotifications, Notifications, Refusal};
use roundtable_model::entities::{Notification, ObjectRef};
use roundtable_model::table::{BatchWrite, ManualClock, Recorder, Store};
use roundtable_model::{Entity, EntityKind, Expiry, NotificationKind};
use roundtable_testkit::{Town, Yielding};
use tokio::time::timeout;

use super::{HOUR_MS, line, service};

/// What a listener is told now, without waiting.
fn told(live: &mut LiveNotifications) -> Option<String> {
    live.next().now_or_never().map(|notice| line(&notice.unwrap()))
}

/// R38: what adds up lies at the beginning of its hour, and is told nevertheless to whoever was told of
/// something later in that hour, then went away and comes back to a process that knows nothing.
#[tokio::test]
async fn what_adds_up_is_not_missed_by_whoever_comes_back() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (first, ana) = (service(&town), town.caller("ana"));
    let post = town.post("ana", "hello").await;
    let room = town.room_with("ana", "bo").await;
    let mut live = first.live(&ana, None).await.unwrap();
    town.pass_ms(HOUR_MS / 6);
    town.follow("cleo", "ana").await;
    town.settle().await;
    first.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().notification;
    drop(live);
    town.pass_ms(HOUR_MS / 6);
    town.like("bo", &post.id).await;
    town.say("bo", &room, "hello").await;
    town.settle().await;
    let mut live = service(&town).live(&ana, Some(&seen.id)).await.unwrap();
    let mut found = [told(&mut live), told(&mut live)];
    found.sort_unstable();
    assert_eq!(found, [Some("like bo 1".into()), Some("message bo 1".into())]);
    assert_eq!(told(&mut live), None, "nothing else happened");
}

/// R38: an `after` that is no notification's id is refused, and not taken for now.
#[tokio::test]
async fn whoever_comes_back_says_from_where() {
    let town = Town::of(["ana"]).await;
    let useless = "nothing".parse().unwrap();
    let refused = service(&town).live(&town.caller("ana"), Some(&useless)).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
}

/// R38: however much somebody missed, they are told of all of it, in order.
#[tokio::test]
async fn all_that_was_missed_is_told() {
    const MISSED: u64 = 1_050;
    let town = Town::of(["ana", "bo"]).await;
    let note = |number: u64| {
        let created_at = town.now().plus_ms(number);
        let (user_id, bo) = (town.id("ana"), town.id("bo"));
        let object = Some(ObjectRef { entity: EntityKind::User, id: (&bo).into() });
        let ttl = Expiry::at(created_at.plus_ms(24 * HOUR_MS));
        let (id, kind) = (town.ground().ids().next_at(created_at), NotificationKind::Follow);
        Notification {
            user_id,
            id,
            kind,
            actor_id: Some(bo),
            object,
            within: None,
            latest_at: None,
            read_at: None,
            created_at,
            ttl,
        }
    };
    let notes: Vec<Notification> = (0..=MISSED).map(note).collect();
    for some in notes.chunks(25) {
        let puts = some.iter().map(|note| BatchWrite::Put(note.item())).collect();
        town.ground().core().table().batch_write(puts).await.unwrap();
    }
    let mut live = service(&town).live(&town.caller("ana"), Some(&notes[0].id)).await.unwrap();
    for note in &notes[1..] {
        let next = live.next().now_or_never().unwrap().unwrap();
        assert_eq!(next.notification.id, note.id);
    }
    assert_eq!(told(&mut live), None);
}

/// R38: whoever stops waiting, at any moment, and waits again has missed nothing.
#[tokio::test]
async fn a_reader_who_stops_waiting_loses_nothing() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = Arc::new(Reference::new(clock.clone()));
    let town = Town::on(Store::shared(backend.clone()), clock.clone(), Town::settings(), 0).await;
    for name in ["ana", "bo"] {
        town.move_in(name, |_| {}).await;
    }
    let slow = Store::new(Yielding::shared(backend));
    let slow = Town::on(slow, clock, Town::settings(), 1).await;
    let service = Notifications::new(slow.ground().clone());
    let mut live = service.live(&slow.caller("ana"), None).await.unwrap();
    town.follow("bo", "ana").await;
    town.settle().await;
    service.catch_up().await.unwrap();
    for polls in 1..200 {
        // Dropped after so many steps, if it is not there by then.
        let mut next = Box::pin(live.next());
        for _ in 0..polls {
            if let Poll::Ready(told) = futures::poll!(next.as_mut()) {
                assert_eq!(line(&told.unwrap()), "follow bo 1");
                assert!(polls > 5, "too few steps");
                return;
            }
        }
    }
    panic!("nobody was told");
}

/// R45: a listener who is not looked at any more, wherever that leaves them, keeps nobody waiting.
#[tokio::test(start_paused = true)]
async fn a_listener_who_stands_still_keeps_nobody_waiting() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(Yielding::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.move_in(name, |_| {}).await;
    }
    for steps in 0.. {
        let service = Notifications::new(town.ground().clone());
        let (ana, cleo) = (town.caller("ana"), town.caller("cleo"));
        let mut still = Box::pin(service.live(&ana, None));
        let mut is_listening = false;
        for _ in 0..steps {
            is_listening = is_listening || futures::poll!(still.as_mut()).is_ready();
        }
        let told = async {
            let mut live = service.live(&cleo, None).await.unwrap();
            let (bo, cleo) = (town.caller("bo"), town.id("cleo"));
            town.follow("bo", "cleo").await;
            town.settle().await;
            service.catch_up().await.unwrap();
            let told = line(&live.next().await.unwrap());
            town.follows().unfollow(&bo, &cleo, None).await.unwrap();
            town.pass_ms(HOUR_MS);
            told
        };
        // The clock stands still as long as anybody can go on.
        let told = timeout(Duration::from_secs(1), told).await;
        assert_eq!(told.as_deref(), Ok("follow bo 1"), "after {steps} steps of somebody else");
        if is_listening {
            assert!(steps > 5, "too few steps");
            return;
        }
    }
}

/// R38, I9: whether somebody may be told is asked at the moment they are.
#[tokio::test]
async fn what_is_hidden_meanwhile_is_not_told() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let service = service(&town);
    let mut live = service.live(&town.caller("ana"), None).await.unwrap();
    for name in ["bo", "cleo", "dan"] {
        town.pass_ms(1);
        town.follow(name, "ana").await;
    }
    town.settle().await;
    service.catch_up().await.unwrap();
    assert_eq!(told(&mut live), Some("follow bo 1".into()));
    town.block("ana", "cleo").await;
    assert_eq!(told(&mut live), Some("follow dan 1".into()));
    assert_eq!(told(&mut live), None);
}

/// R38: another message in the same hour is told as the first was; one more of many who like a post is
/// not, until those before were read.
#[tokio::test]
async fn every_message_rings() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (service, ana) = (service(&town), town.caller("ana"));
    let room = town.room_with("ana", "bo").await;
    let post = town.post("ana", "hello").await;
    let mut live = service.live(&ana, None).await.unwrap();
    let settled = async || {
        town.settle().await;
        service.catch_up().await.unwrap();
    };
    for text in ["hello", "are you there?"] {
        let said = town.say("bo", &room, text).await;
        settled().await;
        let notice = live.next().now_or_never().unwrap().unwrap();
        assert_eq!(notice.notification.object.unwrap().id, (&said.id).into(), "{text}");
        assert_eq!(told(&mut live), None);
    }
    for (name, expected) in [("bo", Some("like bo 1".into())), ("cleo", None)] {
        town.like(name, &post.id).await;
        settled().await;
        assert_eq!(told(&mut live), expected, "{name}");
    }
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    settled().await;
    assert_eq!(told(&mut live), None, "nothing happened");
    town.pass_ms(1);
    town.like("dan", &post.id).await;
    settled().await;
    assert_eq!(told(&mut live), Some("like dan 3".into()));
}

/// Of what others are told a listener reads nothing.
#[tokio::test]
async fn what_others_are_told_costs_a_listener_nothing() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let recorder = Arc::new(Recorder::default());
    let service = Notifications::new(town.ground().observed(recorder.clone()));
    let mut live = service.live(&town.caller("ana"), None).await.unwrap();
    for name in ["ana", "cleo"] {
        town.follow(name, "bo").await;
    }
    town.settle().await;
    service.catch_up().await.unwrap();
    recorder.take();
    assert_eq!(told(&mut live), None);
    assert!(recorder.take().is_empty());
}
