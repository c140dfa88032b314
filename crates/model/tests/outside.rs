//! Schemas and views of other crates: the generated code must not need anything that only the
//! model's own tests have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use roundtable_model::table::{Item, Value, item};
use roundtable_model::{
    Entity, Fields, FollowStatus, FromItem, Nickname, Tag, Time, UserId, nested, rekey,
    single_table,
};

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[fields(part)]
pub struct Place {
    pub name: String,
    pub metres: Option<i64>,
}
nested!(Place);

#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Visit {
    pub user_id: UserId,
    /// An attribute that sorts before the keys.
    #[attribute("At")]
    pub at: Place,
    /// An attribute that sorts after the type.
    pub version: u64,
    pub begun_at: Time,
    pub tags: Vec<Tag>,
    pub with: Vec<Option<Nickname>>,
    pub status: FollowStatus,
}

single_table! {
table Town "outside" (gsi1) streamed {
    Visit(user_id: UserId) + (begun_at, mut status) {
        main => "USER#{user_id}", "VISIT";
        gsi1 => "VISITS#{status}", "{begun_at}#{user_id}";
    }
}
access_patterns {
    visit(user: UserId) => main, "USER#{user}", "VISIT", strong -> Visit;
}
}

fn visit() -> Visit {
    Visit {
        user_id: "ana".parse().unwrap(),
        at: Place { name: "The hill".into(), metres: None },
        version: 3,
        begun_at: Time::EPOCH,
        tags: vec!["Sunrise".parse().unwrap()],
        with: vec![None, Some("bo".parse().unwrap())],
        status: FollowStatus::Pending,
    }
}

#[test]
fn an_item_has_fields_type_and_keys_in_ascending_order() {
    let expected = item! {
        "At" => Value::map([("name", "The hill")]),
        "GSI1PK" => "VISITS#pending",
        "GSI1SK" => "1970-01-01T00:00:00.000Z#ana",
        "PK" => "USER#ana",
        "SK" => "VISIT",
        "begunAt" => "1970-01-01T00:00:00.000Z",
        "status" => "pending",
        "tags" => Value::list(["Sunrise"]),
        "type" => "Visit",
        "userId" => "ana",
        "version" => 3,
        "with" => Value::L(vec![Value::Null, "bo".into()]),
    };
    assert_eq!(visit().item(), expected);
    assert_eq!(Visit::from_item(&expected).unwrap(), visit());
}

#[test]
fn an_error_names_the_invalid_field_or_type() {
    let refused = |item: Item| Visit::from_item(&item).unwrap_err().to_string();
    let item = visit().item();
    assert_eq!(
        refused(item.with("type", "Stranger").with("begunAt", "soon")),
        "expected Visit at USER#ana / VISIT, found Stranger"
    );
    assert_eq!(
        refused(item.with("type", 5)),
        "expected Visit at USER#ana / VISIT, found a type that is N"
    );
    assert_eq!(
        refused(item.project(&["PK".into(), "SK".into()])),
        "expected Visit at USER#ana / VISIT, found an item without a type"
    );
    assert_eq!(
        refused(item.with("begunAt", "soon")),
        "Visit at USER#ana / VISIT: begunAt: expected a time such as 2025-01-27T15:30:00.000Z, \
         found \"soon\""
    );
    assert_eq!(
        refused(item.with("At", Value::map([("name", 5)]))),
        "Visit at USER#ana / VISIT: At: expected text, found 5 in `name`"
    );
    // Other attributes are ignored.
    assert_eq!(Visit::from_item(&item.with("more", vec![0xff])).unwrap(), visit());
}

#[test]
fn a_rekey_writes_differences_and_every_index_key() {
    let before = visit();
    let mut after = before.clone();
    after.status = FollowStatus::Active;
    after.tags.clear();
    let update = rekey(&before, &after).unwrap();
    let paths: Vec<&str> = update.actions.iter().map(|action| action.path().name()).collect();
    let expected =
        ["status", "tags", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "version"];
    assert_eq!(paths, expected);
    after.user_id = "bo".parse().unwrap();
    let refused = rekey(&before, &after).unwrap_err().to_string();
    assert_eq!(refused, "Visit at USER#ana / VISIT: `userId` cannot change");
}

#[test]
fn a_table_has_its_shape() {
    assert_eq!(Town::SHAPE.name, "outside");
    assert_eq!(Visit::SHAPE.fields.len(), 7);
}
