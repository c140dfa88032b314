//! Activities of promoted sources in their readers' feeds (R13, R35): complete up to the watermark
//! despite failures.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::FeedPolicy;
use roundtable_model::entities::{Activity, Checkpoint, Promotion, User};
use roundtable_model::table::{ManualClock, SharedBackend};
use roundtable_model::{Entity, Role, Shards, UserStatus};
use roundtable_streams::FanOut;
use roundtable_testkit::SplitStreamBackend;

use crate::facts::{all, bookkeeping, everything};
use crate::feed_fixture::{FeedFixture, actor, count, push, queue_metrics};
use crate::refusing_backend::RefusedWrite;
use crate::running::start;
use crate::test_store::BEGIN_MS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// R13, R35: on an embedded store, and on one where every batch is a request.
#[tokio::test]
async fn activities_of_promoted_users_are_copied_to_their_followers_until_they_expire() {
    for split in [false, true] {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let reference: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let backend = if split { Arc::new(SplitStreamBackend::new(reference)) } else { reference };
        let names = ["ana", "bo", "cleo", "dan", "ada"];
        let fixture = FeedFixture::on(backend, clock, |_| {}, names).await;
        fixture.town.grant_role("ada", Role::Admin).await;
        fixture.town.follow("bo", "ana").await;
        fixture.town.follow("cleo", "ana").await;
        fixture.town.follow("ana", "dan").await;
        fixture.town.post("ana", "before").await;
        fixture.promote(&actor("ana"), true).await;
        let post = fixture.town.post("ana", "hello").await;
        fixture.town.post("dan", "not promoted").await;
        fixture.settle().await;
        for follower in ["bo", "cleo"] {
            let rows = fixture.town.rows(&format!("FEED#{follower}"), "").await;
            let ttl = (BEGIN_MS + 1_000 + 45 * DAY_MS) / 1_000;
            let id = &post.id;
            let said = format!(
                "actorId=ana verb=post objectType=Post objectId={id} previewText=hello ttl={ttl}"
            );
            assert_eq!(rows.len(), 1);
            assert!(rows[0].ends_with(&said), "{rows:?}");
        }
        assert!(fixture.feed("ana").await.is_empty() && fixture.feed("dan").await.is_empty());
        assert_eq!(fixture.watermark(&actor("ana")).await, Some((1, 1)));
        assert_eq!(fixture.watermark(&actor("dan")).await, None);
        assert!(bookkeeping(fixture.town.context(), "JOB#fan-out").await.is_empty());
    }
}

/// R35: activities in a group are copied to its members only.
#[tokio::test]
async fn group_activities_are_copied_to_members_only() {
    let names = ["ana", "bo", "cleo", "dan"];
    for fixture in [FeedFixture::copying_all(names).await, FeedFixture::dynoxide(push, names).await]
    {
        let group = fixture.town.create_private_group("ana", "readers").await;
        for name in ["bo", "cleo"] {
            fixture.town.join(name, &group).await;
        }
        let (ana, bo) = (fixture.town.caller("ana"), fixture.town.id("bo"));
        fixture.town.groups().approve(&ana, &group, &bo, None).await.unwrap();
        fixture.town.follow("dan", "ana").await;
        fixture.town.post_into("ana", &group, "hello").await;
        // Small pages: cleo, who is in between, is skipped.
        fixture.small_steps(1).drain().await.unwrap();
        assert_eq!((fixture.feed("ana").await, fixture.feed("bo").await), (vec![0], vec![0]));
        assert!(fixture.feed("cleo").await.is_empty() && fixture.feed("dan").await.is_empty());
        assert_eq!(fixture.watermark(&(&group).into()).await, Some((0, 0)));
    }
}

/// If the policy copies all activities, no source needs a promotion; the rule may still promote.
#[tokio::test]
async fn the_policy_alone_leaves_a_watermark_and_no_promotion() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.post("ana", "hello").await;
    fixture.settle().await;
    assert_eq!(
        fixture.town.rows("PROMO#ana", "").await,
        ["PROMO#ana userId=ana fanoutEnabled=false reason=followers"]
    );
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 0)));
}

/// I4
#[tokio::test]
async fn an_activity_delivered_again_changes_nothing() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    for text in ["one", "two"] {
        fixture.town.post("ana", text).await;
    }
    fixture.settle().await;
    let before = everything(fixture.town.context()).await;
    let ops = fixture.town.context().ops();
    for checkpoint in ops.checkpoints(&FanOut::NAME).all().await.unwrap() {
        let gone: Checkpoint = checkpoint;
        ops.table().delete(gone.key().delete()).await.unwrap();
    }
    fixture.town.advance_ms(5_000);
    let again = fixture.runner();
    again.drain().await.unwrap();
    assert!(queue_metrics(&again).finished > 0, "it was enqueued again");
    assert_eq!(count(&queue_metrics(&again), "feed items written"), 0);
    assert_eq!(everything(fixture.town.context()).await, before);
}

/// R35: a failing job is parked, blocks no other, and is completed later.
#[tokio::test]
async fn a_failing_write_parks_the_job_and_the_watermark_stays() {
    let fixture = FeedFixture::copying_all(["ana", "bo", "cleo", "dan"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.follow("cleo", "ana").await;
    fixture.town.follow("bo", "dan").await;
    fixture.town.post("ana", "zero").await;
    fixture.settle().await;
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 0)));

    fixture.store.refuse(RefusedWrite::Puts, "FEED#cleo");
    fixture.town.post("ana", "one").await;
    fixture.town.post("dan", "two").await;
    let runner = fixture.runner();
    runner.drain().await.unwrap();
    assert_eq!(
        (queue_metrics(&runner).parked, count(&queue_metrics(&runner), "homes behind")),
        (1, 1)
    );
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 0)));
    assert_eq!(
        (fixture.watermark(&actor("dan")).await, fixture.feed("cleo").await),
        (Some((2, 2)), vec![0])
    );

    // Later activities are incomplete, too.
    fixture.town.post("ana", "three").await;
    runner.drain().await.unwrap();
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 0)));
    assert_eq!(runner.dead_letters().count().await.unwrap(), 2);

    fixture.store.heal();
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 3)));
    assert_eq!(fixture.feed("cleo").await, [0, 1, 3]);
    assert_eq!(fixture.feed("bo").await, [0, 1, 2, 3]);
    assert_eq!(runner.dead_letters().count().await.unwrap(), 0);
    assert_eq!(count(&queue_metrics(&runner), "homes behind"), 0);
}

/// A failed job resumes at its cursor, also if others have run meanwhile.
#[tokio::test]
async fn a_parked_job_resumes_at_its_cursor() {
    let fixture = FeedFixture::copying_all(["ana", "b", "c", "d", "e"]).await;
    for fan in ["b", "c", "d", "e"] {
        fixture.town.follow(fan, "ana").await;
    }
    fixture.town.post("ana", "zero").await;
    fixture.store.refuse(RefusedWrite::Puts, "FEED#d");
    let runner = fixture.small_steps(1);
    runner.drain().await.unwrap();
    assert_eq!((fixture.feed("c").await, fixture.feed("d").await), (vec![0], vec![]));
    fixture.store.heal();
    // Another activity completes both before the parked job is redriven.
    fixture.town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 1)));
    let written = count(&queue_metrics(&runner), "feed items written");
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 1)));
    assert_eq!(
        count(&queue_metrics(&runner), "feed items written"),
        written,
        "there was nothing left"
    );
    for fan in ["b", "c", "d", "e"] {
        assert_eq!(fixture.feed(fan).await, [0, 1]);
    }
}

/// Pending activities are copied together, ten in one pass over the followers.
#[tokio::test]
async fn pending_activities_are_copied_together() {
    for copies in [1, 7, 1_000] {
        let fixture = FeedFixture::copying_all(["ana", "bo", "cleo", "dan"]).await;
        for fan in ["bo", "cleo", "dan"] {
            fixture.town.follow(fan, "ana").await;
        }
        for number in 0..23 {
            fixture.town.post("ana", &format!("post {number}")).await;
        }
        let runner = fixture.small_steps(copies);
        runner.drain().await.unwrap();
        let expected: Vec<u64> = (0..23).collect();
        for fan in ["bo", "cleo", "dan"] {
            assert_eq!(fixture.feed(fan).await, expected, "{copies} copies a page");
        }
        assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 22)));
        let queue_metrics = queue_metrics(&runner);
        assert_eq!(
            (queue_metrics.parked, count(&queue_metrics, "feed items written")),
            (0, 23 * 3)
        );
    }
}

#[tokio::test]
async fn a_burst_of_activities_enqueues_one_job() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    let posts = fixture.town.posts();
    for text in ["one", "two", "three"] {
        let post = roundtable_domain::NewPost::text(text);
        posts.create(&fixture.town.caller("ana"), &post, None).await.unwrap();
    }
    let runner = fixture.runner();
    runner.drain().await.unwrap();
    assert_eq!((queue_metrics(&runner).finished, fixture.feed("bo").await.len()), (1, 3));
}

/// R36: activities from the time of a promotion are completed after the demotion.
#[tokio::test]
async fn activities_before_a_demotion_are_completed() {
    let fixture = FeedFixture::with(|_| {}, ["ana", "bo", "ada"]).await;
    fixture.town.grant_role("ada", Role::Admin).await;
    fixture.town.follow("bo", "ana").await;
    fixture.promote(&actor("ana"), true).await;
    fixture.town.post("ana", "zero").await;
    fixture.town.post("ana", "one").await;
    fixture.promote(&actor("ana"), false).await;
    fixture.town.post("ana", "two").await;
    fixture.settle().await;
    assert_eq!(fixture.feed("bo").await, [0, 1]);
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 1)));
    fixture.promote(&actor("ana"), true).await;
    fixture.town.post("ana", "three").await;
    fixture.settle().await;
    assert_eq!(fixture.feed("bo").await, [0, 1, 3]);
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((3, 3)));
}

/// Pending intervals are completed one after another while the policy is switched.
#[tokio::test]
async fn intervals_are_completed_in_their_order() {
    let fixture = FeedFixture::copying_all(["ana", "bo", "cleo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.follow("cleo", "ana").await;
    let context = fixture.town.context();
    for (policy, text) in [
        (FeedPolicy::Push, "zero"),
        (FeedPolicy::Pull, "one"),
        (FeedPolicy::Push, "two"),
        (FeedPolicy::Push, "three"),
        (FeedPolicy::Documents, "four"),
        (FeedPolicy::Push, "five"),
    ] {
        context.set_feed_policy(policy);
        fixture.town.post("ana", text).await;
    }
    fixture.small_steps(1).drain().await.unwrap();
    for fan in ["bo", "cleo"] {
        assert_eq!(fixture.feed(fan).await, [0, 2, 3, 5]);
    }
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((5, 5)));
}

/// R39: followers in every shard, from before and after the shards were added.
#[tokio::test]
async fn followers_in_all_shards_are_reached() {
    let fans = ["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"];
    for fixture in [FeedFixture::copying_all(fans).await, FeedFixture::dynoxide(push, fans).await] {
        fixture.town.add_user("star", |_| {}).await;
        for fan in &fans[..3] {
            fixture.town.follow(fan, "star").await;
        }
        let shards = Shards::new(5).unwrap();
        fixture.town.grow_follower_shards("star", shards).await;
        for fan in &fans[3..] {
            fixture.town.follow(fan, "star").await;
        }
        for (copies, text) in [(1, "zero"), (3, "one"), (1_000, "two")] {
            fixture.town.post("star", text).await;
            fixture.small_steps(copies).drain().await.unwrap();
        }
        for fan in fans {
            assert_eq!(fixture.feed(fan).await, [0, 1, 2], "{fan}");
        }
        assert_eq!(fixture.watermark(&actor("star")).await, Some((0, 2)));
    }
}

/// Expired copies are not written, and the watermark advances.
#[tokio::test]
async fn expired_activities_are_not_copied() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.post("ana", "zero").await;
    fixture.town.advance_ms(46 * DAY_MS);
    fixture.town.post("ana", "late").await;
    fixture.settle().await;
    let late = 1 + 46 * DAY_MS / 1_000;
    assert_eq!(fixture.feed("bo").await, [late]);
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, late)));
}

#[tokio::test]
async fn a_purged_account_gets_no_watermark() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    fixture.town.post("ana", "zero").await;
    let accounts = fixture.town.accounts();
    accounts.delete_account(&fixture.town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    fixture.settle().await;
    let items = everything(fixture.town.context()).await;
    assert!(all::<Promotion>(&items).is_empty() && all::<Activity>(&items).is_empty());
    assert!(!all::<User>(&items).iter().any(|user| user.status == UserStatus::Deleted));
}

#[tokio::test]
async fn two_workers_on_the_same_jobs_write_the_same_copies() {
    let fixture = FeedFixture::copying_all(["ana", "b", "c", "d", "e"]).await;
    for fan in ["b", "c", "d", "e"] {
        fixture.town.follow(fan, "ana").await;
    }
    for number in 0..12 {
        fixture.town.post("ana", &format!("post {number}")).await;
    }
    let (one, other) = (fixture.small_steps(2), fixture.small_steps(3));
    let (first, second) = tokio::join!(one.drain(), other.drain());
    first.unwrap();
    second.unwrap();
    let expected: Vec<u64> = (0..12).collect();
    for fan in ["b", "c", "d", "e"] {
        assert_eq!(fixture.feed(fan).await, expected);
    }
    assert_eq!(fixture.watermark(&actor("ana")).await, Some((0, 11)));
}

/// An idle worker starts a job of its own process at once.
#[tokio::test(start_paused = true)]
async fn an_idle_worker_starts_a_local_job_at_once() {
    let fixture = FeedFixture::copying_all(["ana", "bo"]).await;
    fixture.town.follow("bo", "ana").await;
    let runner = fixture.runner();
    let (stop, running) = start(&runner);
    let wait = std::time::Duration::from_millis(1);
    for number in 0..3 {
        // Until every worker is idle, each at another phase of its poll.
        tokio::time::sleep(wait * 10_300).await;
        fixture.town.post("ana", "hello").await;
        let enqueued = tokio::time::Instant::now();
        while fixture.watermark(&actor("ana")).await != Some((0, number)) {
            tokio::time::sleep(wait).await;
        }
        assert!(enqueued.elapsed() < wait * 100, "it took {:?}", enqueued.elapsed());
    }
    drop(stop);
    running.await.unwrap();
}
