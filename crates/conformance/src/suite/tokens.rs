//! Transaction tokens: a repetition has no further effect, for ten minutes.

use roundtable_table::{
    Delete, Error, Invalid, Key, Limit, Put, Table, Transaction, Update, exists, limits, not_exists,
};

use super::steps::{cancelled, changes, get, invalid, key, long, number, put, refused, subject};
use crate::TestBench;

fn count(table: &Table) -> Transaction {
    Transaction::new().with(table, Update::new(key()).add("n", 1))
}

/// Tokens are shared by all tables of a server, so each case uses its own.
fn token(table: &Table, name: &str) -> String {
    let mut token = format!("{name}{}", table.definition().name.replace("case-", ""));
    token.truncate(limits::TOKEN_BYTES_MAX);
    token
}

async fn n(table: &Table) -> Option<roundtable_table::Number> {
    get(table, key()).await.and_then(|item| item.number("n"))
}

pub(super) async fn a_repetition_has_no_further_effect(bench: &TestBench) {
    let table = bench.table().await;
    let token = token(&table, "a");
    for _ in 0..3 {
        bench.store.transact(count(&table).token(&token)).await.unwrap();
    }
    assert_eq!(n(&table).await, Some(number("1")));
    changes(&table, 1).await;
}

pub(super) async fn a_repetition_succeeds_though_its_condition_no_longer_holds(bench: &TestBench) {
    let table = bench.table().await;
    let put = Put::new(subject().with("n", 1)).when(not_exists("PK"));
    let transaction = Transaction::new().with(&table, put).token(token(&table, "b"));
    bench.store.transact(transaction.clone()).await.unwrap();
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(n(&table).await, Some(number("1")));
}

pub(super) async fn a_repetition_does_not_undo_what_came_later(bench: &TestBench) {
    let table = bench.table().await;
    let transaction =
        Transaction::new().with(&table, Put::new(subject().with("n", 1))).token(token(&table, "c"));
    bench.store.transact(transaction.clone()).await.unwrap();
    put(&table, subject().with("n", 2)).await;
    bench.store.transact(transaction.clone()).await.unwrap();
    assert_eq!(n(&table).await, Some(number("2")));
    table.delete(Delete::new(key())).await.unwrap();
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(n(&table).await, None);
}

pub(super) async fn a_token_with_other_writes_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let token = token(&table, "d");
    bench.store.transact(count(&table).token(&token)).await.unwrap();
    let other = Transaction::new().with(&table, Update::new(key()).add("n", 2)).token(&token);
    let done = bench.store.transact(other).await;
    assert!(matches!(done, Err(Error::TokenReused)), "{done:?}");
    let more = count(&table).with(&table, Put::new(super::steps::row("q", "s"))).token(&token);
    let done = bench.store.transact(more).await;
    assert!(matches!(done, Err(Error::TokenReused)), "{done:?}");
    assert_eq!(n(&table).await, Some(number("1")));
}

pub(super) async fn a_token_tells_the_longest_keys_apart(bench: &TestBench) {
    let table = bench.table().await;
    let token = token(&table, "l");
    let delete = |end: &str| {
        let at = Key::new(long(2047) + end, "s");
        Transaction::new().with(&table, Delete::new(at)).token(&token)
    };
    bench.store.transact(delete("a")).await.unwrap();
    bench.store.transact(delete("a")).await.unwrap();
    let done = bench.store.transact(delete("b")).await;
    assert!(matches!(done, Err(Error::TokenReused)), "{done:?}");
}

pub(super) async fn different_tokens_are_different_transactions(bench: &TestBench) {
    let table = bench.table().await;
    bench.store.transact(count(&table).token(token(&table, "e"))).await.unwrap();
    bench.store.transact(count(&table).token(token(&table, "f"))).await.unwrap();
    bench.store.transact(count(&table)).await.unwrap();
    bench.store.transact(count(&table)).await.unwrap();
    assert_eq!(n(&table).await, Some(number("4")));
}

pub(super) async fn a_cancelled_transaction_may_be_tried_again(bench: &TestBench) {
    let table = bench.table().await;
    let attempt = Transaction::new()
        .with(&table, Update::new(key()).add("n", 1).when(exists("ready")))
        .token(token(&table, "g"));
    cancelled(bench.store.transact(attempt.clone()).await);
    put(&table, subject().with("ready", true)).await;
    bench.store.transact(attempt.clone()).await.unwrap();
    bench.store.transact(attempt).await.unwrap();
    assert_eq!(n(&table).await, Some(number("1")));
}

pub(super) async fn concurrent_repetitions_have_the_effect_of_one(bench: &TestBench) {
    let table = bench.table().await;
    let transaction = count(&table).token(token(&table, "h"));
    let attempts: Vec<_> = (0..8)
        .map(|_| {
            let (store, transaction) = (bench.store.clone(), transaction.clone());
            tokio::spawn(async move { store.transact(transaction).await })
        })
        .collect();
    let mut done = 0;
    for attempt in attempts {
        done += usize::from(attempt.await.unwrap().is_ok());
    }
    assert!(done >= 1);
    assert_eq!(n(&table).await, Some(number("1")));
}

pub(super) async fn a_token_is_remembered_for_ten_minutes(bench: &TestBench) {
    let table = bench.table().await;
    let transaction = count(&table).token(token(&table, "i"));
    bench.store.transact(transaction.clone()).await.unwrap();
    bench.clock.advance_ms(limits::TOKEN_LIFETIME_MS - 1000);
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(n(&table).await, Some(number("1")));
}

pub(super) async fn a_token_is_forgotten_after_ten_minutes(bench: &TestBench) {
    let table = bench.table().await;
    let transaction = count(&table).token(token(&table, "j"));
    bench.store.transact(transaction.clone()).await.unwrap();
    bench.clock.advance_ms(limits::TOKEN_LIFETIME_MS + 1000);
    bench.store.transact(transaction.clone()).await.unwrap();
    assert_eq!(n(&table).await, Some(number("2")));
    bench.store.transact(transaction).await.unwrap();
    assert_eq!(n(&table).await, Some(number("2")), "remembered anew");
}

pub(super) async fn a_token_of_36_bytes_fits_and_37_do_not(bench: &TestBench) {
    let table = bench.table().await;
    let full = format!("{:x<36}", token(&table, "k"));
    bench.store.transact(count(&table).token(&full)).await.unwrap();
    let token = long(37);
    let expected = Invalid::OverLimit {
        limit: Limit::TokenBytes,
        actual: 37,
        max: 36,
        subject: token.clone(),
    };
    refused(&table, bench.store.transact(count(&table).token(token)), expected).await;
}

pub(super) async fn an_empty_token_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let error = invalid(bench.store.transact(count(&table).token("")).await);
    assert!(matches!(error, Invalid::EmptyRequest { .. }));
    assert_eq!(n(&table).await, None);
}
