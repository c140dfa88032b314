//! Notifications, as users see them (R30, R32, R38).

mod live;
mod order;
mod unread;

use std::collections::BTreeSet;

use futures::FutureExt;
use roundtable_domain::{
    Code, LiveSource as _, NotificationView, Notifications, Page, PageInput, Refusal,
};
use roundtable_model::table::Order;
use roundtable_model::{NotificationKind, RequestId, Span, UserStatus};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 60 * 60 * 1000;

fn line(notice: &NotificationView) -> String {
    let note = &notice.notification;
    let actor = note.actor_id.as_ref().map_or("-".into(), ToString::to_string);
    let read = if note.read_at.is_some() { " read" } else { "" };
    format!("{} {actor} {}{read}", note.kind, notice.people)
}

fn lines(page: &Page<NotificationView>) -> Vec<String> {
    page.items.iter().map(|(notice, _)| line(notice)).collect()
}

async fn list(town: &Town, service: &Notifications, name: &str) -> Vec<String> {
    lines(&service.list(&town.caller(name), &PageInput::first()).await.unwrap())
}

async fn count(town: &Town, service: &Notifications, name: &str) -> u64 {
    service.unread(&town.caller(name)).await.unwrap()
}

fn service(town: &Town) -> Notifications {
    Notifications::new(town.context().clone())
}

/// A town in which ana has three notifications.
async fn town_with_notifications() -> (Town, Notifications) {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let post = town.post("ana", "hello").await;
    town.advance_ms(2 * HOUR_MS);
    for name in ["bo", "cleo"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
    }
    town.advance_ms(HOUR_MS);
    town.comment("bo", &post.id, "well said").await;
    town.advance_ms(1);
    town.follow("dan", "ana").await;
    town.settle().await;
    let service = service(&town);
    (town, service)
}

/// R38: newest first; likes of a post are counted and the latest actor is named.
#[tokio::test]
async fn the_newest_comes_first() {
    let (town, service) = town_with_notifications().await;
    assert_eq!(list(&town, &service, "ana").await, ["follow dan 1", "comment bo 1", "like cleo 2"]);
    assert_eq!(count(&town, &service, "ana").await, 3);
    assert_eq!(list(&town, &service, "bo").await, [] as [String; 0]);
    assert_eq!(count(&town, &service, "bo").await, 0);
}

/// R30: pages are full and continue without a gap despite changes meanwhile.
#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    let (town, service) = town_with_notifications().await;
    let ana = town.caller("ana");
    let first = PageInput { limit: Some(1), after: None };
    let first = service.list(&ana, &first).await.unwrap();
    assert_eq!(lines(&first), ["follow dan 1"]);
    town.advance_ms(1);
    town.follow("cleo", "ana").await;
    town.settle().await;
    town.block("ana", "bo").await;
    let second = PageInput { limit: Some(1), after: first.next };
    let others = service.list(&town.caller("bo"), &second).await;
    assert_eq!(others.unwrap_err().code(), Code::BadRequest, "a cursor is its reader's");
    let second = service.list(&ana, &second).await.unwrap();
    assert_eq!((lines(&second), second.next), (vec!["like cleo 2".into()], None));
}

/// R38, I9: a hidden notification disappears at once, also from the count; if there are other
/// actors, one of them is named instead.
#[tokio::test]
async fn hidden_notifications_disappear_at_once() {
    let (town, service) = town_with_notifications().await;
    let (ana, follows) = (town.caller("ana"), town.follows());
    town.block("cleo", "ana").await;
    assert_eq!(list(&town, &service, "ana").await, ["follow dan 1", "comment bo 1", "like bo 2"]);
    assert_eq!(count(&town, &service, "ana").await, 3);
    town.set_status("dan", UserStatus::Suspended).await;
    assert_eq!(list(&town, &service, "ana").await, ["comment bo 1", "like bo 2"]);
    town.follow("ana", "bo").await;
    follows.update(&ana, &town.id("bo"), Some(true), None, None, None).await.unwrap();
    assert_eq!(
        (list(&town, &service, "ana").await, count(&town, &service, "ana").await),
        (vec![], 0)
    );
    follows.update(&ana, &town.id("bo"), Some(false), Some(false), None, None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
    follows.update(&ana, &town.id("bo"), None, Some(true), None, None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 2);
    let posts = town.context().core().posts_by(&town.id("ana")).all().await.unwrap();
    town.posts().delete(&ana, &posts[0].id, None).await.unwrap();
    assert_eq!(
        (list(&town, &service, "ana").await, count(&town, &service, "ana").await),
        (vec![], 0)
    );
}

/// R38: notifications before a time are marked as read, later ones are not.
#[tokio::test]
async fn read_notifications_are_not_counted() {
    let (town, service) = town_with_notifications().await;
    let ana = town.caller("ana");
    let newest = service.list(&ana, &PageInput::first()).await.unwrap().into_items();
    let newest = newest[0].notification.created_at;
    assert_eq!(service.mark_read(&ana, newest, None).await.unwrap(), 2);
    let expected = ["follow dan 1", "comment bo 1 read", "like cleo 2 read"];
    assert_eq!(list(&town, &service, "ana").await, expected);
    assert_eq!(count(&town, &service, "ana").await, 1);
    assert_eq!(service.mark_read(&ana, newest, None).await.unwrap(), 0);
    let now = town.now().plus_ms(1);
    assert_eq!(service.mark_read(&ana, now, None).await.unwrap(), 1);
    assert_eq!(count(&town, &service, "ana").await, 0);
}

/// R38: another like after that makes the notification unread again, once.
#[tokio::test]
async fn another_actor_makes_it_unread_again() {
    let (town, service) = town_with_notifications().await;
    let ana = town.caller("ana");
    let posts = town.context().core().posts_by(&town.id("ana")).all().await.unwrap();
    town.like("dan", &posts[0].id).await;
    town.settle().await;
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
    town.advance_ms(1);
    town.add_user("eve", |_| {}).await;
    town.like("eve", &posts[0].id).await;
    town.settle().await;
    assert_eq!(count(&town, &service, "ana").await, 1);
    assert!(list(&town, &service, "ana").await.contains(&"like eve 4".into()));
    town.settle().await;
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
}

/// R32: a repeated request takes effect once and returns the same answer.
#[tokio::test]
async fn a_repeated_mark_takes_effect_once() {
    let (town, service) = town_with_notifications().await;
    let (ana, request): (_, RequestId) = (town.caller("ana"), "one".parse().unwrap());
    let before = town.now().plus_ms(1);
    assert_eq!(service.mark_read(&ana, before, Some(&request)).await.unwrap(), 3);
    town.follow("cleo", "ana").await;
    town.settle().await;
    assert_eq!(service.mark_read(&ana, before, Some(&request)).await.unwrap(), 3);
    assert_eq!(count(&town, &service, "ana").await, 1);
    let other = service.mark_read(&ana, town.now().plus_ms(9), Some(&request)).await;
    assert_eq!(other.unwrap_err().code(), Code::IdempotencyMismatch);
}

/// R38: any number of notifications is listed, counted and marked.
#[tokio::test]
async fn many_are_counted_and_marked() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    for number in 0..230 {
        town.advance_ms(1);
        town.comment("bo", &post.id, &format!("and {number}")).await;
    }
    town.settle().await;
    let (service, ana) = (service(&town), town.caller("ana"));
    assert_eq!(count(&town, &service, "ana").await, 230);
    let (mut seen, mut after) = (BTreeSet::new(), None);
    loop {
        let page = PageInput { limit: Some(100), after };
        let page = service.list(&ana, &page).await.unwrap();
        seen.extend(page.items.iter().map(|(notice, _)| notice.notification.id.clone()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 230);
    let marked = service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    assert_eq!((marked, count(&town, &service, "ana").await), (230, 0));
}

/// Suspended and deleted users get no notifications.
#[tokio::test]
async fn inactive_accounts_get_no_notifications() {
    let (town, service) = town_with_notifications().await;
    town.set_status("ana", UserStatus::Suspended).await;
    let ana = town.caller("ana");
    let refused = service.list(&ana, &PageInput::first()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    assert_eq!(service.unread(&ana).await.unwrap_err().code(), Code::Forbidden);
    let marked = service.mark_read(&ana, town.now(), None).await;
    assert_eq!(marked.unwrap_err().code(), Code::Forbidden);
    assert_eq!(
        service.live(&town.new_bus(), &ana, None).await.unwrap_err().code(),
        Code::Forbidden
    );
}

/// R38: a subscription delivers each notification once and in order.
#[tokio::test]
async fn a_subscription_delivers_each_notification_once() {
    let (town, service) = town_with_notifications().await;
    let bus = town.new_bus();
    let mut live = service.live(&bus, &town.caller("ana"), None).await.unwrap();
    let post = town.post("ana", "and now?").await;
    town.like("bo", &post.id).await;
    town.settle().await;
    town.advance_ms(1);
    town.follow("cleo", "ana").await;
    town.follow("cleo", "bo").await;
    town.like("dan", &post.id).await;
    town.settle().await;
    bus.catch_up().await.unwrap();
    // The like is delivered in its current state.
    for expected in ["like dan 2", "follow cleo 1"] {
        assert_eq!(line(&live.next().await.unwrap()), expected);
    }
    assert!(live.next().now_or_never().is_none(), "nothing else happened");
}

/// R38: a returning reader gets what they missed, once; also from a process that was not running
/// when it happened.
#[tokio::test]
async fn a_returning_reader_gets_missed_notifications() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (service, ana, bus) = (service(&town), town.caller("ana"), town.new_bus());
    let mut live = service.live(&bus, &ana, None).await.unwrap();
    for follower in ["bo", "cleo", "dan"] {
        town.advance_ms(10);
        town.follow(follower, "ana").await;
    }
    town.settle().await;
    bus.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().notification.id;
    drop(live);
    for bus in [bus, town.new_bus()] {
        let mut live = service.live(&bus, &ana, Some(&seen.clone().into())).await.unwrap();
        for expected in ["follow cleo 1", "follow dan 1"] {
            assert_eq!(line(&live.next().await.unwrap()), expected);
        }
        assert!(live.next().now_or_never().is_none(), "nothing else happened");
    }
}

/// R38: a waiting subscription is woken by a new notification, and does not deliver hidden ones.
#[tokio::test]
async fn a_waiting_subscription_is_woken() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (service, bus) = (service(&town), town.new_bus());
    let mut live = service.live(&bus, &town.caller("ana"), None).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let following = async {
        bus.run(async { drop(stopped.await) }).await;
    };
    let waiting = async {
        let view = live.next().await.unwrap();
        stop.send(()).unwrap();
        view
    };
    let happening = async {
        town.follow("bo", "ana").await;
        town.block("ana", "bo").await;
        town.follow("cleo", "ana").await;
        town.settle().await;
    };
    let ((), view, ()) = tokio::join!(following, waiting, happening);
    assert_eq!(line(&view), "follow cleo 1");
}

/// R38: a notification is stored under the time in its id, in ascending order.
#[tokio::test]
async fn ids_contain_the_time() {
    let (town, _) = town_with_notifications().await;
    let listing = town.context().core().notifications(&town.id("ana"), Span::ALL);
    let notes = listing.order(Order::Ascending).all().await.unwrap();
    assert!(notes.iter().all(|note| note.id.time() == Some(note.created_at)));
    assert!(notes.is_sorted_by_key(|note| note.id.clone()));
    let like = notes.iter().find(|note| note.kind == NotificationKind::Like).unwrap();
    assert_eq!(like.created_at.ms() % HOUR_MS, 0, "likes add up for an hour");
}
