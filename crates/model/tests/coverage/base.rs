//! The common requirements of all documents: the table, its indexes, and the format of items.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_model::shape::{Index, PatternSort, TableShape};
use roundtable_model::{Core, IdGenerator, LoginAttempts, SCHEMA, Time, UserId, samples};
use roundtable_table::{IndexProjection, KeyDefinition, ManualClock, ValueRef};

use crate::sides::NOW_MS;

/// R1: `gg_core` with its keys, three indexes of all attributes, expiry and a stream. The backend
/// and the generated infrastructure add on-demand billing.
#[test]
fn the_table_is_defined_as_in_the_documents() {
    assert_eq!(SCHEMA.first().map(|table| table.name), Some("gg_core"));
    let table = Core::SHAPE.definition(Core::SHAPE.name);
    assert_eq!(table.check(), Ok(()));
    assert_eq!(table.key, KeyDefinition::texts("PK", "SK"));
    let indexes: Vec<_> = table.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(indexes, ["GSI1", "GSI2", "GSI3"]);
    for index in &table.indexes {
        let name = &index.name;
        assert_eq!(index.key, KeyDefinition::texts(format!("{name}PK"), format!("{name}SK")));
        assert_eq!(index.projection, IndexProjection::All);
    }
    assert_eq!(table.ttl.as_deref(), Some("ttl"));
    assert!(table.stream);
}

/// R5: failed sign-ins have their own table, with expiry and without a stream.
#[test]
fn failed_sign_ins_have_their_own_table() {
    let table = LoginAttempts::SHAPE.definition(LoginAttempts::SHAPE.name);
    assert!(!table.stream && table.ttl.is_some() && table.indexes.is_empty());
}

/// R2: every index key serves an access pattern, or the purge of an owner.
#[test]
fn every_index_key_serves_a_pattern_or_a_purge() {
    let entities = SCHEMA.iter().flat_map(|table| table.entities.iter().map(move |e| (table, e)));
    for (table, entity) in entities {
        let purged: Vec<usize> =
            entity.owners.iter().flat_map(|owner| owner.keys).copied().collect();
        let keys = entity.keys.iter().enumerate().filter(|(_, key)| key.index != Index::Main);
        for (_, key) in keys.filter(|(nth, _)| !purged.contains(nth)) {
            let (partition, sort) = (key.partition.prefix(), key.sort.text);
            let served = patterns_of(table, entity.name, key.index)
                .any(|(asked, begins)| asked == partition && sort.starts_with(begins));
            assert!(served, "{} in {}: {partition} {sort}", entity.name, key.index);
        }
    }
}

/// Returns the partition and sort key prefixes that patterns read of an entity in an index.
fn patterns_of(
    table: &TableShape,
    entity: &str,
    index: Index,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let asked = table.patterns.iter();
    let asked = asked.filter(move |pattern| pattern.entity == entity && pattern.index == index);
    asked.map(|pattern| {
        let sort = pattern.sort.template().map_or("", |template| template.prefix());
        let sort = if matches!(pattern.sort, PatternSort::All) { "" } else { sort };
        (pattern.partition.prefix(), sort)
    })
}

/// R3: `type` on every item, camelCase, ISO times that sort, and prefixes in keys only.
#[test]
fn every_item_follows_the_conventions() {
    let keys: BTreeSet<&str> = [Index::Main, Index::Gsi1, Index::Gsi2, Index::Gsi3]
        .into_iter()
        .flat_map(|index| [index.partition_attribute(), index.sort_attribute()])
        .collect();
    for (entity, item) in samples::typical() {
        assert_eq!(item.text("type"), Some(entity.name));
        for (name, value) in item.iter().filter(|(name, _)| !keys.contains(name)) {
            let place = format!("{} {name}", entity.name);
            assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{place}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{place}");
            let field = entity.fields.iter().find(|field| field.attribute == name);
            match (value, field.map(|field| field.kind)) {
                (ValueRef::S(text), Some("time")) => {
                    assert_eq!(
                        text.parse::<Time>().map(|time| time.to_string()).as_deref(),
                        Ok(text)
                    );
                    assert_eq!(text.len(), 24, "{place}");
                }
                (ValueRef::S(text), Some(kind)) if kind.ends_with("Id") => {
                    assert!(!text.contains('#'), "{place}: {text}");
                }
                _ => {}
            }
        }
    }
}

/// R3: ids are ULIDs that increase, also within a millisecond.
#[test]
fn new_ids_are_increasing_ulids() {
    let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(NOW_MS)), [7; 32]);
    let made: Vec<UserId> = (0..100).map(|_| ids.next()).collect();
    assert!(made.is_sorted_by(|one, next| one < next));
    assert!(made.iter().all(|id| id.to_string().len() == 26));
    assert!(made.iter().all(|id| id.time() == Some(Time::from_ms(NOW_MS))));
}
