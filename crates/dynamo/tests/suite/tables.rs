//! Making, describing, listing and taking away tables.

use roundtable_table::{Error, KeyDefinition, KeyKind, TableDefinition};

use crate::server::{Server, definition};

#[tokio::test]
async fn a_table_is_described_as_it_was_defined() {
    let server = Server::start().await;
    server.table().await;
    let found = server.store.table("things").await.unwrap();
    assert_eq!(**found.definition(), definition());
}

#[tokio::test]
async fn making_a_table_again_does_nothing_unless_it_differs() {
    let server = Server::start().await;
    server.table().await;
    server.elsewhere().create_table(definition()).await.unwrap();
    let mut other = definition();
    other.indexes.pop();
    let refused = server.store.create_table(other).await.unwrap_err();
    assert!(matches!(refused, Error::TableExists { table } if table == "things"));
    let mut other = definition();
    other.ttl = Some("until".into());
    let refused = server.store.create_table(other).await.unwrap_err();
    assert!(matches!(refused, Error::TableExists { .. }));
}

#[tokio::test]
async fn tables_are_listed_by_name_and_can_go() {
    let server = Server::start().await;
    let numbers = KeyDefinition::partition("id").sorted_by("n", KeyKind::N);
    for name in ["zebra", "ant", "mole"] {
        server.store.create_table(TableDefinition::new(name, numbers.clone())).await.unwrap();
    }
    assert_eq!(server.store.list_tables().await.unwrap(), ["ant", "mole", "zebra"]);
    server.store.delete_table("mole").await.unwrap();
    assert_eq!(server.store.list_tables().await.unwrap(), ["ant", "zebra"]);
    let missing = server.store.table("mole").await.unwrap_err();
    assert!(matches!(missing, Error::TableMissing { table } if table == "mole"));
    let missing = server.store.delete_table("mole").await.unwrap_err();
    assert!(matches!(missing, Error::TableMissing { .. }));
}
