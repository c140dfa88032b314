//! Several workers share the shards of a stream, and each shard has one reader.

use std::sync::Arc;
use std::time::Duration;

use roundtable_dynamo::{Lease, LeaseConfig, Leases, ShardWorker};
use roundtable_table::{
    Clock, KeyDefinition, Put, Sequence, ShardInfo, StreamRead, StreamStart, Table,
    TableDefinition, Transaction, Update, item,
};

use crate::server::Server;

const DURATION_MS: u64 = 10_000;

async fn ops(server: &Server) -> Table {
    let definition = TableDefinition::new("ops", KeyDefinition::texts("PK", "SK"));
    server.store.create_table(definition).await.unwrap()
}

fn worker(server: &Server, ops: &Table, owner: &str) -> Leases {
    let keeper = LeaseConfig {
        stream: "things".into(),
        consumer: "counters".into(),
        owner: owner.into(),
        duration: Duration::from_millis(DURATION_MS),
    };
    Leases::new(ops.clone(), Arc::clone(&server.clock) as Arc<dyn Clock>, keeper)
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
    let server = Server::start().await;
    let ops = ops(&server).await;
    let (ana, bo) = (worker(&server, &ops, "ana"), worker(&server, &ops, "bo"));
    let (first, second) = tokio::join!(ana.take("s"), bo.take("s"));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.is_some() != second.is_some(), "exactly one has it");
    // At most one worker holds it at any time.
    let mut held: [Option<Lease>; 2] = [first, second];
    for step in 0..20u64 {
        server.clock.advance_ms(1 + (step * 3_701) % 7_000);
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
async fn an_expired_lease_is_taken_over_at_its_checkpoint() {
    let server = Server::start().await;
    let ops = ops(&server).await;
    let (ana, bo) = (worker(&server, &ops, "ana"), worker(&server, &ops, "bo"));
    let mut lost = ana.take("s").await.unwrap().unwrap();
    assert!(ana.checkpoint(&mut lost, &Sequence::from(7)).await.unwrap());
    server.clock.advance_ms(DURATION_MS - 1);
    assert!(ana.holds(&lost));
    assert_eq!(bo.take("s").await.unwrap(), None);
    server.clock.advance_ms(1);
    assert!(!ana.holds(&lost));
    let mut taken = bo.take("s").await.unwrap().unwrap();
    assert_eq!(taken.checkpoint, Some(Sequence::from(7)));
    // All later writes of the old owner fail.
    assert!(!ana.checkpoint(&mut lost, &Sequence::from(9)).await.unwrap());
    assert!(!ana.renew(&mut lost).await.unwrap());
    assert_eq!(lost.checkpoint, Some(Sequence::from(7)));
    assert!(!ana.release(lost.clone()).await.unwrap());
    assert!(!ana.end(lost).await.unwrap());
    assert!(bo.checkpoint(&mut taken, &Sequence::from(8)).await.unwrap());
    assert!(!bo.checkpoint(&mut taken, &Sequence::from(6)).await.unwrap(), "never backwards");
}

#[tokio::test]
async fn a_restarted_worker_counts_as_another_holder() {
    let server = Server::start().await;
    let ops = ops(&server).await;
    let ana = worker(&server, &ops, "ana");
    let mut before = ana.take("s").await.unwrap().unwrap();
    let mut after = worker(&server, &ops, "ana").take("s").await.unwrap().unwrap();
    assert!(!ana.checkpoint(&mut before, &Sequence::from(1)).await.unwrap());
    assert!(ana.checkpoint(&mut after, &Sequence::from(1)).await.unwrap());
}

#[tokio::test]
async fn children_wait_for_their_parents() {
    let server = Server::start().await;
    let ops = ops(&server).await;
    let ana = worker(&server, &ops, "ana");
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
    let server = Server::start().await;
    let ops = ops(&server).await;
    let (ana, bo) = (worker(&server, &ops, "ana"), worker(&server, &ops, "bo"));
    let listed = shards(&[("a", None), ("b", None), ("c", None), ("d", None)]);
    let mut hers = ana.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!(hers.len(), 4);
    assert!(bo.balance(&listed, Vec::new()).await.unwrap().is_empty());
    hers = ana.balance(&listed, hers).await.unwrap();
    let his = bo.balance(&listed, Vec::new()).await.unwrap();
    assert_eq!((names(&hers), names(&his)), (vec!["a", "b"], vec!["c", "d"]));
    // Bo stops renewing; half a lease later Ana renews, and then takes over everything.
    server.clock.advance_ms(DURATION_MS / 2);
    hers = ana.balance(&listed, hers).await.unwrap();
    assert_eq!(hers.len(), 2);
    server.clock.advance_ms(DURATION_MS / 2);
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
    let server = Server::start().await;
    let ops = ops(&server).await;
    let (ana, bo) = (worker(&server, &ops, "ana"), worker(&server, &ops, "bo"));
    let shards = shards(&[("s", None)]);
    ana.balance(&shards, Vec::new()).await.unwrap();
    server.clock.advance_ms(DURATION_MS / 2);
    bo.balance(&shards, Vec::new()).await.unwrap();
    let looks = worker(&server, &ops, "looks");
    assert_eq!(looks.workers().await.unwrap(), ["ana", "bo"]);
    server.clock.advance_ms(DURATION_MS / 2);
    assert_eq!(looks.workers().await.unwrap(), ["bo"], "one is silent");
    bo.leave().await.unwrap();
    assert!(looks.workers().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_worker_reads_its_shards_and_releases_them() {
    let server = Server::start().await;
    let ops = ops(&server).await;
    let ana = ShardWorker::new(worker(&server, &ops, "ana"));
    let bo = ShardWorker::new(worker(&server, &ops, "bo"));
    let listed = shards(&[("old", None), ("left", Some("old")), ("right", Some("old"))]);
    assert_eq!(ana.balance(&listed).await.unwrap(), ["old"]);
    assert!(ana.holds("old") && !ana.holds("left"));
    // Renewed in time, it stays with ana.
    for _ in 0..4 {
        assert!(bo.balance(&listed).await.unwrap().is_empty());
        server.clock.advance_ms(u64::try_from(ana.interval().as_millis()).unwrap());
        assert_eq!(ana.balance(&listed).await.unwrap(), ["old"]);
    }
    ana.end("old").await.unwrap();
    assert_eq!(ana.balance(&listed).await.unwrap().len(), 1, "the other child is for bo");
    assert_eq!(bo.balance(&listed).await.unwrap().len(), 1);
    ana.leave().await.unwrap();
    assert!(!ana.holds("left"));
    assert_eq!(bo.balance(&listed).await.unwrap().len(), 2);
    server.clock.advance_ms(DURATION_MS);
    assert!(!bo.holds("left"), "another may have taken it");
}

#[tokio::test]
async fn leases_of_trimmed_shards_are_deleted() {
    let server = Server::start().await;
    let ops = ops(&server).await;
    let ana = worker(&server, &ops, "ana");
    let mut held = ana.balance(&shards(&[("old", None)]), Vec::new()).await.unwrap();
    assert!(ana.end(held.remove(0)).await.unwrap());
    ana.balance(&shards(&[("new", None)]), Vec::new()).await.unwrap();
    let rows = ops.scan(roundtable_table::Scan::new()).await.unwrap().items;
    let mut sorts = crate::server::texts(&rows, "SK");
    sorts.sort_unstable();
    assert_eq!(sorts, ["SHARD#new", "WORKER#ana"]);
}

/// A minimal worker loop: effects commit with the checkpoint, the holder dies in between, and the next
/// one continues. Every change counts once.
#[tokio::test]
async fn a_takeover_loses_and_repeats_nothing() {
    let server = Server::start().await;
    let (table, ops) = (server.table().await, ops(&server).await);
    for n in 0..10 {
        table.put(Put::new(item! { "PK" => "a", "SK" => format!("{n}") })).await.unwrap();
    }
    let listed = table.stream_shards().await.unwrap();
    let mut counted = 0;
    for (owner, reads) in [("ana", 2), ("bo", 1), ("cy", 9)] {
        let leases = worker(&server, &ops, owner);
        let held = leases.balance(&listed, Vec::new()).await.unwrap();
        let mut lease = held.into_iter().next().expect("the one before has expired");
        for _ in 0..reads {
            let read = StreamRead::new(
                lease.shard.clone(),
                lease.checkpoint.clone().map_or(StreamStart::Oldest, StreamStart::After),
            )
            .limit(3);
            let page = table.stream_read(read).await.unwrap();
            let Some(last) = page.changes.last().map(|change| change.sequence.clone()) else {
                break;
            };
            let count = i32::try_from(page.changes.len()).unwrap();
            let together = Transaction::new()
                .with(&ops, leases.checkpoint_update(&lease, &last))
                .with(&ops, Update::new(("COUNTER", "things")).add("n", count));
            server.store.transact(together).await.unwrap();
            lease.checkpoint = Some(last);
            counted += count;
        }
        server.clock.advance_ms(DURATION_MS);
    }
    assert_eq!(counted, 10);
    let counter = ops.get(roundtable_table::Get::new(("COUNTER", "things"))).await.unwrap().item;
    assert_eq!(counter.unwrap().number("n"), Some(10.into()));
}
