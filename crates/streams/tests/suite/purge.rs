//! What is left of deleted posts, accounts and groups: nothing, however much it was, whatever happens
//! on the way (I1).

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_model::entities::{Follow, GroupCounter, GroupMember, Post, UserCounter};
use roundtable_model::table::Item;
use roundtable_model::{FollowStatus, MemberStatus, UserCount};
use roundtable_streams::Setup;
use roundtable_testkit::stop_at;

use crate::cast::Cast;
use crate::facts::{all, assert_counted, everything};
use crate::stage::{Stage, retries, runner};

/// Longer than a dead worker keeps its job.
const LONG_MS: u64 = 61_000;

/// What still speaks of somebody or something.
fn traces<'a>(items: &'a [Item], of: &str) -> Vec<&'a Item> {
    items.iter().filter(|item| format!("{item:?}").contains(of)).collect()
}

/// I1: followers, followed, posts and members are as many as counters say.
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
            UserCount::Xp | UserCount::Unread => continue,
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
async fn nothing_is_left_of_a_deleted_post() {
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    let post = cast.busy_post("quentin").await;
    let other = cast.busy_post("bo").await;
    stage.runner().drain().await.unwrap();
    assert_counted(&stage.ground).await;
    cast.delete_post("quentin", &post).await;
    stage.runner().drain().await.unwrap();
    let items = everything(&stage.ground).await;
    assert!(
        traces(&items, &post.to_string()).is_empty(),
        "{:?}",
        traces(&items, &post.to_string())
    );
    assert!(traces(&items, &other.to_string()).len() > 10, "others stay as they are");
    assert_counted(&stage.ground).await;
    assert_people_counted(&items);
}

#[tokio::test]
async fn nothing_is_left_of_a_deleted_account() {
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    cast.full_life("quentin").await;
    stage.runner().drain().await.unwrap();
    let before = everything(&stage.ground).await;
    assert!(traces(&before, "quentin").len() > 40, "{}", traces(&before, "quentin").len());
    cast.delete_account("quentin").await;
    stage.runner().drain().await.unwrap();
    let after = everything(&stage.ground).await;
    assert!(traces(&after, "quentin").is_empty(), "{:#?}", traces(&after, "quentin"));
    assert_counted(&stage.ground).await;
    assert_people_counted(&after);
    // What was others' is still there: their comments, and the group that was handed over.
    assert_eq!(traces(&after, "I beg to differ").len(), 1);
    assert_eq!(cast.owner_of("runners").await.as_deref(), Some("cleo"));
    assert_eq!(cast.owner_of("hermits").await, None);
    assert!(stage.runner().dead_letters().count().await.unwrap() == 0);
}

#[tokio::test]
async fn nothing_is_left_of_a_deleted_group() {
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    let group = cast.busy_group("bo", "bakers").await;
    cast.busy_post("quentin").await;
    stage.runner().drain().await.unwrap();
    cast.delete_group("bo", &group).await;
    stage.runner().drain().await.unwrap();
    let items = everything(&stage.ground).await;
    assert!(
        traces(&items, &group.to_string()).is_empty(),
        "{:#?}",
        traces(&items, &group.to_string())
    );
    assert_counted(&stage.ground).await;
    assert_people_counted(&items);
}

/// A purge waits before it looks a second time, so that requests under way have ended.
#[tokio::test]
async fn the_profile_goes_after_a_second_look() {
    // Longer than any request may take.
    let settle_ms = 2 * u64::try_from(MUTATION_TIME_MAX.as_millis()).unwrap();
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    cast.delete_account("quentin").await;
    let patient = Setup::everything(&stage.ground, [0; 32]).retrying(retries()).build();
    patient.drain().await.unwrap();
    assert_eq!(traces(&everything(&stage.ground).await, "PROFILE#quentin").len(), 1);
    // A request that was under way.
    cast.like_late("quentin").await;
    stage.clock.advance_ms(settle_ms);
    patient.drain().await.unwrap();
    assert_eq!(traces(&everything(&stage.ground).await, "PROFILE#quentin").len(), 1);
    stage.clock.advance_ms(settle_ms);
    patient.drain().await.unwrap();
    assert!(traces(&everything(&stage.ground).await, "quentin").is_empty());
    assert_counted(&stage.ground).await;
}

/// Every await point of the purge of a post.
#[tokio::test]
async fn stopped_anywhere_a_purge_goes_on() {
    let mut stops = 0;
    loop {
        let stage = Stage::reference().await;
        let cast = Cast::new(&stage).await;
        let post = cast.liked_post("quentin").await;
        stage.runner().drain().await.unwrap();
        cast.delete_post("quentin", &post).await;
        let slow = runner(&stage.slow().await);
        let done = stop_at(stops, slow.drain()).await;
        stage.clock.advance_ms(LONG_MS);
        stage.runner().drain().await.unwrap();
        let items = everything(&stage.ground).await;
        let left = traces(&items, &post.to_string());
        assert!(left.is_empty(), "stopped after {stops}: {left:?}");
        assert_counted(&stage.ground).await;
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 50, "{stops} await points are too few to be all");
}

/// The purge of a whole life, stopped again and again, by two workers at once.
#[tokio::test]
async fn stopped_again_and_again_the_purge_of_an_account_comes_to_an_end() {
    for seed in 0..3 {
        for stage in [Stage::reference().await, Stage::split().await.0, Stage::engine().await] {
            let mut random = SmallRng::seed_from_u64(seed);
            let cast = Cast::new(&stage).await;
            cast.full_life("quentin").await;
            cast.delete_account("quentin").await;
            for _ in 0..25 {
                let (one, other) = (runner(&stage.slow().await), runner(&stage.slow().await));
                let both = async { tokio::join!(one.drain(), other.drain()) };
                let _ = stop_at(random.random_range(0..400), both).await;
                stage.clock.advance_ms(LONG_MS);
            }
            stage.runner().drain().await.unwrap();
            let items = everything(&stage.ground).await;
            let left = traces(&items, "quentin");
            assert!(left.is_empty(), "{left:#?}");
            assert_counted(&stage.ground).await;
            assert_people_counted(&items);
            assert_eq!(stage.runner().dead_letters().count().await.unwrap(), 0);
        }
    }
}

/// On DynamoDB's API, where indexes may be behind: the purge looks again until nothing is found.
#[tokio::test]
async fn nothing_is_left_of_an_account_on_dynamodb() {
    let stage = Stage::dynoxide().await;
    let cast = Cast::new(&stage).await;
    cast.full_life("quentin").await;
    cast.delete_account("quentin").await;
    stage.clock.advance_ms(LONG_MS);
    stage.runner().drain().await.unwrap();
    let items = everything(&stage.ground).await;
    assert!(traces(&items, "quentin").is_empty(), "{:#?}", traces(&items, "quentin"));
    assert_counted(&stage.ground).await;
    assert_people_counted(&items);
}

/// However much it is: hundreds of followers, likes and comments, in many pages.
#[tokio::test]
async fn a_busy_account_is_purged_page_by_page() {
    let stage = Stage::engine().await;
    let cast = Cast::new(&stage).await;
    let post = cast.liked_post("quentin").await;
    for number in 0..300 {
        let fan = format!("fan{number}");
        cast.move_in(&fan).await;
        cast.follow(&fan, "quentin").await;
        cast.like(&fan, &post).await;
        cast.comment(&fan, &post, None, "Me, too").await;
    }
    cast.delete_account("quentin").await;
    let runner = stage.runner();
    runner.drain().await.unwrap();
    let items = everything(&stage.ground).await;
    assert!(traces(&items, "quentin").is_empty());
    assert_people_counted(&items);
    let queues = runner.figures().queues;
    let purge = queues.iter().find(|queue| queue.queue == "purge").unwrap();
    assert!(purge.pages > 20, "{purge:?}");
}
