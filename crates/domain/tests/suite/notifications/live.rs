//! Live notifications: none is lost, through cancellation, restart or lag.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{Code, LiveNotifications, LiveSource as _, Notifications, Refusal};
use roundtable_model::entities::{Notification, ObjectRef};
use roundtable_model::table::{BatchWrite, Change, ManualClock, Recorder, Sequence, Store};
use roundtable_model::{Entity, EntityKind, Expiry, NotificationKind};
use roundtable_testkit::{SplitStreamBackend, Town, YieldingBackend};
use tokio::time::timeout;

use super::{HOUR_MS, line, service};

/// The notification a subscription delivers without waiting.
fn next_line(live: &mut LiveNotifications) -> Option<String> {
    live.next().now_or_never().map(|view| line(&view.unwrap()))
}

/// R38: a collapsed notification is stored at the start of its hour. It is still delivered to a
/// reader who saw a later one of that hour and returns to a fresh process.
#[tokio::test]
async fn a_returning_reader_gets_collapsed_notifications() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (service, ana, bus) = (service(&town), town.caller("ana"), town.new_bus());
    let post = town.post("ana", "hello").await;
    let room = town.room_with("ana", "bo").await;
    let mut live = service.live(&bus, &ana, None).await.unwrap();
    town.advance_ms(HOUR_MS / 6);
    town.follow("cleo", "ana").await;
    town.settle().await;
    bus.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().notification;
    drop(live);
    town.advance_ms(HOUR_MS / 6);
    town.like("bo", &post.id).await;
    town.send_message("bo", &room, "hello").await;
    town.settle().await;
    let mut live = service.live(&town.new_bus(), &ana, Some(&seen.id.into())).await.unwrap();
    let mut found = [next_line(&mut live), next_line(&mut live)];
    found.sort_unstable();
    assert_eq!(found, [Some("like bo 1".into()), Some("message bo 1".into())]);
    assert_eq!(next_line(&mut live), None, "nothing else happened");
}

/// R38: an `after` that is not a notification's id is refused rather than read as now.
#[tokio::test]
async fn an_invalid_resume_position_is_refused() {
    let town = Town::of(["ana"]).await;
    let useless = "nothing".parse().unwrap();
    let (ana, bus) = (town.caller("ana"), town.new_bus());
    let refused = service(&town).live(&bus, &ana, Some(&useless)).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
}

/// R38: a reader gets all missed notifications in order, however many.
#[tokio::test]
async fn all_missed_notifications_are_delivered() {
    const MISSED: u64 = 1_050;
    let town = Town::of(["ana", "bo"]).await;
    let note = |number: u64| {
        let created_at = town.now().plus_ms(number);
        let (user_id, bo) = (town.id("ana"), town.id("bo"));
        let object = Some(ObjectRef { entity: EntityKind::User, id: (&bo).into() });
        let ttl = Expiry::at(created_at.plus_ms(24 * HOUR_MS));
        let (id, kind) = (town.context().ids().next_at(created_at), NotificationKind::Follow);
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
        town.context().core().table().batch_write(puts).await.unwrap();
    }
    let (ana, bus) = (town.caller("ana"), town.new_bus());
    let mut live =
        service(&town).live(&bus, &ana, Some(&notes[0].id.clone().into())).await.unwrap();
    for note in &notes[1..] {
        let next = live.next().now_or_never().unwrap().unwrap();
        assert_eq!(next.notification.id, note.id);
    }
    assert_eq!(next_line(&mut live), None);
}

/// R38: the same in another process, which has received changes in another order, or none yet.
#[tokio::test(start_paused = true)]
async fn a_reader_who_moves_to_another_process_misses_no_notification() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(SplitStreamBackend::new(Arc::new(Reference::new(clock.clone()))));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    let (service, ana) = (service(&town), town.caller("ana"));
    let (one, two, started) = (town.new_bus(), town.new_bus(), town.new_bus());
    let mut live = service.live(&one, &ana, None).await.unwrap();
    tokio::time::advance(Duration::from_mins(1)).await;
    let mut changes = Vec::new();
    for follower in ["cleo", "bo"] {
        town.advance_ms(10);
        let (created_at, actor) = (town.now(), town.id(follower));
        let object = Some(ObjectRef { entity: EntityKind::User, id: (&actor).into() });
        let note = Notification {
            user_id: ana.user_id.clone(),
            id: town.context().ids().next_at(created_at),
            actor_id: Some(actor),
            object,
            within: None,
            latest_at: None,
            read_at: None,
            created_at,
            ttl: Expiry::at(created_at.plus_ms(24 * HOUR_MS)),
            kind: NotificationKind::Follow,
        };
        town.context().core().table().put(note.create()).await.unwrap();
        let key = note.key().into_key();
        let sequence = Sequence::from(changes.len() as u64 + 1);
        let (new, at_ms) = (Some(note.item()), created_at.ms());
        changes.push(Change { sequence, at_ms, key, old: None, new, expired: false });
    }
    let (late, early) = changes.split_at(1);
    one.apply(early);
    two.apply(&changes);
    let seen = live.next().await.unwrap().notification;
    assert_eq!(seen.actor_id, Some(town.id("bo")));
    let point = one.resume_point(seen.id.clone());
    for (bus, point) in [
        (&two, point.clone()),
        (&two, seen.id.clone().into()),
        (&started, point.clone()),
        (&started, seen.id.clone().into()),
    ] {
        let mut live = service.live(bus, &ana, Some(&point)).await.unwrap();
        assert_eq!(next_line(&mut live), Some("follow cleo 1".into()), "{point}");
        assert_eq!(next_line(&mut live), None, "{point}");
    }
    // Where the reader was, the order is known, and nothing is repeated.
    let mut live = service.live(&one, &ana, Some(&point)).await.unwrap();
    assert_eq!(next_line(&mut live), None);
    one.apply(late);
    assert_eq!(next_line(&mut live), Some("follow cleo 1".into()));
    assert_eq!(next_line(&mut live), None);
}

/// R38: a subscription that is cancelled at any point and polled again loses nothing.
#[tokio::test]
async fn a_cancelled_wait_loses_nothing() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = Arc::new(Reference::new(clock.clone()));
    let town = Town::on(Store::shared(backend.clone()), clock.clone(), Town::settings(), 0).await;
    for name in ["ana", "bo"] {
        town.add_user(name, |_| {}).await;
    }
    let slow = Store::new(YieldingBackend::shared(backend));
    let slow = Town::on(slow, clock, Town::settings(), 1).await;
    let (service, bus) = (service(&slow), slow.new_bus());
    let mut live = service.live(&bus, &slow.caller("ana"), None).await.unwrap();
    town.follow("bo", "ana").await;
    town.settle().await;
    bus.catch_up().await.unwrap();
    for polls in 1..200 {
        // Dropped after this many polls, unless it is ready before.
        let mut next = Box::pin(live.next());
        for _ in 0..polls {
            if let Poll::Ready(view) = futures::poll!(next.as_mut()) {
                assert_eq!(line(&view.unwrap()), "follow bo 1");
                assert!(polls > 5, "too few steps");
                return;
            }
        }
    }
    panic!("no notification was delivered");
}

/// R45: a subscription that is no longer polled, at any point, blocks no other task.
#[tokio::test(start_paused = true)]
async fn a_stalled_subscription_blocks_no_other_task() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let store = Store::new(YieldingBackend::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    for steps in 0.. {
        let (service, bus) = (service(&town), town.new_bus());
        let (ana, cleo) = (town.caller("ana"), town.caller("cleo"));
        let mut still = Box::pin(service.live(&bus, &ana, None));
        let mut is_listening = false;
        for _ in 0..steps {
            is_listening = is_listening || futures::poll!(still.as_mut()).is_ready();
        }
        let delivery = async {
            let mut live = service.live(&bus, &cleo, None).await.unwrap();
            let (bo, cleo) = (town.caller("bo"), town.id("cleo"));
            town.follow("bo", "cleo").await;
            town.settle().await;
            bus.catch_up().await.unwrap();
            let delivered = line(&live.next().await.unwrap());
            town.follows().unfollow(&bo, &cleo, None).await.unwrap();
            town.advance_ms(HOUR_MS);
            delivered
        };
        // The paused clock advances only when no task can progress.
        let delivered = timeout(Duration::from_secs(1), delivery).await;
        assert_eq!(delivered.as_deref(), Ok("follow bo 1"), "after {steps} steps of another task");
        if is_listening {
            assert!(steps > 5, "too few steps");
            return;
        }
    }
}

/// R38, I9: eligibility is checked at delivery.
#[tokio::test]
async fn hidden_notifications_are_not_delivered() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (service, bus) = (service(&town), town.new_bus());
    let mut live = service.live(&bus, &town.caller("ana"), None).await.unwrap();
    for name in ["bo", "cleo", "dan"] {
        town.advance_ms(1);
        town.follow(name, "ana").await;
    }
    town.settle().await;
    bus.catch_up().await.unwrap();
    assert_eq!(next_line(&mut live), Some("follow bo 1".into()));
    town.block("ana", "cleo").await;
    assert_eq!(next_line(&mut live), Some("follow dan 1".into()));
    assert_eq!(next_line(&mut live), None);
}

/// R38, R54: another message or like in the same hour is delivered like the first, also after the
/// earlier ones were read.
#[tokio::test]
async fn every_message_is_delivered() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (service, ana, bus) = (service(&town), town.caller("ana"), town.new_bus());
    let room = town.room_with("ana", "bo").await;
    let post = town.post("ana", "hello").await;
    let mut live = service.live(&bus, &ana, None).await.unwrap();
    let settled = async || {
        town.settle().await;
        bus.catch_up().await.unwrap();
    };
    for text in ["hello", "are you there?"] {
        let sent = town.send_message("bo", &room, text).await;
        settled().await;
        let view = live.next().now_or_never().unwrap().unwrap();
        assert_eq!(view.notification.object.unwrap().id, (&sent.id).into(), "{text}");
        assert_eq!(next_line(&mut live), None);
    }
    for (name, expected) in [("bo", "like bo 1"), ("cleo", "like cleo 2")] {
        town.like(name, &post.id).await;
        settled().await;
        assert_eq!(next_line(&mut live), Some(expected.into()));
        assert_eq!(next_line(&mut live), None);
    }
    town.likes().unlike(&town.caller("cleo"), &post.id, None).await.unwrap();
    settled().await;
    assert_eq!(next_line(&mut live), None, "there is nothing new");
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    settled().await;
    assert_eq!(next_line(&mut live), None, "nothing happened");
    town.advance_ms(1);
    town.like("dan", &post.id).await;
    settled().await;
    assert_eq!(next_line(&mut live), Some("like dan 2".into()));
}

/// Notifications of other users cost a subscription no reads.
#[tokio::test]
async fn notifications_of_others_cost_a_subscription_nothing() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let recorder = Arc::new(Recorder::default());
    let service = Notifications::new(town.context().observed(recorder.clone()));
    let bus = town.new_bus();
    let mut live = service.live(&bus, &town.caller("ana"), None).await.unwrap();
    for name in ["ana", "cleo"] {
        town.follow(name, "bo").await;
    }
    town.settle().await;
    bus.catch_up().await.unwrap();
    recorder.take();
    assert_eq!(next_line(&mut live), None);
    assert!(recorder.take().is_empty());
}
