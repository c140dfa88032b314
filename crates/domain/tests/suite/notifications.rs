//! Notifications, as people see them (R30, R32, R38).

mod live;
mod unread;

use std::collections::BTreeSet;

use futures::FutureExt;
use roundtable_domain::{Code, Notice, Notifications, Page, PageInput, Refusal};
use roundtable_model::table::Order;
use roundtable_model::{NotificationKind, RequestId, Span, UserStatus};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 60 * 60 * 1000;

fn line(notice: &Notice) -> String {
    let note = &notice.notification;
    let actor = note.actor_id.as_ref().map_or("-".into(), ToString::to_string);
    let read = if note.read_at.is_some() { " read" } else { "" };
    format!("{} {actor} {}{read}", note.kind, notice.people)
}

fn lines(page: &Page<Notice>) -> Vec<String> {
    page.items.iter().map(|(notice, _)| line(notice)).collect()
}

async fn list(town: &Town, service: &Notifications, name: &str) -> Vec<String> {
    lines(&service.list(&town.caller(name), &PageInput::first()).await.unwrap())
}

async fn count(town: &Town, service: &Notifications, name: &str) -> u64 {
    service.unread(&town.caller(name)).await.unwrap()
}

fn service(town: &Town) -> Notifications {
    Notifications::new(town.ground().clone())
}

/// A town in which ana was told of three things.
async fn told() -> (Town, Notifications) {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let post = town.post("ana", "hello").await;
    town.pass_ms(2 * HOUR_MS);
    for name in ["bo", "cleo"] {
        town.pass_ms(1);
        town.like(name, &post.id).await;
    }
    town.pass_ms(HOUR_MS);
    town.comment("bo", &post.id, "well said").await;
    town.pass_ms(1);
    town.follow("dan", "ana").await;
    town.settle().await;
    let service = service(&town);
    (town, service)
}

/// R38: newest first; those who like a post are counted, and the latest is named.
#[tokio::test]
async fn the_newest_comes_first() {
    let (town, service) = told().await;
    assert_eq!(list(&town, &service, "ana").await, ["follow dan 1", "comment bo 1", "like cleo 2"]);
    assert_eq!(count(&town, &service, "ana").await, 3);
    assert_eq!(list(&town, &service, "bo").await, [] as [String; 0]);
    assert_eq!(count(&town, &service, "bo").await, 0);
}

/// R30: pages are full, and follow each other without a gap, whatever comes or is hidden meanwhile.
#[tokio::test]
async fn pages_continue_where_the_last_one_ended() {
    let (town, service) = told().await;
    let ana = town.caller("ana");
    let first = PageInput { limit: Some(1), after: None };
    let first = service.list(&ana, &first).await.unwrap();
    assert_eq!(lines(&first), ["follow dan 1"]);
    town.pass_ms(1);
    town.follow("cleo", "ana").await;
    town.settle().await;
    town.block("ana", "bo").await;
    let second = PageInput { limit: Some(1), after: first.next };
    let others = service.list(&town.caller("bo"), &second).await;
    assert_eq!(others.unwrap_err().code(), Code::BadRequest, "a cursor is its reader's");
    let second = service.list(&ana, &second).await.unwrap();
    assert_eq!((lines(&second), second.next), (vec!["like cleo 2".into()], None));
}

/// R38, I9: what its reader may not be told of any more is gone at once, from the count, too; where
/// others did the same, one of them is named instead.
#[tokio::test]
async fn what_is_hidden_is_gone_at_once() {
    let (town, service) = told().await;
    let (ana, follows) = (town.caller("ana"), town.follows());
    town.block("cleo", "ana").await;
    assert_eq!(list(&town, &service, "ana").await, ["follow dan 1", "comment bo 1", "like bo 2"]);
    assert_eq!(count(&town, &service, "ana").await, 3);
    town.set_status("dan", UserStatus::Suspended).await;
    assert_eq!(list(&town, &service, "ana").await, ["comment bo 1", "like bo 2"]);
    town.follow("ana", "bo").await;
    follows.update(&ana, &town.id("bo"), Some(true), None, None).await.unwrap();
    assert_eq!(
        (list(&town, &service, "ana").await, count(&town, &service, "ana").await),
        (vec![], 0)
    );
    follows.update(&ana, &town.id("bo"), Some(false), Some(false), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
    follows.update(&ana, &town.id("bo"), None, Some(true), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 2);
    let posts = town.ground().core().posts_by(&town.id("ana")).all().await.unwrap();
    town.posts().delete(&ana, &posts[0].id, None).await.unwrap();
    assert_eq!(
        (list(&town, &service, "ana").await, count(&town, &service, "ana").await),
        (vec![], 0)
    );
}

/// R38: what happened before a time is marked as read, and what comes later is not.
#[tokio::test]
async fn what_was_read_is_not_counted() {
    let (town, service) = told().await;
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

/// R38: whoever likes a post after that makes it news again, once.
#[tokio::test]
async fn somebody_more_is_news() {
    let (town, service) = told().await;
    let ana = town.caller("ana");
    let posts = town.ground().core().posts_by(&town.id("ana")).all().await.unwrap();
    town.like("dan", &posts[0].id).await;
    town.settle().await;
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
    town.pass_ms(1);
    town.move_in("eve", |_| {}).await;
    town.like("eve", &posts[0].id).await;
    town.settle().await;
    assert_eq!(count(&town, &service, "ana").await, 1);
    assert!(list(&town, &service, "ana").await.contains(&"like eve 4".into()));
    town.settle().await;
    service.mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    assert_eq!(count(&town, &service, "ana").await, 0);
}

/// R32: a request that comes again has the effect of one, and answers as it did.
#[tokio::test]
async fn marking_twice_is_marking_once() {
    let (town, service) = told().await;
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

/// R38: however many there are, they are all listed, counted and marked.
#[tokio::test]
async fn many_are_counted_and_marked() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    for number in 0..230 {
        town.pass_ms(1);
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

/// Whoever is suspended or gone is told nothing.
#[tokio::test]
async fn whoever_cannot_use_their_account_is_told_nothing() {
    let (town, service) = told().await;
    town.set_status("ana", UserStatus::Suspended).await;
    let ana = town.caller("ana");
    let refused = service.list(&ana, &PageInput::first()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    assert_eq!(service.unread(&ana).await.unwrap_err().code(), Code::Forbidden);
    let marked = service.mark_read(&ana, town.now(), None).await;
    assert_eq!(marked.unwrap_err().code(), Code::Forbidden);
    assert_eq!(service.live(&ana, None).await.unwrap_err().code(), Code::Forbidden);
}

/// R38: whoever listens is told of each once, in order, and of nothing else.
#[tokio::test]
async fn a_listener_is_told_of_each_once() {
    let (town, service) = told().await;
    let mut live = service.live(&town.caller("ana"), None).await.unwrap();
    let post = town.post("ana", "and now?").await;
    town.like("bo", &post.id).await;
    town.settle().await;
    town.pass_ms(1);
    town.follow("cleo", "ana").await;
    town.follow("cleo", "bo").await;
    town.like("dan", &post.id).await;
    town.settle().await;
    service.catch_up().await.unwrap();
    // The like is told as it is by then.
    for expected in ["like dan 2", "follow cleo 1"] {
        assert_eq!(line(&live.next().await.unwrap()), expected);
    }
    assert!(live.next().now_or_never().is_none(), "nothing else happened");
}

/// R38: whoever comes back is told of what they missed, and of nothing twice; also by a process that
/// was not there when it happened.
#[tokio::test]
async fn a_listener_who_comes_back_is_told_of_what_they_missed() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (first, ana) = (service(&town), town.caller("ana"));
    let mut live = first.live(&ana, None).await.unwrap();
    for follower in ["bo", "cleo", "dan"] {
        town.pass_ms(10);
        town.follow(follower, "ana").await;
    }
    town.settle().await;
    first.catch_up().await.unwrap();
    let seen = live.next().await.unwrap().notification.id;
    drop(live);
    for service in [first, service(&town)] {
        let mut live = service.live(&ana, Some(&seen)).await.unwrap();
        for expected in ["follow cleo 1", "follow dan 1"] {
            assert_eq!(line(&live.next().await.unwrap()), expected);
        }
        assert!(live.next().now_or_never().is_none(), "nothing else happened");
    }
}

/// R38: whoever waits is woken by what happens, and is not told of what is hidden by then.
#[tokio::test]
async fn a_waiting_listener_is_woken() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let service = service(&town);
    let mut live = service.live(&town.caller("ana"), None).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let following = async {
        service.follow(async { drop(stopped.await) }).await;
    };
    let waiting = async {
        let told = live.next().await.unwrap();
        stop.send(()).unwrap();
        told
    };
    let happening = async {
        town.follow("bo", "ana").await;
        town.block("ana", "bo").await;
        town.follow("cleo", "ana").await;
        town.settle().await;
    };
    let ((), told, ()) = tokio::join!(following, waiting, happening);
    assert_eq!(line(&told), "follow cleo 1");
}

/// R38: a notification lies under the time in its id, oldest to newest.
#[tokio::test]
async fn ids_tell_the_time() {
    let (town, _) = told().await;
    let listing = town.ground().core().notifications(&town.id("ana"), Span::ALL);
    let notes = listing.order(Order::Ascending).all().await.unwrap();
    assert!(notes.iter().all(|note| note.id.time() == Some(note.created_at)));
    assert!(notes.is_sorted_by_key(|note| note.id.clone()));
    let like = notes.iter().find(|note| note.kind == NotificationKind::Like).unwrap();
    assert_eq!(like.created_at.ms() % HOUR_MS, 0, "likes add up for an hour");
}
