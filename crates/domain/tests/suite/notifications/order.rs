//! The order of notifications by their latest events (R54).

use roundtable_domain::{Notifications, PageInput};
use roundtable_model::{PostId, Time};
use roundtable_testkit::Town;

use super::{HOUR_MS, count, line, list, service};

/// A town at the start of an hour, with ana's posts.
async fn town_with_posts(count: usize) -> (Town, Notifications, Vec<PostId>) {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let mut posts = Vec::new();
    for number in 0..count {
        posts.push(town.post("ana", &format!("number {number}")).await.id);
    }
    let next_hour = (town.now().ms() / HOUR_MS + 1) * HOUR_MS;
    town.clock().set_ms(next_hour);
    let service = service(&town);
    (town, service, posts)
}

/// The list in pages of this size: each line, and its time.
async fn paged(town: &Town, service: &Notifications, limit: usize) -> Vec<(String, Time)> {
    let (mut lines, mut after) = (Vec::new(), None);
    loop {
        let page = PageInput { limit: Some(limit), after };
        let page = service.list(&town.caller("ana"), &page).await.unwrap();
        lines.extend(page.items.iter().map(|(view, _)| (line(view), view.notification.time())));
        assert!(page.items.len() <= limit);
        after = page.next;
        if after.is_none() {
            return lines;
        }
    }
}

/// R54: a collapsed notification stands at its latest event, and moves up when it grows.
#[tokio::test]
async fn a_collapsed_notification_moves_up_when_it_grows() {
    let (town, service, posts) = town_with_posts(1).await;
    town.like("bo", &posts[0]).await;
    town.comment("bo", &posts[0], "well said").await;
    town.settle().await;
    assert_eq!(list(&town, &service, "ana").await, ["comment bo 1", "like bo 1"]);
    town.advance_ms(HOUR_MS / 4);
    let liked_at = town.now();
    town.like("cleo", &posts[0]).await;
    town.settle().await;
    assert_eq!(list(&town, &service, "ana").await, ["like cleo 2", "comment bo 1"]);
    let newest = service.list(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(newest.items[0].0.notification.time(), liked_at);
    let room = town.room_with("bo", "ana").await;
    for text in ["hello", "are you there?"] {
        let sent = town.send_message("bo", &room, text).await.created_at;
        town.follow(if text == "hello" { "bo" } else { "dan" }, "ana").await;
        town.advance_ms(1);
        town.settle().await;
        let notes = service.list(&town.caller("ana"), &PageInput::first()).await.unwrap();
        let message = notes.into_items().into_iter().find(|view| line(view).starts_with("message"));
        assert_eq!(message.unwrap().notification.time(), sent);
    }
}

/// R54: `markNotificationsRead` never marks what came later, also not in a collapsed notification of an
/// hour that began before.
#[tokio::test]
async fn marking_leaves_what_came_later() {
    let (town, service, posts) = town_with_posts(1).await;
    let ana = town.caller("ana");
    town.like("bo", &posts[0]).await;
    town.settle().await;
    town.advance_ms(HOUR_MS / 4);
    let looked_at = town.now();
    town.advance_ms(1);
    town.like("cleo", &posts[0]).await;
    town.settle().await;
    assert_eq!(service.mark_read(&ana, looked_at, None).await.unwrap(), 0);
    assert_eq!(list(&town, &service, "ana").await, ["like cleo 2"]);
    assert_eq!(count(&town, &service, "ana").await, 1);
    let seen = service.list(&ana, &PageInput::first()).await.unwrap().into_items();
    let seen = seen[0].notification.time();
    assert_eq!(service.mark_read(&ana, seen, None).await.unwrap(), 0, "at that time, not before");
    assert_eq!(service.mark_read(&ana, seen.plus_ms(1), None).await.unwrap(), 1);
    town.settle().await;
    assert_eq!(count(&town, &service, "ana").await, 0);
}

/// R54, R30: pages of any size have the same notifications in the same order, however collapsed and
/// single ones of several hours interleave.
#[tokio::test]
async fn pages_of_any_size_have_the_same_order() {
    let (town, service, posts) = town_with_posts(5).await;
    for hour in 0..3 {
        for (number, post) in posts.iter().enumerate() {
            town.advance_ms(HOUR_MS / 12);
            let name = ["bo", "cleo", "dan"][(hour + number) % 3];
            town.comment(name, post, "well said").await;
            town.like(name, &posts[(hour * 2 + number * 3) % 5]).await;
            town.share(name, &posts[(hour + number * 2) % 5]).await;
        }
        town.advance_ms(HOUR_MS / 3);
    }
    town.settle().await;
    let all = paged(&town, &service, 100).await;
    assert!(all.len() > 30, "{}", all.len());
    assert!(all.is_sorted_by(|one, other| one.1 >= other.1), "{all:?}");
    for limit in 1..=7 {
        assert_eq!(paged(&town, &service, limit).await, all, "pages of {limit}");
    }
}

/// R30, R54: a page continues after its last notification although others move up meanwhile.
#[tokio::test]
async fn a_page_continues_although_others_move_up() {
    let (town, service, posts) = town_with_posts(3).await;
    let ana = town.caller("ana");
    for post in &posts {
        town.advance_ms(1);
        town.like("bo", post).await;
    }
    town.settle().await;
    let first = PageInput { limit: Some(2), after: None };
    let first = service.list(&ana, &first).await.unwrap();
    town.advance_ms(1);
    town.like("cleo", &posts[2]).await;
    town.settle().await;
    let second = PageInput { limit: Some(2), after: first.next };
    let second = service.list(&ana, &second).await.unwrap().into_items();
    let about = |index: usize| second[index].notification.object.as_ref().unwrap().id.clone();
    assert_eq!((second.len(), about(0)), (1, (&posts[0]).into()));
}
