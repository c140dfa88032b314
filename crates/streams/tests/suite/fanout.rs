//! What the promoted do, in the feeds of their readers (R13, R35): complete up to the watermark, whatever
//! fails.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::FeedPolicy;
use roundtable_model::entities::{Activity, Checkpoint, Promotion, User};
use roundtable_model::table::{ManualClock, SharedBackend};
use roundtable_model::{Entity, Role, Shards, UserStatus};
use roundtable_streams::FanOut;
use roundtable_testkit::Split;

use crate::facts::{all, bookkeeping, everything};
use crate::refusing::Refused;
use crate::running::start;
use crate::scene::{Scene, actor, count, figures, push};
use crate::stage::BEGIN_MS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// R13, R35: in the store of this process, and where every batch is a request of its own.
#[tokio::test]
async fn what_the_promoted_do_is_copied_to_their_followers_for_a_time() {
    for split in [false, true] {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let reference: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let backend = if split { Arc::new(Split::new(reference)) } else { reference };
        let names = ["ana", "bo", "cleo", "dan", "ada"];
        let scene = Scene::on(backend, clock, |_| {}, names).await;
        scene.town.employ("ada", Role::Admin).await;
        scene.town.follow("bo", "ana").await;
        scene.town.follow("cleo", "ana").await;
        scene.town.follow("ana", "dan").await;
        scene.town.post("ana", "before").await;
        scene.promote(&actor("ana"), true).await;
        let post = scene.town.post("ana", "hello").await;
        scene.town.post("dan", "not promoted").await;
        scene.settle().await;
        for follower in ["bo", "cleo"] {
            let rows = scene.town.rows(&format!("FEED#{follower}"), "").await;
            let ttl = (BEGIN_MS + 1_000 + 45 * DAY_MS) / 1_000;
            let id = &post.id;
            let said = format!(
                "actorId=ana verb=post objectType=Post objectId={id} previewText=hello ttl={ttl}"
            );
            assert_eq!(rows.len(), 1);
            assert!(rows[0].ends_with(&said), "{rows:?}");
        }
        assert!(scene.feed("ana").await.is_empty() && scene.feed("dan").await.is_empty());
        assert_eq!(scene.mark(&actor("ana")).await, Some((1, 1)));
        assert_eq!(scene.mark(&actor("dan")).await, None);
        assert!(bookkeeping(scene.town.ground(), "JOB#fan-out").await.is_empty());
    }
}

/// R35: also groups, to those who are in them and to nobody else.
#[tokio::test]
async fn what_is_done_in_a_group_is_copied_to_its_members() {
    let names = ["ana", "bo", "cleo", "dan"];
    for scene in [Scene::pushed(names).await, Scene::dynoxide(push, names).await] {
        let group = scene.town.found_private("ana", "readers").await;
        for name in ["bo", "cleo"] {
            scene.town.join(name, &group).await;
        }
        let (ana, bo) = (scene.town.caller("ana"), scene.town.id("bo"));
        scene.town.groups().approve(&ana, &group, &bo, None).await.unwrap();
        scene.town.follow("dan", "ana").await;
        scene.town.post_into("ana", &group, "hello").await;
        // Small steps: cleo, who is in between, is passed over.
        scene.small_steps(1).drain().await.unwrap();
        assert_eq!((scene.feed("ana").await, scene.feed("bo").await), (vec![0], vec![0]));
        assert!(scene.feed("cleo").await.is_empty() && scene.feed("dan").await.is_empty());
        assert_eq!(scene.mark(&(&group).into()).await, Some((0, 0)));
    }
}

/// Where the policy has everybody's activities copied, nobody need be promoted; the rule may still do so.
#[tokio::test]
async fn the_policy_alone_leaves_a_watermark_and_no_promotion() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.post("ana", "hello").await;
    scene.settle().await;
    assert_eq!(
        scene.town.rows("PROMO#ana", "").await,
        ["PROMO#ana userId=ana fanoutEnabled=false reason=followers"]
    );
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 0)));
}

/// I4
#[tokio::test]
async fn an_activity_that_is_told_of_again_changes_nothing() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    for text in ["one", "two"] {
        scene.town.post("ana", text).await;
    }
    scene.settle().await;
    let before = everything(scene.town.ground()).await;
    let ops = scene.town.ground().ops();
    for checkpoint in ops.checkpoints(&FanOut::NAME).all().await.unwrap() {
        let gone: Checkpoint = checkpoint;
        ops.table().delete(gone.key().delete()).await.unwrap();
    }
    scene.town.pass_ms(5_000);
    let again = scene.runner();
    again.drain().await.unwrap();
    assert!(figures(&again).finished > 0, "it was asked for again");
    assert_eq!(count(&figures(&again), "feed items written"), 0);
    assert_eq!(everything(scene.town.ground()).await, before);
}

/// R35: one that fails is parked, holds up nobody else, and is made up for.
#[tokio::test]
async fn a_failing_write_parks_the_job_and_the_watermark_stays() {
    let scene = Scene::pushed(["ana", "bo", "cleo", "dan"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.follow("cleo", "ana").await;
    scene.town.follow("bo", "dan").await;
    scene.town.post("ana", "zero").await;
    scene.settle().await;
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 0)));

    scene.store.refuse(Refused::Puts, "FEED#cleo");
    scene.town.post("ana", "one").await;
    scene.town.post("dan", "two").await;
    let runner = scene.runner();
    runner.drain().await.unwrap();
    assert_eq!((figures(&runner).parked, count(&figures(&runner), "homes behind")), (1, 1));
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 0)));
    assert_eq!(
        (scene.mark(&actor("dan")).await, scene.feed("cleo").await),
        (Some((2, 2)), vec![0])
    );

    // What comes after it is not complete either, whatever was written of it.
    scene.town.post("ana", "three").await;
    runner.drain().await.unwrap();
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 0)));
    assert_eq!(runner.dead_letters().count().await.unwrap(), 2);

    scene.store.heal();
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 3)));
    assert_eq!(scene.feed("cleo").await, [0, 1, 3]);
    assert_eq!(scene.feed("bo").await, [0, 1, 2, 3]);
    assert_eq!(runner.dead_letters().count().await.unwrap(), 0);
    assert_eq!(count(&figures(&runner), "homes behind"), 0);
}

/// A job that failed in the middle goes on there, also when others have been done meanwhile.
#[tokio::test]
async fn a_parked_job_goes_on_where_it_was() {
    let scene = Scene::pushed(["ana", "b", "c", "d", "e"]).await;
    for fan in ["b", "c", "d", "e"] {
        scene.town.follow(fan, "ana").await;
    }
    scene.town.post("ana", "zero").await;
    scene.store.refuse(Refused::Puts, "FEED#d");
    let runner = scene.small_steps(1);
    runner.drain().await.unwrap();
    assert_eq!((scene.feed("c").await, scene.feed("d").await), (vec![0], vec![]));
    scene.store.heal();
    // Another activity completes both, before the parked job is tried again.
    scene.town.post("ana", "one").await;
    runner.drain().await.unwrap();
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 1)));
    let written = count(&figures(&runner), "feed items written");
    runner.dead_letters().redrive_all(10).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 1)));
    assert_eq!(count(&figures(&runner), "feed items written"), written, "there was nothing left");
    for fan in ["b", "c", "d", "e"] {
        assert_eq!(scene.feed(fan).await, [0, 1]);
    }
}

/// Many that wait are copied together, in one go through the followers for ten of them.
#[tokio::test]
async fn what_has_piled_up_is_copied_together() {
    for copies in [1, 7, 1_000] {
        let scene = Scene::pushed(["ana", "bo", "cleo", "dan"]).await;
        for fan in ["bo", "cleo", "dan"] {
            scene.town.follow(fan, "ana").await;
        }
        for number in 0..23 {
            scene.town.post("ana", &format!("post {number}")).await;
        }
        let runner = scene.small_steps(copies);
        runner.drain().await.unwrap();
        let expected: Vec<u64> = (0..23).collect();
        for fan in ["bo", "cleo", "dan"] {
            assert_eq!(scene.feed(fan).await, expected, "{copies} copies a page");
        }
        assert_eq!(scene.mark(&actor("ana")).await, Some((0, 22)));
        let figures = figures(&runner);
        assert_eq!((figures.parked, count(&figures, "feed items written")), (0, 23 * 3));
    }
}

/// Activities of one second ask for one job.
#[tokio::test]
async fn a_burst_asks_for_one_job() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    let posts = scene.town.posts();
    for text in ["one", "two", "three"] {
        let post = roundtable_domain::NewPost::text(text);
        posts.create(&scene.town.caller("ana"), &post, None).await.unwrap();
    }
    let runner = scene.runner();
    runner.drain().await.unwrap();
    assert_eq!((figures(&runner).finished, scene.feed("bo").await.len()), (1, 3));
}

/// R36: what was promised while somebody was promoted is completed after they were demoted.
#[tokio::test]
async fn what_was_done_before_a_demotion_is_completed() {
    let scene = Scene::with(|_| {}, ["ana", "bo", "ada"]).await;
    scene.town.employ("ada", Role::Admin).await;
    scene.town.follow("bo", "ana").await;
    scene.promote(&actor("ana"), true).await;
    scene.town.post("ana", "zero").await;
    scene.town.post("ana", "one").await;
    scene.promote(&actor("ana"), false).await;
    scene.town.post("ana", "two").await;
    scene.settle().await;
    assert_eq!(scene.feed("bo").await, [0, 1]);
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 1)));
    scene.promote(&actor("ana"), true).await;
    scene.town.post("ana", "three").await;
    scene.settle().await;
    assert_eq!(scene.feed("bo").await, [0, 1, 3]);
    assert_eq!(scene.mark(&actor("ana")).await, Some((3, 3)));
}

/// The same with intervals that all wait, one behind the other, while the policy is switched.
#[tokio::test]
async fn intervals_are_completed_in_their_order() {
    let scene = Scene::pushed(["ana", "bo", "cleo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.follow("cleo", "ana").await;
    let ground = scene.town.ground();
    for (policy, text) in [
        (FeedPolicy::Push, "zero"),
        (FeedPolicy::Pull, "one"),
        (FeedPolicy::Push, "two"),
        (FeedPolicy::Push, "three"),
        (FeedPolicy::Documents, "four"),
        (FeedPolicy::Push, "five"),
    ] {
        ground.set_feed_policy(policy);
        scene.town.post("ana", text).await;
    }
    scene.small_steps(1).drain().await.unwrap();
    for fan in ["bo", "cleo"] {
        assert_eq!(scene.feed(fan).await, [0, 2, 3, 5]);
    }
    assert_eq!(scene.mark(&actor("ana")).await, Some((5, 5)));
}

/// R39: followers in every shard, those from before it was one of several, and those who come later.
#[tokio::test]
async fn followers_in_all_shards_are_reached() {
    let fans = ["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8"];
    for scene in [Scene::pushed(fans).await, Scene::dynoxide(push, fans).await] {
        scene.town.move_in("star", |_| {}).await;
        for fan in &fans[..3] {
            scene.town.follow(fan, "star").await;
        }
        let shards = Shards::new(5).unwrap();
        scene.town.follows().grow_shards(&scene.town.id("star"), shards).await.unwrap();
        for fan in &fans[3..] {
            scene.town.follow(fan, "star").await;
        }
        for (copies, text) in [(1, "zero"), (3, "one"), (1_000, "two")] {
            scene.town.post("star", text).await;
            scene.small_steps(copies).drain().await.unwrap();
        }
        for fan in fans {
            assert_eq!(scene.feed(fan).await, [0, 1, 2], "{fan}");
        }
        assert_eq!(scene.mark(&actor("star")).await, Some((0, 2)));
    }
}

/// What would have expired is not written any more, and the watermark moves on.
#[tokio::test]
async fn what_comes_too_late_to_be_held_is_not_copied() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.post("ana", "zero").await;
    scene.town.pass_ms(46 * DAY_MS);
    scene.town.post("ana", "late").await;
    scene.settle().await;
    let late = 1 + 46 * DAY_MS / 1_000;
    assert_eq!(scene.feed("bo").await, [late]);
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, late)));
}

/// Nothing is left behind for somebody who is gone.
#[tokio::test]
async fn a_purged_account_gets_no_watermark() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    scene.town.post("ana", "zero").await;
    let accounts = scene.town.accounts();
    accounts.delete_account(&scene.town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    scene.settle().await;
    let items = everything(scene.town.ground()).await;
    assert!(all::<Promotion>(&items).is_empty() && all::<Activity>(&items).is_empty());
    assert!(!all::<User>(&items).iter().any(|user| user.status == UserStatus::Deleted));
}

/// Two workers, with the same jobs at the same time.
#[tokio::test]
async fn two_workers_copy_the_same() {
    let scene = Scene::pushed(["ana", "b", "c", "d", "e"]).await;
    for fan in ["b", "c", "d", "e"] {
        scene.town.follow(fan, "ana").await;
    }
    for number in 0..12 {
        scene.town.post("ana", &format!("post {number}")).await;
    }
    let (one, other) = (scene.small_steps(2), scene.small_steps(3));
    let (first, second) = tokio::join!(one.drain(), other.drain());
    first.unwrap();
    second.unwrap();
    let expected: Vec<u64> = (0..12).collect();
    for fan in ["b", "c", "d", "e"] {
        assert_eq!(scene.feed(fan).await, expected);
    }
    assert_eq!(scene.mark(&actor("ana")).await, Some((0, 11)));
}

/// An idle worker does not sleep over what was asked for in its own process.
#[tokio::test(start_paused = true)]
async fn a_job_is_begun_when_it_is_asked_for() {
    let scene = Scene::pushed(["ana", "bo"]).await;
    scene.town.follow("bo", "ana").await;
    let runner = scene.runner();
    let (stop, running) = start(&runner);
    let wait = std::time::Duration::from_millis(1);
    for number in 0..3 {
        // Until everything that is there is idle, at some other time each.
        tokio::time::sleep(wait * 10_300).await;
        scene.town.post("ana", "hello").await;
        let asked = tokio::time::Instant::now();
        while scene.mark(&actor("ana")).await != Some((0, number)) {
            tokio::time::sleep(wait).await;
        }
        assert!(asked.elapsed() < wait * 100, "it took {:?}", asked.elapsed());
    }
    drop(stop);
    running.await.unwrap();
}
