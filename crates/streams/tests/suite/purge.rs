//! Deleted posts, accounts and groups are removed completely, however large, despite failures (I1).

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_model::entities::{Follow, GroupCounter, GroupMember, Job, Post, User, UserCounter};
use roundtable_model::shape::EntityShape;
use roundtable_model::table::{Item, Put};
use roundtable_model::{Core, Entity, FollowStatus, MemberStatus, UserCount, UserStatus, samples};
use roundtable_streams::RunnerBuilder;
use roundtable_testkit::stop_at;

use crate::cast::Cast;
use crate::facts::{all, assert_counted, everything};
use crate::test_store::{TestStore, retries, runner};

/// Longer than the claim of a dead worker.
const LONG_MS: u64 = 61_000;

/// All items that mention a text.
fn traces<'a>(items: &'a [Item], of: &str) -> Vec<&'a Item> {
    items.iter().filter(|item| format!("{item:?}").contains(of)).collect()
}

/// I1: counters of followers, followees, posts and members match the items.
fn assert_people_counted(items: &[Item]) {
    let follows: Vec<Follow> = all(items);
    let active = |follow: &&Follow| follow.status == FollowStatus::Active;
    let posts: Vec<Post> = all(items);
    for counter in all::<UserCounter>(items) {
        let user = &counter.user_id;
        let count = match counter.counter {
            UserCount::Followers => {
                follows.iter().filter(active).filter(|edge| edge.followee_id == *user).count()
            }
            UserCount::Following => {
                follows.iter().filter(active).filter(|edge| edge.follower_id == *user).count()
            }
            UserCount::Posts => {
                posts.iter().filter(|post| post.author_id == *user && !post.is_deleted).count()
            }
            UserCount::Xp
            | UserCount::Unread
            | UserCount::MediaBytes
            | UserCount::PendingUploads => continue,
        };
        assert_eq!(counter.count, count as u64, "{} of {user}", counter.counter);
    }
    let members: Vec<GroupMember> = all(items);
    for counter in all::<GroupCounter>(items) {
        let of_group = members.iter().filter(|member| member.group_id == counter.group_id);
        let count = of_group.filter(|member| member.status == MemberStatus::Active).count();
        assert_eq!(counter.count, count as u64, "members of {}", counter.group_id);
    }
}

#[tokio::test]
async fn a_deleted_post_leaves_nothing_behind() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    let post = cast.busy_post("quentin").await;
    let other = cast.busy_post("bo").await;
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
    cast.delete_post("quentin", &post).await;
    store.runner().drain().await.unwrap();
    let items = everything(&store.context).await;
    assert!(
        traces(&items, &post.to_string()).is_empty(),
        "{:?}",
        traces(&items, &post.to_string())
    );
    assert!(traces(&items, &other.to_string()).len() > 10, "other posts stay");
    assert_counted(&store.context).await;
    assert_people_counted(&items);
}

#[tokio::test]
async fn a_deleted_account_leaves_nothing_behind() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    cast.full_life("quentin").await;
    store.runner().drain().await.unwrap();
    let before = everything(&store.context).await;
    assert!(traces(&before, "quentin").len() > 40, "{}", traces(&before, "quentin").len());
    cast.delete_account("quentin").await;
    store.runner().drain().await.unwrap();
    let after = everything(&store.context).await;
    assert!(traces(&after, "quentin").is_empty(), "{:#?}", traces(&after, "quentin"));
    assert_counted(&store.context).await;
    assert_people_counted(&after);
    // Other users' content is still there: their comments, and the group that was handed over.
    assert_eq!(traces(&after, "I beg to differ").len(), 1);
    assert_eq!(cast.owner_of("runners").await.as_deref(), Some("cleo"));
    assert_eq!(cast.owner_of("hermits").await, None);
    assert!(store.runner().dead_letters().count().await.unwrap() == 0);
}

#[tokio::test]
async fn a_deleted_group_leaves_nothing_behind() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    let group = cast.busy_group("bo", "bakers").await;
    cast.busy_post("quentin").await;
    store.runner().drain().await.unwrap();
    cast.delete_group("bo", &group).await;
    store.runner().drain().await.unwrap();
    let items = everything(&store.context).await;
    assert!(
        traces(&items, &group.to_string()).is_empty(),
        "{:#?}",
        traces(&items, &group.to_string())
    );
    assert_counted(&store.context).await;
    assert_people_counted(&items);
}

/// A purge waits before its second pass, so that running requests have ended.
#[tokio::test]
async fn the_profile_is_removed_after_a_second_pass() {
    // Longer than any request may take.
    let settle_ms = 2 * u64::try_from(MUTATION_TIME_MAX.as_millis()).unwrap();
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    cast.delete_account("quentin").await;
    let patient =
        RunnerBuilder::with_all_processors(&store.context, [0; 32]).with_retries(retries()).build();
    patient.drain().await.unwrap();
    assert_eq!(traces(&everything(&store.context).await, "PROFILE#quentin").len(), 1);
    // A request that was running.
    cast.like_late("quentin").await;
    store.clock.advance_ms(settle_ms);
    patient.drain().await.unwrap();
    assert_eq!(traces(&everything(&store.context).await, "PROFILE#quentin").len(), 1);
    store.clock.advance_ms(settle_ms);
    patient.drain().await.unwrap();
    assert!(traces(&everything(&store.context).await, "quentin").is_empty());
    assert_counted(&store.context).await;
}

#[tokio::test]
async fn a_purge_stopped_at_any_await_point_resumes() {
    let mut stops = 0;
    loop {
        let store = TestStore::reference().await;
        let cast = Cast::new(&store).await;
        let post = cast.liked_post("quentin").await;
        store.runner().drain().await.unwrap();
        cast.delete_post("quentin", &post).await;
        let slow = runner(&store.slow().await);
        let done = stop_at(stops, slow.drain()).await;
        store.clock.advance_ms(LONG_MS);
        store.runner().drain().await.unwrap();
        let items = everything(&store.context).await;
        let left = traces(&items, &post.to_string());
        assert!(left.is_empty(), "stopped after {stops}: {left:?}");
        assert_counted(&store.context).await;
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 50, "{stops} await points are too few to be all");
}

/// The purge of a full account, stopped repeatedly, by two workers at once.
#[tokio::test]
async fn a_repeatedly_stopped_account_purge_completes() {
    for seed in 0..3 {
        for store in
            [TestStore::reference().await, TestStore::split().await.0, TestStore::engine().await]
        {
            let mut random = SmallRng::seed_from_u64(seed);
            let cast = Cast::new(&store).await;
            cast.full_life("quentin").await;
            cast.delete_account("quentin").await;
            for _ in 0..25 {
                let (one, other) = (runner(&store.slow().await), runner(&store.slow().await));
                let both = async { tokio::join!(one.drain(), other.drain()) };
                let _ = stop_at(random.random_range(0..400), both).await;
                store.clock.advance_ms(LONG_MS);
            }
            store.runner().drain().await.unwrap();
            let items = everything(&store.context).await;
            let left = traces(&items, "quentin");
            assert!(left.is_empty(), "{left:#?}");
            assert_counted(&store.context).await;
            assert_people_counted(&items);
            assert_eq!(store.runner().dead_letters().count().await.unwrap(), 0);
        }
    }
}

/// On DynamoDB's API, where indexes may lag: the purge repeats until it finds nothing.
#[tokio::test]
async fn a_deleted_account_leaves_nothing_behind_on_dynamodb() {
    let store = TestStore::dynoxide().await;
    let cast = Cast::new(&store).await;
    cast.full_life("quentin").await;
    cast.delete_account("quentin").await;
    store.clock.advance_ms(LONG_MS);
    store.runner().drain().await.unwrap();
    let items = everything(&store.context).await;
    assert!(traces(&items, "quentin").is_empty(), "{:#?}", traces(&items, "quentin"));
    assert_counted(&store.context).await;
    assert_people_counted(&items);
}

/// Hundreds of followers, likes and comments, in many pages.
#[tokio::test]
async fn a_busy_account_is_purged_page_by_page() {
    let store = TestStore::engine().await;
    let cast = Cast::new(&store).await;
    let post = cast.liked_post("quentin").await;
    for number in 0..300 {
        let fan = format!("fan{number}");
        cast.add_user(&fan).await;
        cast.follow(&fan, "quentin").await;
        cast.like(&fan, &post).await;
        cast.comment(&fan, &post, None, "Me, too").await;
    }
    cast.delete_account("quentin").await;
    let runner = store.runner();
    runner.drain().await.unwrap();
    let items = everything(&store.context).await;
    assert!(traces(&items, "quentin").is_empty());
    assert_people_counted(&items);
    let queues = runner.metrics().queues;
    let purge = queues.iter().find(|queue| queue.queue == "purge").unwrap();
    assert!(purge.pages > 20, "{purge:?}");
}

/// A job of an earlier version may have a cursor of a kind that no longer exists.
#[tokio::test]
async fn a_purge_with_a_cursor_of_an_earlier_version_starts_over() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    cast.full_life("quentin").await;
    store.runner().drain().await.unwrap();
    cast.delete_account("quentin").await;
    let payload = r#"{"account":"quentin"}"#.parse().unwrap();
    let cursor = Some(r#"{"kind":"likes","pass":"again","found":false}"#.into());
    let job = Job { queue: "purge".parse().unwrap(), payload, cursor, ..samples::job() };
    store.context.ops().table().put(job.put()).await.unwrap();
    store.runner().drain().await.unwrap();
    let left = everything(&store.context).await;
    assert!(traces(&left, "quentin").is_empty(), "{:#?}", traces(&left, "quentin"));
    assert_eq!(store.runner().dead_letters().count().await.unwrap(), 0);
}

/// Every entity that the schema gives an owner is removed with it, also one that was added to the
/// schema later: its sample is among the items.
#[tokio::test]
async fn everything_that_belongs_to_a_deleted_owner_is_removed() {
    let store = TestStore::reference().await;
    let core = store.context.core().table();
    let of_core = |shape: &EntityShape| Core::SHAPE.entity(shape.name).is_some();
    let samples = samples::typical().into_iter().filter(|(shape, _)| of_core(shape));
    let mut owned = 0;
    for (shape, item) in samples {
        owned += usize::from(!shape.owners.is_empty());
        core.put(Put::new(item)).await.unwrap();
    }
    assert!(owned > 30, "{owned}");
    core.delete(samples::group().key().delete()).await.unwrap();
    let follow = samples::follow();
    let users = [follow.follower_id, follow.followee_id, samples::like().user_id];
    for id in users {
        let user = User { id, status: UserStatus::Active, ..samples::user() };
        core.put(user.put()).await.unwrap();
        core.put(User { status: UserStatus::Deleted, ..user }.put()).await.unwrap();
    }
    store.runner().drain().await.unwrap();
    let left = everything(&store.context).await;
    let left = left.iter().filter_map(|item| Core::SHAPE.entity(item.text("type")?));
    let left: Vec<&str> = left.filter(|it| !it.owners.is_empty()).map(|it| it.name).collect();
    assert!(left.is_empty(), "their owners are gone: {left:?}");
}
