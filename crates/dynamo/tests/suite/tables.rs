//! Creating, describing, listing and deleting tables.

use roundtable_table::{Error, KeyDefinition, KeyKind, TableDefinition};

use crate::canned::CannedServer;
use crate::server::{Server, definition};

const MISSING: &str =
    r#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no"}"#;
const REFUSED: &str =
    r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}"#;
const ACTIVE: &str = r#"{"Table":{"TableName":"things","TableStatus":"ACTIVE"}}"#;
const NO_TTL: &str = r#"{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}"#;

fn ttl(attribute: &str) -> String {
    format!(
        r#"{{"TimeToLiveDescription":{{"TimeToLiveStatus":"ENABLING","AttributeName":"{attribute}"}}}}"#
    )
}

#[tokio::test]
async fn a_new_table_may_not_be_visible_yet() {
    let known = ttl("ttl");
    let server = CannedServer::start([
        (400, MISSING),
        (200, "{}"),
        (400, MISSING),
        (400, MISSING),
        (200, ACTIVE),
        (200, &known),
    ])
    .await;
    server.store.create_table(definition()).await.unwrap();
    assert_eq!(server.operations()[..2], ["DescribeTable", "CreateTable"]);
    assert_eq!(server.operations()[2..5], ["DescribeTable"; 3]);
}

#[tokio::test]
async fn another_process_may_enable_expiry_first() {
    let made = [(400, MISSING), (200, "{}"), (200, ACTIVE), (200, NO_TTL), (400, REFUSED)];
    let same = ttl("ttl");
    let server = CannedServer::start(made.into_iter().chain([(200, &*same)])).await;
    server.store.create_table(definition()).await.unwrap();
    let other = ttl("until");
    let server = CannedServer::start(made.into_iter().chain([(200, &*other)])).await;
    let rejected = server.store.create_table(definition()).await;
    assert!(matches!(rejected, Err(Error::Invalid(_))), "{rejected:?}");
}

#[tokio::test]
async fn a_table_is_described_as_it_was_defined() {
    let server = Server::start().await;
    server.table().await;
    let found = server.store.table("things").await.unwrap();
    assert_eq!(**found.definition(), definition());
}

#[tokio::test]
async fn creating_a_table_again_does_nothing_unless_it_differs() {
    let server = Server::start().await;
    server.table().await;
    server.reconnect().create_table(definition()).await.unwrap();
    let mut other = definition();
    other.indexes.pop();
    let rejected = server.store.create_table(other).await.unwrap_err();
    assert!(matches!(rejected, Error::TableExists { table } if table == "things"));
    let mut other = definition();
    other.ttl = Some("until".into());
    let rejected = server.store.create_table(other).await.unwrap_err();
    assert!(matches!(rejected, Error::TableExists { .. }));
}

#[tokio::test]
async fn tables_are_listed_by_name_and_can_be_deleted() {
    let server = Server::start().await;
    let numbers = KeyDefinition::partition("id").sorted_by("n", KeyKind::N);
    for name in ["zebra", "ant", "mole"] {
        server.store.create_table(TableDefinition::new(name, numbers.clone())).await.unwrap();
    }
    assert_eq!(server.store.list_tables().await.unwrap(), ["ant", "mole", "zebra"]);
    server.store.delete_table("mole").await.unwrap();
    assert_eq!(server.store.list_tables().await.unwrap(), ["ant", "zebra"]);
    let missing = server.store.table("mole").await.unwrap_err();
    assert!(matches!(missing, Error::TableNotFound { table } if table == "mole"));
    let missing = server.store.delete_table("mole").await.unwrap_err();
    assert!(matches!(missing, Error::TableNotFound { .. }));
}
