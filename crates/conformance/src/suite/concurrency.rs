//! Concurrency: each item has one history, whichever task writes.

use std::future::Future;

use roundtable_table::{
    CancelReason, Delete, Error, Get, Path, Put, Query, Returning, Table, TableGet, Term,
    Transaction, Update, Value, attribute, exists, not_exists,
};

use super::steps::{get, key, number, put, row, sorts, subject, update};
use crate::TestBench;

/// Runs tasks concurrently; returns their results.
async fn together<T, F>(count: usize, each: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = (0..count).map(|at| tokio::spawn(each(at))).collect();
    let mut outcomes = Vec::new();
    for one in running {
        outcomes.push(one.await.unwrap());
    }
    outcomes
}

/// Does a transaction, and retries it on a conflict.
async fn insist(table: &Table, transaction: Transaction) -> Result<(), Error> {
    loop {
        match table.store().transact(transaction.clone()).await {
            Err(Error::Cancelled { reasons })
                if reasons.contains(&Some(CancelReason::Conflict)) => {}
            done => return done.map(|_| ()),
        }
    }
}

pub(super) async fn of_many_puts_if_absent_exactly_one_wins(bench: &TestBench) {
    let table = bench.table().await;
    let outcomes =
        together(16, |at| {
            let table = table.clone();
            let item = subject().with("by", u32::try_from(at).unwrap());
            async move {
                table.put(Put::new(item.clone()).when(not_exists("PK"))).await.ok().map(|_| item)
            }
        })
        .await;
    let winners: Vec<_> = outcomes.into_iter().flatten().collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(get(&table, key()).await.as_ref(), winners.first());
}

pub(super) async fn of_many_conditional_deletes_exactly_one_wins(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    let outcomes = together(12, |_| {
        let table = table.clone();
        async move { table.delete(Delete::new(key()).when(exists("PK"))).await.is_ok() }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
}

pub(super) async fn concurrent_counters_sum_up(bench: &TestBench) {
    let table = bench.table().await;
    together(10, |_| {
        let table = table.clone();
        async move {
            for _ in 0..10 {
                update(&table, Update::new(key()).add("n", 1)).await;
            }
        }
    })
    .await;
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 100)));
}

pub(super) async fn each_counting_sees_another_number(bench: &TestBench) {
    let table = bench.table().await;
    let mut seen = together(20, |_| {
        let table = table.clone();
        async move {
            let count = Update::new(key()).add("n", 1).returning(Returning::New);
            update(&table, count).await.item.unwrap().number("n").unwrap().to_u64().unwrap()
        }
    })
    .await;
    seen.sort_unstable();
    assert_eq!(seen, (1..=20).collect::<Vec<_>>());
}

pub(super) async fn concurrent_appends_are_all_kept(bench: &TestBench) {
    let table = bench.table().await;
    together(12, |at| {
        let table = table.clone();
        let one = Value::list([u32::try_from(at).unwrap()]);
        let start = Term::if_not_exists("l", Value::L(Vec::new()));
        async move { update(&table, Update::new(key()).set("l", start.append(one))).await }
    })
    .await;
    let item = get(&table, key()).await.unwrap();
    let Some(Value::L(list)) = item.get("l").map(roundtable_table::ValueRef::to_value) else {
        panic!("{item:?}");
    };
    let mut members: Vec<_> = list.iter().filter_map(Value::as_number).collect();
    members.sort();
    assert_eq!(members, (0..12).map(roundtable_table::Number::from).collect::<Vec<_>>());
}

pub(super) async fn concurrent_set_members_are_all_kept(bench: &TestBench) {
    let table = bench.table().await;
    together(12, |at| {
        let table = table.clone();
        let member = Value::texts([at.to_string()]);
        async move { update(&table, Update::new(key()).add("ss", member)).await }
    })
    .await;
    let item = get(&table, key()).await.unwrap();
    let expected = Value::texts((0..12).map(|at| at.to_string()));
    assert_eq!(item.get("ss").unwrap().to_value(), expected);
}

pub(super) async fn a_version_guards_against_lost_updates(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("version", 0).with("sum", 0)).await;
    together(5, |_| {
        let table = table.clone();
        async move {
            let mut done = 0;
            while done < 5 {
                let item = get(&table, key()).await.unwrap();
                let version = item.number("version").unwrap();
                let sum = item.number("sum").unwrap().checked_add(2.into()).unwrap();
                let attempt = Update::new(key())
                    .set("sum", sum)
                    .set("version", Term::Path(Path::new("version")).plus(1))
                    .when(attribute("version").eq(version));
                done += usize::from(table.update(attempt).await.is_ok());
            }
        }
    })
    .await;
    assert_eq!(get(&table, key()).await, Some(subject().with("version", 25).with("sum", 50)));
}

pub(super) async fn concurrent_transactions_on_the_same_items_sum_up(bench: &TestBench) {
    let table = bench.table().await;
    together(6, |_| {
        let table = table.clone();
        async move {
            for _ in 0..5 {
                let both = Transaction::new()
                    .with(&table, Update::new(("p", "a")).add("n", 1))
                    .with(&table, Update::new(("p", "b")).add("n", -1));
                insist(&table, both).await.unwrap();
            }
        }
    })
    .await;
    assert_eq!(get(&table, ("p", "a")).await, Some(row("p", "a").with("n", 30)));
    assert_eq!(get(&table, ("p", "b")).await, Some(row("p", "b").with("n", -30)));
}

pub(super) async fn transfers_keep_the_sum(bench: &TestBench) {
    let table = bench.table().await;
    for account in ["0", "1", "2"] {
        put(&table, row("p", account).with("n", 10)).await;
    }
    let movers = tokio::spawn({
        let table = table.clone();
        async move {
            together(3, |at| {
                let table = table.clone();
                async move {
                    for step in 0..8 {
                        let (from, to) = ((at + step) % 3, (at + step + 1) % 3);
                        let transfer = Transaction::new()
                            .with(
                                &table,
                                Update::new(("p", from.to_string()))
                                    .add("n", -4)
                                    .when(attribute("n").ge(4)),
                            )
                            .with(&table, Update::new(("p", to.to_string())).add("n", 4));
                        // If the balance is too low, the transaction is cancelled, which is fine.
                        let _ = insist(&table, transfer).await;
                    }
                }
            })
            .await
        }
    });
    let read =
        |sort: &str| TableGet { table: table.definition().clone(), get: Get::new(("p", sort)) };
    let check = || async {
        let found = bench.store.transact_get(vec![read("0"), read("1"), read("2")]).await.ok()?;
        let amounts: Vec<_> = found
            .items
            .iter()
            .flatten()
            .map(|item| item.number("n").unwrap().to_i64().unwrap())
            .collect();
        assert_eq!(amounts.iter().sum::<i64>(), 30, "{amounts:?}");
        assert!(amounts.iter().all(|amount| *amount >= 0), "{amounts:?}");
        Some(())
    };
    while !movers.is_finished() {
        check().await;
        tokio::task::yield_now().await;
    }
    movers.await.unwrap();
    while check().await.is_none() {}
}

pub(super) async fn of_many_transactions_for_one_name_exactly_one_wins(bench: &TestBench) {
    let table = bench.table().await;
    let outcomes = together(8, |at| {
        let table = table.clone();
        async move {
            let claim = Transaction::new()
                .with(&table, Put::new(row("name", "ana")).when(not_exists("PK")))
                .with(&table, Put::new(row("user", &at.to_string())));
            insist(&table, claim).await.is_ok()
        }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|won| **won).count(), 1);
    assert_eq!(sorts(&table, Query::new("user").strong()).await.len(), 1);
}

pub(super) async fn an_acknowledged_write_is_seen_by_everyone(bench: &TestBench) {
    let table = bench.table().await;
    for at in 0..20 {
        let item = subject().with("n", at);
        put(&table, item.clone()).await;
        let seen = together(3, |_| {
            let table = table.clone();
            async move { get(&table, key()).await }
        })
        .await;
        assert_eq!(seen, [Some(item.clone()), Some(item.clone()), Some(item)]);
    }
}

pub(super) async fn writers_of_different_items_do_not_disturb_each_other(bench: &TestBench) {
    let table = bench.table().await;
    together(8, |at| {
        let table = table.clone();
        async move {
            for _ in 0..10 {
                update(&table, Update::new(("p", at.to_string())).add("n", 1)).await;
            }
        }
    })
    .await;
    for at in 0..8 {
        let item = get(&table, ("p", at.to_string())).await.unwrap();
        assert_eq!(item.number("n"), Some(number("10")));
    }
}
