//! Retried requests, the number of attempts, and the final error.

use std::time::Duration;

use roundtable_table::{
    BatchGet, BatchWrite, CancelReason, Capacity, Error, Get, Invalid, Limit, Put, Sequence,
    StreamPage, StreamRead, StreamStart, TableGet, Transaction, Update, item, not_exists,
};

use crate::canned::CannedServer;

const OK: &str = "{}";
const THROTTLED: &str = r#"{"__type":"com.amazon.coral.availability#ThrottlingException"}"#;
const CONFLICT: &str = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    "CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict"}]}"#;

fn fault(name: &str) -> String {
    format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{name}","message":"no"}}"#)
}

#[tokio::test]
async fn unprocessed_writes_are_sent_again() {
    let left = r#"{"UnprocessedItems":{"things":[{"DeleteRequest":{"Key":{"PK":{"S":"a"},"SK":{"S":"2"}}}}]},
        "ConsumedCapacity":[{"TableName":"things","CapacityUnits":1.0}]}"#;
    let rest = r#"{"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"things","CapacityUnits":2.0}]}"#;
    let server = CannedServer::start([(200, left), (200, rest)]).await;
    let writes = vec![
        BatchWrite::Put(item! { "PK" => "a", "SK" => "1" }),
        BatchWrite::Delete(("a", "2").into()),
    ];
    let capacity = server.table.batch_write(writes).await.unwrap();
    assert_eq!(capacity, Capacity { read_halves: 0, write_units: 3 });
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].1.contains("PutRequest") && !requests[1].1.contains("PutRequest"));
}

#[tokio::test]
async fn unprocessed_reads_are_sent_again_a_limited_number_of_times() {
    let left = r#"{"Responses":{},"UnprocessedKeys":{"things":{"Keys":[{"PK":{"S":"a"},"SK":{"S":"1"}}]}}}"#;
    let found =
        r#"{"Responses":{"things":[{"PK":{"S":"a"},"SK":{"S":"1"}}]},"UnprocessedKeys":{}}"#;
    let server = CannedServer::start([(200, left), (200, found)]).await;
    let read = server.table.batch_get(BatchGet::new([("a", "1")])).await.unwrap();
    assert_eq!(read.items, [Some(item! { "PK" => "a", "SK" => "1" })]);
    let server = CannedServer::start([(200, left); 9]).await;
    let given_up = server.table.batch_get(BatchGet::new([("a", "1")])).await;
    assert!(matches!(given_up, Err(Error::Unavailable { .. })));
    assert_eq!(server.requests().len(), 4);
}

fn transaction(server: &CannedServer) -> Transaction {
    Transaction::new()
        .with(&server.table, Put::new(item! { "PK" => "a", "SK" => "1" }))
        .with(&server.table, Update::new(("a", "2")).add("n", 1))
}

fn tokens(server: &CannedServer) -> Vec<String> {
    let token = |body: &str| {
        let (_, after) = body.split_once(r#""ClientRequestToken":""#).unwrap();
        after.split('"').next().unwrap().to_owned()
    };
    server
        .requests()
        .iter()
        .filter(|(name, _)| name == "TransactWriteItems")
        .map(|(_, body)| token(body))
        .collect()
}

#[tokio::test]
async fn a_conflicting_transaction_is_retried_with_its_token() {
    let busy = fault("TransactionInProgressException");
    let server = CannedServer::start([(400, CONFLICT), (400, &*busy), (200, OK)]).await;
    server.store.transact(transaction(&server)).await.unwrap();
    let tokens = tokens(&server);
    assert_eq!(tokens.len(), 3);
    assert!(tokens.iter().all(|token| *token == tokens[0]));
}

#[tokio::test]
async fn a_persistent_conflict_is_reported() {
    let server = CannedServer::start([(400, CONFLICT); 9]).await;
    let Err(Error::Cancelled { reasons }) = server.store.transact(transaction(&server)).await
    else {
        panic!("must be cancelled");
    };
    assert_eq!(reasons, [None, Some(CancelReason::Conflict)]);
    assert_eq!(server.requests().len(), 4);
}

/// R33: a transaction that was only throttled has written nothing, and says so.
#[tokio::test]
async fn a_throttled_transaction_is_cancelled() {
    let server = CannedServer::start([(400, THROTTLED); 9]).await;
    let Err(Error::Cancelled { reasons }) = server.store.transact(transaction(&server)).await
    else {
        panic!("must be cancelled");
    };
    assert_eq!(reasons, [Some(CancelReason::Throttled), Some(CancelReason::Throttled)]);
    assert_eq!(server.requests().len(), 4);
}

/// R33: an attempt without an answer may have been executed, whatever the later ones are told.
#[tokio::test]
async fn a_transaction_with_a_lost_answer_is_never_reported_as_not_written() {
    let responses = [[(500, OK), (400, CONFLICT)], [(400, THROTTLED), (500, OK)]];
    for [first, then] in responses {
        let server = CannedServer::start([first, then, then, (400, THROTTLED)]).await;
        let unknown = server.store.transact(transaction(&server)).await;
        assert!(matches!(unknown, Err(Error::Unavailable { .. })), "{unknown:?}");
        let server = CannedServer::start([first, then, then, (400, CONFLICT)]).await;
        let unknown = server.store.transact(transaction(&server)).await;
        assert!(matches!(unknown, Err(Error::Unavailable { .. })), "{unknown:?}");
    }
}

#[tokio::test]
async fn a_rebuilt_transaction_has_another_token() {
    let expired = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed",
            "Item":{"PK":{"S":"a"},"SK":{"S":"2"},"ttl":{"N":"1"}}}]}"#;
    let server = CannedServer::start([(400, expired), (200, OK), (200, OK)]).await;
    server.store.transact(transaction(&server)).await.unwrap();
    assert_eq!(server.operations(), ["TransactWriteItems", "DeleteItem", "TransactWriteItems"]);
    let tokens = tokens(&server);
    assert_ne!(tokens[0], tokens[1]);
}

#[tokio::test]
async fn a_write_that_conflicts_with_a_transaction_is_retried() {
    let conflict = fault("TransactionConflictException");
    let server = CannedServer::start([(400, &*conflict), (200, OK)]).await;
    server.table.put(Put::new(item! { "PK" => "a", "SK" => "1" })).await.unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_write_that_may_have_happened_is_not_repeated_unless_idempotent() {
    let put = || Put::new(item! { "PK" => "a", "SK" => "1" });
    let server = CannedServer::start([(500, OK), (200, OK)]).await;
    server.table.put(put()).await.unwrap();
    assert_eq!(server.requests().len(), 2, "a plain put can be repeated");
    let server = CannedServer::start([(500, OK), (200, OK)]).await;
    let unknown = server.table.put(put().when(not_exists("PK"))).await;
    assert!(matches!(unknown, Err(Error::Unavailable { .. })));
    assert_eq!(server.requests().len(), 1);
    let server = CannedServer::start([(500, OK), (200, OK)]).await;
    let unknown = server.table.update(Update::new(("a", "1")).add("n", 1)).await;
    assert!(matches!(unknown, Err(Error::Unavailable { .. })));
    let server = CannedServer::start([(400, THROTTLED), (200, OK)]).await;
    server.table.update(Update::new(("a", "1")).add("n", 1)).await.unwrap();
    let server = CannedServer::start([(500, OK), (200, OK)]).await;
    server.store.transact(transaction(&server)).await.unwrap();
    assert_eq!(tokens(&server).len(), 2, "a transaction is repeated under its token");
}

#[tokio::test]
async fn all_attempts_of_a_request_count_against_one_limit() {
    let mixed = [(400, THROTTLED), (500, OK), (400, THROTTLED), (500, OK), (200, OK)];
    let server = CannedServer::start(mixed).await;
    let put = server.table.put(Put::new(item! { "PK" => "a", "SK" => "1" })).await;
    assert!(matches!(put, Err(Error::Unavailable { .. })));
    assert_eq!(server.requests().len(), 4, "a plain put");
    let server = CannedServer::start(mixed).await;
    let done = server.store.transact(transaction(&server)).await;
    assert!(matches!(done, Err(Error::Unavailable { .. })));
    assert_eq!(tokens(&server).len(), 4, "a transaction");
    let server = CannedServer::start(mixed).await;
    let read = server.table.batch_get(BatchGet::new([("a", "1")])).await;
    assert!(matches!(read, Err(Error::Unavailable { .. })));
    assert_eq!(server.requests().len(), 4, "a batch");
}

#[tokio::test]
async fn a_write_over_the_request_limit_is_retried() {
    let over = fault("RequestLimitExceeded");
    let server = CannedServer::start([(400, &*over), (200, OK)]).await;
    server.table.update(Update::new(("a", "1")).add("n", 1)).await.unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn items_too_large_to_read_together_are_reported_with_their_size() {
    let rejected = fault("ValidationException");
    let large = "x".repeat(399 * 1024);
    let item = format!(r#"{{"Item":{{"PK":{{"S":"a"}},"SK":{{"S":"s"}},"t":{{"S":"{large}"}}}}}}"#);
    let mut responses = vec![(400, &*rejected)];
    responses.extend([(200, &*item); 11]);
    let server = CannedServer::start(responses).await;
    let get = |n: usize| TableGet {
        table: server.table.definition().clone(),
        get: Get::new(("a", n.to_string())),
    };
    let done = server.store.transact_get((0..11).map(get).collect()).await;
    let Err(Error::Invalid(Invalid::OverLimit { limit, actual, .. })) = done else {
        panic!("{done:?}");
    };
    assert_eq!((limit, actual), (Limit::TransactionBytes, 11 * (399 * 1024 + 7)));
    let server = CannedServer::start([(400, &*rejected), (200, OK)]).await;
    let done = server.store.transact_get(vec![get(0)]).await;
    assert!(matches!(done, Err(Error::Invalid(Invalid::Rejected { .. }))), "{done:?}");
}

#[tokio::test]
async fn failures_are_retried_and_then_reported_as_unavailable() {
    let server = CannedServer::start([(400, THROTTLED), (500, OK), (200, OK)]).await;
    assert!(server.table.get(Get::new(("a", "1"))).await.unwrap().item.is_none());
    let server = CannedServer::start([]).await;
    let failed = server.table.get(Get::new(("a", "1"))).await;
    assert!(matches!(failed, Err(Error::Unavailable { .. })));
    assert_eq!(server.requests().len(), 4);
    let denied = fault("AccessDeniedException");
    let server = CannedServer::start([(400, &*denied)]).await;
    let failed = server.table.get(Get::new(("a", "1"))).await;
    assert!(matches!(failed, Err(Error::Denied { detail, .. }) if detail.contains("AccessDenied")));
    assert_eq!(server.requests().len(), 1);
}

const TABLE: &str = r#"{"Table":{"TableName":"things","LatestStreamArn":"arn:s"}}"#;
const ITERATOR: &str = r#"{"ShardIterator":"i"}"#;
const EMPTY: &str = r#"{"Records":[],"NextShardIterator":"i"}"#;

fn record(sequence: u64, rest: &str) -> String {
    format!(
        r#"{{"Records":[{{"dynamodb":{{"SequenceNumber":"{sequence:021}",
        "ApproximateCreationDateTime":1893456000,"Keys":{{"PK":{{"S":"a"}},"SK":{{"S":"1"}}}},
        "OldImage":{{"PK":{{"S":"a"}},"SK":{{"S":"1"}}}}}}{rest}"#
    )
}

fn read(start: StreamStart) -> StreamRead {
    StreamRead::new("shard", start).limit(10)
}

#[tokio::test]
async fn a_continued_read_takes_one_request() {
    let one = record(5, r#"}],"NextShardIterator":"j"}"#);
    let server = CannedServer::start([
        (200, TABLE),
        (200, ITERATOR),
        (200, &*one),
        (200, EMPTY),
        (200, EMPTY),
    ])
    .await;
    let page = server.table.stream_read(read(StreamStart::Oldest)).await.unwrap();
    assert_eq!(page.next, Some(Sequence::from(5)));
    assert!(!page.changes[0].expired && !page.ended);
    let after = StreamStart::After(Sequence::from(5));
    let empty = server.table.stream_read(read(after.clone())).await.unwrap();
    assert_eq!(empty, StreamPage { next: Some(Sequence::from(5)), ..StreamPage::default() });
    server.table.stream_read(read(after)).await.unwrap();
    assert_eq!(
        server.operations(),
        ["DescribeTable", "GetShardIterator", "GetRecords", "GetRecords", "GetRecords"]
    );
    assert!(server.requests()[3].1.contains(r#""ShardIterator":"j""#));
}

#[tokio::test]
async fn empty_responses_are_skipped_and_the_end_is_detected() {
    let swept = r#","userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}}]}"#;
    let last = record(7, swept);
    let server = CannedServer::start([
        (200, TABLE),
        (200, ITERATOR),
        (200, EMPTY),
        (200, EMPTY),
        (200, &*last),
    ])
    .await;
    let patient = StreamRead { wait: Duration::MAX, ..read(StreamStart::Oldest) };
    let page = server.table.stream_read(patient).await.unwrap();
    assert!(page.ended);
    assert!(page.changes[0].expired);
    assert_eq!(page.changes[0].at_ms, 1_893_456_000_000);
}

#[tokio::test]
async fn an_expired_iterator_is_replaced() {
    let stale = fault("ExpiredIteratorException");
    let one = record(5, r#"}],"NextShardIterator":"j"}"#);
    let two = record(6, r#"}],"NextShardIterator":"k"}"#);
    let server = CannedServer::start([
        (200, TABLE),
        (200, ITERATOR),
        (200, &*one),
        (400, &*stale),
        (200, ITERATOR),
        (200, &*two),
    ])
    .await;
    server.table.stream_read(read(StreamStart::Oldest)).await.unwrap();
    let page = server.table.stream_read(read(StreamStart::After(Sequence::from(5)))).await.unwrap();
    assert_eq!(page.next, Some(Sequence::from(6)));
    assert!(server.requests()[4].1.contains("000000000000000000005"));
}

#[tokio::test]
async fn a_trimmed_position_is_reported() {
    let trimmed = fault("TrimmedDataAccessException");
    let server = CannedServer::start([(200, TABLE), (400, &*trimmed)]).await;
    let gone = server.table.stream_read(read(StreamStart::After(Sequence::from(5)))).await;
    assert!(matches!(gone, Err(Error::StreamTrimmed { after, .. }) if after == "5"));
}

#[tokio::test]
async fn shards_are_listed_page_by_page() {
    let first = r#"{"StreamDescription":{"LastEvaluatedShardId":"b",
        "Shards":[{"ShardId":"c","ParentShardId":"b"},{"ShardId":"b","ParentShardId":"gone"}]}}"#;
    let second = r#"{"StreamDescription":{"Shards":[{"ShardId":"d","ParentShardId":"c"}]}}"#;
    let server = CannedServer::start([(200, TABLE), (200, first), (200, second)]).await;
    let shards = server.table.stream_shards().await.unwrap();
    let shown: Vec<_> =
        shards.iter().map(|shard| (shard.id.as_str(), shard.parent.as_deref())).collect();
    assert_eq!(shown, [("b", None), ("c", Some("b")), ("d", Some("c"))]);
}
