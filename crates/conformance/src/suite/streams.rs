//! Streams: every change of an item, once, in order, with both images.

use std::collections::BTreeMap;
use std::time::Duration;

use roundtable_table::{
    BatchWrite, Change, ChangeKind, Check, Delete, Invalid, Item, Key, KeyDefinition, Limit, Put,
    Sequence, ShardInfo, StreamPage, StreamRead, StreamStart, Table, Transaction, Update,
    attribute, exists, not_exists,
};

use super::steps::{
    cancelled, changes, changes_now, condition_failed, invalid, key, put, put_all, row, subject,
    update,
};
use crate::TestBench;

type Images = (ChangeKind, Option<Item>, Option<Item>);

fn images(changes: &[Change]) -> Vec<Images> {
    changes.iter().map(|change| (change.kind(), change.old.clone(), change.new.clone())).collect()
}

async fn shard(table: &Table) -> ShardInfo {
    table.stream_shards().await.unwrap().pop().unwrap()
}

async fn read(table: &Table, start: StreamStart, limit: usize, wait_ms: u64) -> StreamPage {
    let (shard, wait) = (shard(table).await.id, Duration::from_millis(wait_ms));
    table.stream_read(StreamRead::new(shard, start).limit(limit).wait(wait)).await.unwrap()
}

pub(super) async fn a_new_item_is_an_insert(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let changes = changes(&table, 1).await;
    assert_eq!(images(&changes), [(ChangeKind::Insert, None, Some(subject().with("n", 1)))]);
    assert_eq!(changes[0].key, key());
    assert!(!changes[0].expired);
}

pub(super) async fn a_replaced_item_is_a_modify(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    put(&table, subject().with("m", 2)).await;
    let (old, new) = (Some(subject().with("n", 1)), Some(subject().with("m", 2)));
    assert_eq!(images(&changes(&table, 2).await)[1], (ChangeKind::Modify, old, new));
}

pub(super) async fn a_deleted_item_is_a_remove(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    table.delete(Delete::new(key())).await.unwrap();
    let changes = changes(&table, 2).await;
    let removed = (ChangeKind::Remove, Some(subject().with("n", 1)), None);
    assert_eq!(images(&changes)[1], removed);
    assert_eq!(changes[1].key, key());
    assert!(!changes[1].expired, "it was deleted, not expired");
}

pub(super) async fn an_update_shows_both_images(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, Update::new(key()).add("n", 1)).await;
    update(&table, Update::new(key()).add("n", 1)).await;
    let image = |n: i32| Some(subject().with("n", n));
    let expected = [(ChangeKind::Insert, None, image(1)), (ChangeKind::Modify, image(1), image(2))];
    assert_eq!(images(&changes(&table, 2).await), expected);
}

pub(super) async fn a_put_of_the_same_item_is_no_change(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    put(&table, subject().with("n", 1)).await;
    put(&table, row("p", "end")).await;
    changes(&table, 2).await;
}

pub(super) async fn an_update_without_effect_is_no_change(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    update(&table, Update::new(key()).set("n", 1).remove("missing")).await;
    update(&table, Update::new(key()).add("n", 0)).await;
    put(&table, row("p", "end")).await;
    changes(&table, 2).await;
}

pub(super) async fn a_delete_of_nothing_is_no_change(bench: &TestBench) {
    let table = bench.table().await;
    table.delete(Delete::new(key())).await.unwrap();
    put(&table, row("p", "end")).await;
    changes(&table, 1).await;
}

pub(super) async fn a_failed_condition_is_no_change(bench: &TestBench) {
    let table = bench.table().await;
    condition_failed(table.put(Put::new(subject()).when(exists("PK"))).await);
    put(&table, row("p", "end")).await;
    changes(&table, 1).await;
}

pub(super) async fn changes_of_an_item_come_in_order_and_chain(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..30 {
        let sort = format!("{}", at % 3);
        match at % 7 {
            6 => drop(table.delete(Delete::new(("p", &*sort))).await.unwrap()),
            _ => drop(update(&table, Update::new(("p", &*sort)).set("n", at)).await),
        }
    }
    put(&table, row("p", "end")).await;
    let mut last: BTreeMap<Key, Option<Item>> = BTreeMap::new();
    let all = loop {
        let all = changes_now(&table).await;
        if all.iter().any(|change| change.key == Key::new("p", "end")) {
            break all;
        }
        tokio::task::yield_now().await;
    };
    for change in all {
        let before = last.insert(change.key.clone(), change.new.clone()).flatten();
        assert_eq!(change.old, before, "each old image is the new image before it");
        assert_ne!(change.old, change.new);
    }
    for (key, item) in last {
        assert_eq!(super::steps::get(&table, key).await, item, "the last image is what is there");
    }
}

pub(super) async fn sequences_rise_within_a_shard(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..10).map(|at| row("p", &at.to_string()))).await;
    changes(&table, 10).await;
    for shard in table.stream_shards().await.unwrap() {
        let read = StreamRead::new(shard.id, StreamStart::Oldest).limit(100);
        let page = table.stream_read(read).await.unwrap();
        assert!(page.changes.is_sorted_by(|a, b| a.sequence < b.sequence));
    }
}

pub(super) async fn a_transaction_is_in_the_stream_as_a_whole(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "2")).await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "1")))
        .with(&table, Delete::new(("p", "2")))
        .with(&table, Update::new(("p", "3")).set("a", 1))
        .with(&table, Check::new(("p", "4"), not_exists("PK")));
    bench.store.transact(transaction).await.unwrap();
    let changes = changes(&table, 4).await;
    let mut seen: Vec<_> =
        changes[1..].iter().map(|change| (change.key.clone(), change.kind())).collect();
    seen.sort_by_key(|(key, _)| key.clone());
    let expected = [
        (Key::new("p", "1"), ChangeKind::Insert),
        (Key::new("p", "2"), ChangeKind::Remove),
        (Key::new("p", "3"), ChangeKind::Insert),
    ];
    assert_eq!(seen, expected);
}

pub(super) async fn a_cancelled_transaction_is_not_in_the_stream(bench: &TestBench) {
    let table = bench.table().await;
    let transaction = Transaction::new()
        .with(&table, Put::new(row("p", "1")))
        .with(&table, Check::new(("p", "2"), exists("PK")));
    cancelled(bench.store.transact(transaction).await);
    put(&table, row("p", "end")).await;
    changes(&table, 1).await;
}

pub(super) async fn a_batch_is_in_the_stream(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let writes = vec![BatchWrite::Delete(Key::new("p", "1")), BatchWrite::Put(row("p", "2"))];
    table.batch_write(writes).await.unwrap();
    let changes = changes(&table, 3).await;
    assert!(changes.iter().any(|change| change.kind() == ChangeKind::Remove));
}

pub(super) async fn each_table_has_its_own_stream(bench: &TestBench) {
    let (one, other) = (bench.table().await, bench.table().await);
    put(&one, subject()).await;
    put(&other, row("q", "1")).await;
    put(&other, row("q", "2")).await;
    assert_eq!(changes(&one, 1).await[0].key, key());
    assert_eq!(changes(&other, 2).await[1].key, Key::new("q", "2"));
}

pub(super) async fn a_read_goes_on_exactly_after_its_sequence(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..9).map(|at| row("p", &at.to_string()))).await;
    let all = changes(&table, 9).await;
    for (at, change) in all.iter().enumerate() {
        let page = read(&table, StreamStart::After(change.sequence.clone()), 100, 0).await;
        assert_eq!(page.changes, all[at + 1..]);
    }
}

pub(super) async fn a_limit_cuts_a_read_and_next_goes_on(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..7).map(|at| row("p", &at.to_string()))).await;
    let all = changes(&table, 7).await;
    let mut start = StreamStart::Oldest;
    let mut found = Vec::new();
    while found.len() < 7 {
        let page = read(&table, start, 2, 1000).await;
        assert!((1..=2).contains(&page.changes.len()));
        assert_eq!(page.next.as_ref(), page.changes.last().map(|change| &change.sequence));
        found.extend(page.changes);
        start = StreamStart::After(page.next.unwrap());
    }
    assert_eq!(found, all);
}

pub(super) async fn an_empty_read_goes_on_from_the_same_place(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let last = changes(&table, 1).await.remove(0).sequence;
    let page = read(&table, StreamStart::After(last), 10, 0).await;
    assert_eq!(page.changes, []);
    let next = page.next.unwrap();
    put(&table, row("p", "2")).await;
    let page = read(&table, StreamStart::After(next), 10, 5000).await;
    assert_eq!(page.changes[0].key, Key::new("p", "2"));
}

pub(super) async fn latest_sees_only_what_comes_later(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "before")).await;
    changes(&table, 1).await;
    let page = read(&table, StreamStart::Latest, 10, 0).await;
    assert_eq!(page.changes, []);
    // Without a sequence to continue after, the same start continues where the last read ended.
    let next = page.next.map_or(StreamStart::Latest, StreamStart::After);
    put(&table, row("p", "after")).await;
    let page = read(&table, next, 10, 5000).await;
    assert_eq!(page.changes.len(), 1);
    assert_eq!(page.changes[0].key, Key::new("p", "after"));
}

/// Changes that a filter omits are counted, and not read again.
pub(super) async fn a_filter_leaves_changes_out(bench: &TestBench) {
    let table = bench.table().await;
    for (sort, color) in [("1", "red"), ("2", "blue"), ("3", "blue"), ("2", "red")] {
        put(&table, row("p", sort).with("color", color)).await;
    }
    put(&table, row("p", "4")).await;
    table.delete(Delete::new(Key::new("p", "3"))).await.unwrap();
    let all = changes(&table, 6).await;
    let was_or_is_blue = [1, 2, 3, 5].map(|at: usize| all[at].clone());

    let (shard, mut start) = (shard(&table).await.id, StreamStart::Oldest);
    let (mut blue, mut looked_at) = (Vec::new(), 0);
    while looked_at < all.len() {
        let read = StreamRead::new(&shard, start).limit(2).filter(attribute("color").eq("blue"));
        let page = table.stream_read(read).await.unwrap();
        assert!(page.evaluated <= 2, "the limit is on what is looked at: {page:?}");
        looked_at += page.evaluated;
        assert_eq!(page.next.as_ref(), Some(&all[looked_at - 1].sequence));
        start = StreamStart::After(all[looked_at - 1].sequence.clone());
        blue.extend(page.changes);
    }
    assert_eq!((blue.as_slice(), looked_at), (&was_or_is_blue[..], all.len()));
}

/// A waiting read also advances past changes that the filter omits.
pub(super) async fn a_waiting_read_wakes_up_for_what_is_filtered_out(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let last = changes(&table, 1).await.remove(0).sequence;
    let read = StreamRead::new(shard(&table).await.id, StreamStart::After(last.clone()));
    let read = read.wait(Duration::from_mins(1)).filter(exists("color"));
    let waiting = {
        let table = table.clone();
        tokio::spawn(async move { table.stream_read(read).await.unwrap() })
    };
    tokio::task::yield_now().await;
    put(&table, row("p", "2")).await;
    let page = waiting.await.unwrap();
    assert_eq!((page.changes.as_slice(), page.evaluated), (&[][..], 1));
    assert!(page.next > Some(last));
}

pub(super) async fn a_waiting_read_wakes_up(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, row("p", "1")).await;
    let last = changes(&table, 1).await.remove(0).sequence;
    let waiting = {
        let table = table.clone();
        tokio::spawn(async move { read(&table, StreamStart::After(last), 10, 60_000).await })
    };
    tokio::task::yield_now().await;
    put(&table, row("p", "2")).await;
    let page = waiting.await.unwrap();
    assert_eq!(page.changes[0].key, Key::new("p", "2"));
}

pub(super) async fn a_read_does_not_wait_when_there_is_something(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    changes(&table, 1).await;
    let started = std::time::Instant::now();
    let page = read(&table, StreamStart::Oldest, 10, 60_000).await;
    assert_eq!(page.changes.len(), 1);
    assert!(started.elapsed() < Duration::from_secs(30));
}

pub(super) async fn a_table_without_stream_refuses(bench: &TestBench) {
    let table = bench.keyed(KeyDefinition::texts("PK", "SK")).await;
    put(&table, subject()).await;
    let error = invalid(table.stream_shards().await);
    assert!(matches!(error, Invalid::Rejected { .. }));
    let error = invalid(table.stream_read(StreamRead::new("any", StreamStart::Oldest)).await);
    assert!(matches!(error, Invalid::Rejected { .. }));
}

pub(super) async fn an_unknown_shard_is_an_error(bench: &TestBench) {
    let table = bench.table().await;
    let read = StreamRead::new("shardId-00000000000000000000-00000000", StreamStart::Oldest);
    assert!(table.stream_read(read).await.is_err());
}

pub(super) async fn a_stream_read_has_limits(bench: &TestBench) {
    let table = bench.table().await;
    let shard = shard(&table).await.id;
    let read = |limit| StreamRead::new(shard.clone(), StreamStart::Oldest).limit(limit);
    assert_eq!(invalid(table.stream_read(read(0)).await), Invalid::ZeroLimit);
    let expected = Invalid::OverLimit {
        limit: Limit::StreamChanges,
        actual: 1001,
        max: 1000,
        subject: table.definition().name.clone(),
    };
    assert_eq!(invalid(table.stream_read(read(1001)).await), expected);
    let long = read(1).filter(attribute("n").one_of(0..=100));
    let error = invalid(table.stream_read(long).await);
    assert!(matches!(error, Invalid::OverLimit { limit: Limit::InOperands, actual: 101, .. }));
}

pub(super) async fn many_changes_are_all_there(bench: &TestBench) {
    let table = bench.table().await;
    put_all(&table, (0..300).map(|at| row("p", &format!("{at:03}")))).await;
    let changes = changes(&table, 300).await;
    let mut keys: Vec<_> = changes.into_iter().map(|change| change.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 300);
}

pub(super) async fn concurrent_writers_leave_a_gapless_stream(bench: &TestBench) {
    let table = bench.table().await;
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let table = table.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    update(&table, Update::new(key()).add("n", 1)).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let changes = changes(&table, 40).await;
    for (at, change) in (1..).zip(&changes) {
        assert_eq!(change.new, Some(subject().with("n", at)), "one after the other");
    }
}

pub(super) async fn sequences_are_decimal_numbers(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let sequence = changes(&table, 1).await.remove(0).sequence;
    assert_eq!(Sequence::parse(sequence.trimmed()).unwrap(), sequence);
}
