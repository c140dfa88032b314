//! Several workers share the shards of a stream, and each shard has one reader.

use std::sync::Arc;
use std::time::Duration;

use roundtable_model::table::{Clock, LeaseKey, Query, ShardInfo};
use roundtable_streams::{Lease, LeaseConfig, Leases, ShardAssignment as _, ShardWorker};

use crate::test_store::TestStore;

const DURATION_MS: u64 = 10_000;
const STREAM: &str = "things";
const CONSUMER: &str = "counters";

fn worker(store: &TestStore, owner: &str) -> Leases {
    let keeper = LeaseConfig {
        stream: STREAM.into(),
        consumer: CONSUMER.into(),
        owner: owner.into(),
        duration: Duration::from_millis(DURATION_MS),
    };
    let ops = store.context.ops().table().clone();
    Leases::new(ops, Arc::clone(&store.clock) as Arc<dyn Clock>, keeper)
}

fn shards(ids: &[(&str, Option<&str>)]) -> Vec<ShardInfo> {
    let shard = |(id, parent): &(&str, Option<&str>)| ShardInfo {
        id: (*id).to_owned(),
        parent: parent.map(str::to_owned),
    };
    ids.iter().map(shard).collect()
}

fn names(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.shard.as_str()).collect()
}

#[tokio::test]
async fn one_shard_has_one_holder() {
    let store = TestStore::dynoxide().await;
    let (ana, bo) = (worker(&store, "ana"), worker(&store, "bo"));
    let (first, second) = tokio::join!(ana.take("s"), bo.take("s"));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.is_some() != second.is_some(), "exactly one has it");
    // At most one worker holds it at any time.
    let mut held: [Option<Lease>; 2] = [first, second];
    for step in 0..20u64 {
        store.clock.advance_ms(1 + (step * 3_701) % 7_000);
        for (at, worker) in [(0, &ana), (1, &bo)] {
            if let Some(lease) = worker.take("s").await.unwrap() {
                held[at] = Some(lease);
            }
        }
        let holds =
            |at: usize, worker: &Leases| held[at].as_ref().is_some_and(|lease| worker.holds(lease));
        assert!(!(holds(0, &ana) && holds(1, &bo)), "step {step}");
    }
}

#[tokio::test]
async fn an_expired_lease_is_taken_over() {
    let store = TestStore::dynoxide().await;
    let (ana, bo) = (worker(&store, "ana"), worker(&store, "bo"));
    let mut lost = ana.take("s").await.unwrap().unwrap();
    assert!(ana.renew(&mut lost).await.unwrap());
    store.clock.advance_ms(DURATION_MS - 1);
    assert!(ana.holds(&lost));
    assert_eq!(bo.take("s").await.unwrap(), None);
    store.clock.advance_ms(1);
    assert!(!ana.holds(&lost));
    let mut taken = bo.take("s").await.unwrap().unwrap();
    // All later writes of the old owner fail.
    assert!(!ana.renew(&mut lost).await.unwrap());
    assert!(!ana.release(lost.clone()).await.unwrap());
    assert!(!ana.end(lost).await.unwrap());
    assert!(bo.renew(&mut taken).await.unwrap());
}

#[tokio::test]
async fn a_restarted_worker_counts_as_another_holder() {
    let store = TestStore::dynoxide().await;
    let ana = worker(&store, "ana");
    let mut before = ana.take("s").await.unwrap().unwrap();
    let mut after = worker(&store, "ana").take("s").await.unwrap().unwrap();
    assert!(!ana.renew(&mut before).await.unwrap());
    assert!(ana.renew(&mut after).await.unwrap());
}

#[tokio::test]
async fn children_wait_for_their_parents() {
    let store = TestStore::dynoxide().await;
    let ana = worker(&store, "ana");
    let listed = shards(&[("old", Some("trimmed")), ("left", Some("old")), ("right", Some("old"))]);
    let mut held = ana.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!(names(&held), ["old"]);
    assert!(ana.end(held.remove(0)).await.unwrap());
    let held = ana.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!(names(&held), ["left", "right"]);
    assert_eq!(ana.take("old").await.unwrap(), None, "what has ended is not read again");
}

#[tokio::test]
async fn workers_share_and_take_over() {
    let store = TestStore::dynoxide().await;
    let (ana, bo) = (worker(&store, "ana"), worker(&store, "bo"));
    let listed = shards(&[("a", None), ("b", None), ("c", None), ("d", None)]);
    let mut hers = ana.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!(hers.len(), 4);
    assert!(bo.balance(&listed, Vec::new()).await.unwrap().is_empty());
    hers = ana.balance(&listed, hers).await.unwrap();
    let his = bo.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!((names(&hers), names(&his)), (vec!["a", "b"], vec!["c", "d"]));
    // Bo stops renewing; half a lease later Ana renews, and then takes over everything.
    store.clock.advance_ms(DURATION_MS / 2);
    hers = ana.balance(&listed, hers).await.unwrap();
    assert_eq!(hers.len(), 2);
    store.clock.advance_ms(DURATION_MS / 2);
    hers = ana.balance(&listed, hers).await.unwrap();
    assert_eq!(hers.len(), 4);
    // She releases her leases, so Bo need not wait.
    for lease in hers {
        assert!(ana.release(lease).await.unwrap());
    }
    ana.leave().await.unwrap();
    assert_eq!(bo.balance(&listed, his).await.unwrap().len(), 4);
}

#[tokio::test]
async fn any_process_can_list_the_active_workers() {
    let store = TestStore::dynoxide().await;
    let url = |name: &str| Some(format!("http://{name}:4000"));
    let (ana, bo) = (worker(&store, "ana"), worker(&store, "bo").at(url("bo")));
    let shards = shards(&[("s", None)]);
    ana.balance(&shards, Vec::new()).await.unwrap();
    store.clock.advance_ms(DURATION_MS / 2);
    bo.balance(&shards, Vec::new()).await.unwrap();
    let looks = worker(&store, "looks");
    let active = async || {
        let active = looks.active_workers().await.unwrap().workers.into_iter();
        active.map(|worker| (worker.name, worker.address)).collect::<Vec<_>>()
    };
    let [ana, his] = [("ana".into(), None), ("bo".into(), url("bo"))];
    assert_eq!(active().await, [ana, his.clone()]);
    store.clock.advance_ms(DURATION_MS / 2);
    assert_eq!(active().await, [his], "one is silent");
    bo.leave().await.unwrap();
    assert!(active().await.is_empty());
}

/// R57: other processes learn the backlog of a worker from its announcement.
#[tokio::test]
async fn a_worker_announces_its_backlog() {
    let store = TestStore::dynoxide().await;
    let (ana, looks) = (worker(&store, "ana"), worker(&store, "looks"));
    let shards = shards(&[("s", None)]);
    for since in [None, Some(1_737_991_800_123), Some(5), None] {
        ana.report_backlog(since);
        ana.balance(&shards, Vec::new()).await.unwrap();
        let active = looks.active_workers().await.unwrap().workers;
        assert_eq!(active[0].behind_since_ms, since);
    }
}

/// The shards of a dead worker are read again once another one has taken them, which is later than
/// its announcement expires.
#[tokio::test]
async fn shards_that_a_dead_worker_held_are_known_until_others_take_them() {
    let store = TestStore::dynoxide().await;
    let (ana, bo) = (worker(&store, "ana"), worker(&store, "bo"));
    let hold_all = async || bo.active_workers().await.unwrap().hold_all_shards;
    assert!(hold_all().await, "there are none yet");
    let listed = shards(&[("one", None), ("two", None)]);
    let mut his = bo.balance(&listed, Vec::new()).await.unwrap();
    ana.balance(&listed, Vec::new()).await.unwrap();
    his = bo.balance(&listed, his).await.unwrap();
    assert!(!hold_all().await, "one is released and not taken yet");
    let hers = ana.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!((his.len(), hers.len(), hold_all().await), (1, 1, true));
    store.clock.advance_ms(DURATION_MS / 2);
    his = bo.balance(&listed, his).await.unwrap();
    store.clock.advance_ms(DURATION_MS / 2);
    let active = bo.active_workers().await.unwrap();
    assert_eq!((active.workers.len(), active.hold_all_shards), (1, false), "hers is free");
    his = bo.balance(&listed, his).await.unwrap();
    assert_eq!((his.len(), hold_all().await), (2, true));
    for lease in his {
        assert!(bo.end(lease).await.unwrap());
    }
    assert!(hold_all().await, "what has ended needs no reader");
}

#[tokio::test]
async fn a_worker_reads_its_shards_and_releases_them() {
    let store = TestStore::dynoxide().await;
    let ana = ShardWorker::new(worker(&store, "ana"));
    let bo = ShardWorker::new(worker(&store, "bo"));
    let listed = shards(&[("old", None), ("left", Some("old")), ("right", Some("old"))]);
    assert_eq!(ana.assign(&listed).await.unwrap(), ["old"]);
    assert!(ana.is_assigned("old") && !ana.is_assigned("left"));
    // Renewed in time, it stays with ana.
    for _ in 0..4 {
        assert!(bo.assign(&listed).await.unwrap().is_empty());
        store.clock.advance_ms(u64::try_from(ana.interval().as_millis()).unwrap());
        assert_eq!(ana.assign(&listed).await.unwrap(), ["old"]);
    }
    ana.mark_ended("old").await.unwrap();
    assert_eq!(ana.assign(&listed).await.unwrap().len(), 1, "the other child is for bo");
    assert_eq!(bo.assign(&listed).await.unwrap().len(), 1);
    ana.release_all().await.unwrap();
    assert!(!ana.is_assigned("left"));
    assert_eq!(bo.assign(&listed).await.unwrap().len(), 2);
    store.clock.advance_ms(DURATION_MS);
    assert!(!bo.is_assigned("left"), "another may have taken it");
}

#[tokio::test]
async fn leases_of_trimmed_shards_are_deleted() {
    let store = TestStore::dynoxide().await;
    let ana = worker(&store, "ana");
    let mut held = ana.balance(&shards(&[("old", None)]), Vec::new()).await.unwrap();
    assert!(ana.end(held.remove(0)).await.unwrap());
    ana.balance(&shards(&[("new", None)]), Vec::new()).await.unwrap();
    let query = Query::new(LeaseKey::partition(CONSUMER, STREAM)).strong();
    let rows = store.context.ops().table().query(query).await.unwrap().items;
    let sorts: Vec<_> = rows.iter().map(|row| row.text("SK").unwrap()).collect();
    assert_eq!(sorts, ["SHARD#new", "WORKER#ana"]);
}
