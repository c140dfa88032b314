//! The unread count, and its cost.

use std::sync::Arc;

use roundtable_domain::{CauseObject, LatestActor, Notifications};
use roundtable_model::entities::Like;
use roundtable_model::table::{BatchWrite, Recorder};
use roundtable_model::{Entity, NotificationKind, samples};
use roundtable_testkit::Town;

use super::{HOUR_MS, count, list, service, town_with_notifications};

async fn counter(town: &Town, name: &str) -> Option<u64> {
    use roundtable_model::{Shards, UserCount};
    let id = town.id(name);
    let counts = town.context().core().counts(&id, &[UserCount::Unread], Shards::ONE);
    counts.strong().get().await.unwrap().into_iter().flatten().next().map(|counter| counter.count)
}

/// I1, R38: COUNTER#UNREAD is the number of unread notifications after every kind of change.
#[tokio::test]
async fn the_counter_equals_the_number_of_unread_notifications() {
    let (town, service) = town_with_notifications().await;
    let ana = town.caller("ana");
    assert_eq!((counter(&town, "ana").await, counter(&town, "bo").await), (Some(3), None));
    service.mark_read(&ana, town.now(), None).await.unwrap();
    town.settle().await;
    assert_eq!(counter(&town, "ana").await, Some(1), "the follow is not older than now");
    let posts = town.context().core().posts_by(&town.id("ana")).all().await.unwrap();
    town.advance_ms(1);
    town.like("dan", &posts[0].id).await;
    town.settle().await;
    assert_eq!(counter(&town, "ana").await, Some(2));
    town.follows().unfollow(&town.caller("dan"), &town.id("ana"), None).await.unwrap();
    town.settle().await;
    assert_eq!(counter(&town, "ana").await, Some(1), "there are no followers");
    assert_eq!(count(&town, &service, "ana").await, 1);
    town.block("ana", "dan").await;
    assert_eq!(count(&town, &service, "ana").await, 0, "hidden ones do not count");
    town.accounts().delete_account(&ana, &"ana".parse().unwrap()).await.unwrap();
    town.settle().await;
    assert_eq!(counter(&town, "ana").await, None);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R38: a new notification counts as unread even while the counter lags.
#[tokio::test]
async fn a_new_notification_counts_while_the_counter_lags() {
    use roundtable_model::entities::UserCounter;
    use roundtable_model::{Shard, UserCount};
    let (town, service) = town_with_notifications().await;
    let place = UserCounter::at(&town.id("ana"), &UserCount::Unread, &Shard::ZERO);
    town.context().core().table().delete(place.delete()).await.unwrap();
    assert_eq!(counter(&town, "ana").await, None);
    assert_eq!(count(&town, &service, "ana").await, 3);
}

/// Without unread notifications one page is read, however many there are, even while the counter
/// lags behind a mark; otherwise the newest are read as far as there are unread ones.
#[tokio::test]
async fn counting_reads_only_what_is_unread() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "hello").await;
    for number in 0..450 {
        town.advance_ms(1);
        town.comment("bo", &post.id, &format!("and {number}")).await;
    }
    town.settle().await;
    let ana = town.caller("ana");
    town.advance_ms(1);
    service(&town).mark_read(&ana, town.now().plus_ms(1), None).await.unwrap();
    let recorder = Arc::new(Recorder::default());
    let counting = Notifications::new(town.context().observed(recorder.clone()));
    let read = async || {
        recorder.take();
        let count = counting.unread(&ana).await.unwrap();
        let of_notes = recorder.take().into_iter();
        let of_notes = of_notes.filter(|one| one.pattern == Some("notifications"));
        (count, of_notes.map(|one| one.items).sum::<usize>())
    };
    assert_eq!(counter(&town, "ana").await, Some(450));
    let (count, items) = read().await;
    assert_eq!(count, 0);
    assert!(items <= 201, "{items} of 450 were read before the counter knew");
    town.settle().await;
    let (count, items) = read().await;
    assert_eq!(count, 0);
    assert!(items <= 201, "{items} of 450 were read");
    town.advance_ms(1);
    town.follow("cleo", "ana").await;
    town.settle().await;
    let (count, items) = read().await;
    assert_eq!(count, 1);
    assert!(items <= 201, "{items} of 451 were read");
}

/// R38: the latest of very many actors is not searched among all; the notification stays and names
/// no actor.
#[tokio::test]
async fn the_latest_of_very_many_actors_is_not_searched() {
    let town = Town::of(["ana", "bo", "zoe"]).await;
    let (post, ana) = (town.post("ana", "hello").await, town.id("ana"));
    let about = CauseObject::Post(post.id.clone());
    let like = |number: u32| Like {
        post_id: post.id.clone(),
        user_id: format!("fan{number:05}").parse().unwrap(),
        post_user_id: ana.clone(),
        created_at: town.now(),
        ..samples::like()
    };
    let likes: Vec<Like> = (0..2_300).map(like).collect();
    for some in likes.chunks(25) {
        let puts = some.iter().map(|like| BatchWrite::Put(like.item())).collect();
        town.context().core().table().batch_write(puts).await.unwrap();
    }
    town.settle().await;
    town.advance_ms(HOUR_MS);
    for name in ["zoe", "bo"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
    }
    town.settle().await;
    let service = service(&town);
    assert_eq!(list(&town, &service, "ana").await, ["like bo 2302"]);
    let latest =
        service.latest_actor(&ana, NotificationKind::Like, &about, town.now()).await.unwrap();
    assert!(matches!(latest, LatestActor::Named(name, _) if name == town.id("bo")), "who is found");
    town.block("ana", "bo").await;
    let latest =
        service.latest_actor(&ana, NotificationKind::Like, &about, town.now()).await.unwrap();
    assert_eq!(latest, LatestActor::Unknown, "zoe is behind two thousand others");
    assert_eq!(list(&town, &service, "ana").await, ["like - 2302"]);
    town.likes().unlike(&town.caller("zoe"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(list(&town, &service, "ana").await, ["like - 2301"]);
}
