//! Schemas and views of other crates: the generated code must not need anything that only the
//! model's own tests have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::table::{Attributes, Get, Item, ManualClock, Put, Store, Value, item};
use roundtable_model::{
    Entity, Fields, FollowStatus, FromItem, InvalidField, InvalidValue, Nickname, Tag, Time,
    UserId, nested, rekey, single_table,
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

/// Its first shape had its tags in one text, and the second a name instead of a title.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct Note {
    pub user_id: UserId,
    pub begun_at: Time,
    pub status: FollowStatus,
    pub tags: Vec<Tag>,
    pub title: String,
    pub version: u64,
}

impl Note {
    fn split_tags(item: &mut Attributes) -> Result<(), InvalidField> {
        let Some(Value::S(tags)) = item.get("tags") else {
            let reason = InvalidValue::new("tags in one text", "something else");
            return Err(InvalidField { field: "tags", reason });
        };
        let tags = Value::list(tags.split(',').map(Value::from).collect::<Vec<_>>());
        item.insert("tags".into(), tags);
        Ok(())
    }

    fn name_becomes_title(item: &mut Attributes) -> Result<(), InvalidField> {
        let reason = || InvalidValue::new("a name", "none");
        let name = item.remove("name");
        let name = name.ok_or_else(|| InvalidField { field: "title", reason: reason() })?;
        item.insert("title".into(), name);
        Ok(())
    }
}

single_table! {
table Town "outside" (gsi1) streamed {
    Visit(user_id: UserId) + (begun_at, mut status) {
        main => "USER#{user_id}", "VISIT";
        gsi1 => "VISITS#{status}", "{begun_at}#{user_id}";
    }
    Note(user_id: UserId) + (begun_at, mut status) upgraded by (split_tags, name_becomes_title) {
        main => "USER#{user_id}", "NOTE";
        gsi1 => "NOTES#{status}", "{begun_at}#{user_id}";
    }
}
access_patterns {
    note(user: UserId) => main, "USER#{user}", "NOTE", strong -> Note;
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

fn note() -> Note {
    Note {
        user_id: "ana".parse().unwrap(),
        begun_at: Time::EPOCH,
        status: FollowStatus::Pending,
        tags: vec!["Sunrise".parse().unwrap(), "Sunset".parse().unwrap()],
        title: "The hill".into(),
        version: 3,
    }
}

/// The item of a note in each of its shapes, the oldest first.
fn all_shapes() -> [Item; 3] {
    let first = item! {
        "GSI1PK" => "NOTES#pending",
        "GSI1SK" => "1970-01-01T00:00:00.000Z#ana",
        "PK" => "USER#ana",
        "SK" => "NOTE",
        "begunAt" => "1970-01-01T00:00:00.000Z",
        "name" => "The hill",
        "status" => "pending",
        "tags" => "Sunrise,Sunset",
        "type" => "Note",
        "userId" => "ana",
        "version" => 3,
    };
    let second = first.with("shape", 2).with("tags", Value::list(["Sunrise", "Sunset"]));
    [first, second, note().item()]
}

#[test]
fn items_of_older_shapes_are_upgraded_when_they_are_read() {
    assert_eq!(Note::SHAPE.number(), 3);
    for item in all_shapes() {
        assert_eq!(Note::from_item(&item).unwrap(), note(), "{item:?}");
        assert_eq!((Note::SHAPE.rewrite)(&item).unwrap(), note().item(), "{item:?}");
    }
    assert_eq!(all_shapes().map(|item| Note::SHAPE.is_older(&item)), [true, true, false]);
    assert_eq!(note().item().number("shape"), Some(3.into()));
    assert_eq!(visit().item().get("shape"), None, "an entity of one shape stores no number");
}

/// An older program must not misread an item, nor write it without what it does not know.
#[test]
fn an_item_of_a_newer_shape_is_refused() {
    let refused = |result: Option<roundtable_model::Error>| result.unwrap().to_string();
    assert_eq!(
        refused(Note::from_item(&note().item().with("shape", 4)).err()),
        "Note at USER#ana / NOTE has shape 4, and this version knows shapes up to 3: a newer version \
         has written it; use that version"
    );
    let newer = visit().item().with("shape", 2);
    let of_visit = "Visit at USER#ana / VISIT has shape 2, and this version knows shapes up to 1";
    assert!(refused(Visit::from_item(&newer).err()).starts_with(of_visit));
    assert!(refused(Visit::SHAPE.check_known(&newer).err()).starts_with(of_visit));
    assert!(refused((Visit::SHAPE.rewrite)(&newer).err()).starts_with(of_visit));
    assert_eq!(Visit::from_item(&visit().item().with("shape", 1)).unwrap(), visit());
    assert_eq!(
        refused(Visit::from_item(&visit().item().with("shape", "two")).err()),
        "Visit at USER#ana / VISIT: shape: expected the number of a shape, found the text \"two\""
    );
    assert!(Visit::from_item(&visit().item().with("shape", 0)).is_err());
}

#[test]
fn an_upgrade_that_fails_names_the_item_and_the_field() {
    let [first, ..] = all_shapes();
    let failed = Note::from_item(&first.with("tags", 5)).unwrap_err().to_string();
    let expected = "Note at USER#ana / NOTE: tags: expected tags in one text, found something else";
    assert_eq!(failed, expected);
}

/// Otherwise its fields would be of two shapes.
#[tokio::test]
async fn a_rekey_of_an_older_item_stores_the_current_shape() {
    let store = Store::new(Reference::new(Arc::new(ManualClock::at_ms(0))));
    let town = Town::on(store.create_table(Town::SHAPE.definition("town")).await.unwrap());
    for older in all_shapes() {
        town.table().put(Put::new(older)).await.unwrap();
        let before = town.note(&"ana".parse().unwrap()).get().await.unwrap().unwrap();
        let after = Note { status: FollowStatus::Active, ..before.clone() };
        town.table().update(rekey(&before, &after).unwrap()).await.unwrap();
        let read = town.table().get(Get::new(Note::at(&after.user_id)).strong()).await.unwrap();
        let (stored, expected) = (read.item.unwrap(), Note { version: 4, ..after }.item());
        for (name, value) in &expected {
            assert_eq!(stored.get(name), Some(value), "{name}");
        }
        assert_eq!(Note::from_item(&stored).unwrap().item(), expected);
    }
}
