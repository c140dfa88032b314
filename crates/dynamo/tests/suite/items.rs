//! Single items: reads, writes, conditions, invalid requests, batches.

use roundtable_table::{
    BatchGet, BatchWrite, Delete, Error, Get, Invalid, Path, Put, Returning, Term, Update, Value,
    attribute, exists, item, not_exists,
};

use crate::server::Server;

#[tokio::test]
async fn an_item_comes_back_as_it_was_put() {
    let server = Server::start().await;
    let table = server.table().await;
    let item = item! {
        "PK" => "a", "SK" => "1",
        "text" => "é", "number" => "-1.5e-7".parse::<roundtable_table::Number>().unwrap(),
        "bytes" => vec![0u8, 255], "yes" => true, "null" => Value::Null,
        "list" => Value::list([1, 2]), "map" => Value::map([("x", 1)]),
        "texts" => Value::texts(["a", "b"]), "numbers" => Value::numbers([1, 2]),
        "empty" => "", "none" => Value::L(vec![]),
    };
    let written = table.put(Put::new(item.clone()).returning(Returning::New)).await.unwrap();
    assert_eq!(written.item, Some(item.clone()));
    assert!(written.capacity.write_units >= 1);
    let found = table.get(Get::new(("a", "1")).strong()).await.unwrap();
    assert_eq!(found.item, Some(item));
    assert_eq!(found.capacity.read_halves, 2);
    assert_eq!(table.get(Get::new(("a", "2"))).await.unwrap().item, None);
}

#[tokio::test]
async fn a_projection_returns_only_the_requested_paths() {
    let server = Server::start().await;
    let table = server.table().await;
    let far = crate::server::START + 1000;
    let item =
        item! { "PK" => "a", "SK" => "1", "x" => 1, "ttl" => far, "l" => Value::list([1, 2, 3]) };
    table.put(Put::new(item)).await.unwrap();
    let get = Get::new(("a", "1")).project([Path::new("x"), Path::new("l").index(1)]);
    let expected = item! { "x" => 1, "l" => Value::list([2]) };
    assert_eq!(table.get(get).await.unwrap().item, Some(expected));
    let nothing = Get::new(("a", "1")).project(["nothing"]);
    assert_eq!(table.get(nothing).await.unwrap().item, Some(item! {}));
}

#[tokio::test]
async fn a_failed_condition_returns_the_item_if_requested() {
    let server = Server::start().await;
    let table = server.table().await;
    let first = item! { "PK" => "a", "SK" => "1", "n" => 1 };
    table.put(Put::new(first.clone()).when(not_exists("PK"))).await.unwrap();
    let again = Put::new(item! { "PK" => "a", "SK" => "1" }).when(not_exists("PK"));
    let failed = table.put(again.clone()).await.unwrap_err();
    assert!(matches!(failed, Error::ConditionFailed { item: None }));
    let failed = table.put(again.returning(Returning::Old)).await.unwrap_err();
    assert!(matches!(failed, Error::ConditionFailed { item: Some(item) } if *item == first));
    let delete = Delete::new(("a", "1")).when(attribute("n").gt(1)).returning(Returning::Old);
    let failed = table.delete(delete).await.unwrap_err();
    assert!(matches!(failed, Error::ConditionFailed { item: Some(item) } if *item == first));
    let gone = table.delete(Delete::new(("a", "1")).returning(Returning::Old)).await.unwrap();
    assert_eq!(gone.item, Some(first));
}

#[tokio::test]
async fn updates_apply_their_actions() {
    let server = Server::start().await;
    let table = server.table().await;
    let update = Update::new(("a", "1"))
        .set("count", Term::if_not_exists("count", 10).plus(1))
        .add("tags", Value::texts(["x", "y"]))
        .set("map", Value::map([("k", 1)]))
        .returning(Returning::New);
    let written = table.update(update).await.unwrap();
    let expected = item! {
        "PK" => "a", "SK" => "1", "count" => 11, "tags" => Value::texts(["x", "y"]),
        "map" => Value::map([("k", 1)]),
    };
    assert_eq!(written.item, Some(expected.clone()));
    let update = Update::new(("a", "1"))
        .set(Path::new("map").field("k"), 2)
        .subtract("tags", Value::texts(["x"]))
        .remove("count")
        .when(exists("count"))
        .returning(Returning::Old);
    assert_eq!(table.update(update.clone()).await.unwrap().item, Some(expected));
    assert!(matches!(table.update(update).await, Err(Error::ConditionFailed { item: Some(_) })));
    let empty = table.update(Update::new(("b", "1")).returning(Returning::New)).await.unwrap();
    assert_eq!(empty.item, Some(item! { "PK" => "b", "SK" => "1" }));
}

#[tokio::test]
async fn an_invalid_update_names_its_fault() {
    let server = Server::start().await;
    let table = server.table().await;
    table.put(Put::new(item! { "PK" => "a", "SK" => "1", "text" => "x" })).await.unwrap();
    let update = || Update::new(("a", "1"));
    let fault = async |update| match table.update(update).await {
        Err(Error::Invalid(invalid)) => invalid,
        other => panic!("expected a fault, got {other:?}"),
    };
    let path = Path::new("no").field("where");
    let rejected = fault(update().set(path.clone(), 1)).await;
    assert!(matches!(rejected, Invalid::PathMissing { path: at, .. } if at == path));
    let rejected = fault(update().set("b", Path::new("absent"))).await;
    assert!(matches!(rejected, Invalid::PathMissing { .. }));
    let rejected = fault(update().add("text", 1)).await;
    assert!(matches!(rejected, Invalid::OperandType { action: "ADD", .. }));
    let rejected = fault(update().set("GSI1PK", 5)).await;
    assert!(matches!(rejected, Invalid::IndexKey { index, .. } if index == "gsi1"));
    let rejected = fault(update().set("big", "x".repeat(400 * 1024))).await;
    assert!(matches!(rejected, Invalid::OverLimit { .. }));
}

#[tokio::test]
async fn conditions_of_every_kind_have_the_same_result_on_the_server() {
    let server = Server::start().await;
    let table = server.table().await;
    let item = item! {
        "PK" => "a", "SK" => "1", "n" => 5, "t" => "hello", "s" => Value::texts(["x"]),
        "l" => Value::list(["a", "b"]), "b" => true, "ttl" => crate::server::START + 9,
    };
    table.put(Put::new(item.clone())).await.unwrap();
    let conditions = [
        attribute("n").eq(5),
        attribute("n").ne("5"),
        attribute("n").lt("z"),
        attribute("n").between(5, 9),
        attribute("n").one_of([1, 5]),
        attribute("b").eq(true),
        attribute("absent").ne(1),
        attribute("absent").eq(1),
        roundtable_table::size_of("t").eq(5),
        roundtable_table::Condition::BeginsWith("t".into(), "he".into()),
        roundtable_table::Condition::Contains("t".into(), "ell".into()),
        roundtable_table::Condition::Contains("s".into(), "x".into()),
        roundtable_table::Condition::Contains("l".into(), "c".into()),
        roundtable_table::Condition::IsA("s".into(), roundtable_table::ValueKind::Ss),
        roundtable_table::Condition::All(vec![]),
        roundtable_table::Condition::Any(vec![]),
        exists(Path::new("l").index(1)).and(not_exists(Path::new("l").index(2))),
        attribute("n").eq(1).or(attribute("t").eq("hello")).and(exists("b")).negate(),
    ];
    for condition in conditions {
        let expected = condition.holds(Some(&item));
        let put = Put::new(item.clone()).when(condition.clone());
        match table.put(put).await {
            Ok(_) => assert!(expected, "{condition:?} held"),
            Err(Error::ConditionFailed { .. }) => assert!(!expected, "{condition:?} failed"),
            Err(other) => panic!("{condition:?}: {other}"),
        }
    }
}

#[tokio::test]
async fn a_batch_read_returns_items_in_the_order_of_its_keys() {
    let server = Server::start().await;
    let table = server.table().await;
    let puts = (0..25)
        .map(|n| BatchWrite::Put(item! { "PK" => "a", "SK" => format!("{n:02}"), "n" => n }));
    let capacity = table.batch_write(puts.collect()).await.unwrap();
    assert!(capacity.write_units >= 25);
    table.batch_write(vec![BatchWrite::Delete(("a", "03").into())]).await.unwrap();
    let keys = ["07", "03", "00"].map(|sort| ("a", sort));
    let found = table.batch_get(BatchGet::new(keys).strong().project(["n"])).await.unwrap();
    assert_eq!(found.items, [Some(item! { "n" => 7 }), None, Some(item! { "n" => 0 })]);
    assert!(found.capacity.read_halves >= 3);
}

#[tokio::test]
async fn the_error_names_a_missing_table() {
    let server = Server::start().await;
    let table = server.store.table_as(crate::server::definition());
    let missing = table.get(Get::new(("a", "1"))).await.unwrap_err();
    assert!(matches!(missing, Error::TableNotFound { table } if table == "things"));
}
