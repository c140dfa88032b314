//! Every entity by its name: how an item of it is read and judged by itself.

use roundtable_model::entities;
use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Item, Key, Number, ValueRef};
use roundtable_model::{Entity, Error, IndexKeys, Result, TYPE};

use crate::books::Entry;
use crate::finding::{Finding, Invariant, Remedy};
use crate::subject::{Subject, shown};
use crate::tell::{Rules, Tell};

/// Judges an item of one entity.
type Judge = fn(&Item, &Rules, &mut dyn FnMut(Entry), &mut dyn FnMut(Finding));

/// One entity.
pub(crate) struct Kind {
    /// What the page says about it.
    pub(crate) shape: &'static EntityShape,
    /// Its key and its index keys, as they follow from an item's fields.
    pub(crate) keys: fn(&Item) -> Result<(Key, IndexKeys)>,
    judge: Judge,
}

macro_rules! kinds {
    ($($entity:ident)*) => {
        /// The entity of this name.
        pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
            match name {
                $(stringify!($entity) => Some(&Kind {
                    shape: <entities::$entity as Entity>::SHAPE,
                    keys: keys::<entities::$entity>,
                    judge: judge::<entities::$entity>,
                }),)*
                _ => None,
            }
        }
    };
}

kinds! {
    User EmailLock NickLock HandleLock Credential Session Invitation UserCounter Follow Block Group
    GroupMember GroupCounter Goal Task Milestone Quest QuestStep XpEntry Activity ActorHead FeedItem
    FeedHorizon Promotion Room RoomHead RoomMember Message AssistThread AssistHelper AssistMsg Post
    ModerationCase PostCounter Comment Like Share CommentLike CommentCounter Report Notification
    Company Offer TagRef Upload Idempotency ApiKey Audit
    LoginAttempt Checkpoint Job DeadLetter Webhook SealedKey
}

/// The entity an item says it is.
pub(crate) fn kind_of(item: &Item) -> Option<&'static Kind> {
    item.text(TYPE).and_then(kind)
}

/// Judges an item by itself: that it is of one of `entities`, reads as it, and stands where its fields
/// say. What it tells about others goes to `say`, what is wrong with it to `find`.
pub(crate) fn judge_item(
    item: &Item,
    entities: &[&'static EntityShape],
    rules: &Rules,
    say: &mut dyn FnMut(Entry),
    find: &mut dyn FnMut(Finding),
) {
    let here = |kind: &&Kind| entities.iter().any(|shape| shape.name == kind.shape.name);
    if let Some(kind) = kind_of(item).filter(here) {
        return (kind.judge)(item, rules, say, find);
    }
    let found = match item.get(TYPE) {
        Some(ValueRef::S(name)) => format!("an item of type {name:?}"),
        Some(other) => format!("a type that is {}", other.kind()),
        None => String::from("an item without a type"),
    };
    let remedy = Remedy::None("nothing tells what it should be");
    let expected = "an entity of this table";
    find(Finding::new(Invariant::I3, key_shown(item), expected, found, remedy));
}

fn keys<E: Entity>(item: &Item) -> Result<(Key, IndexKeys)> {
    let entity = E::from_item(item)?;
    Ok((entity.key().into_key(), entity.index_keys()))
}

fn judge<E: Tell>(
    item: &Item,
    rules: &Rules,
    say: &mut dyn FnMut(Entry),
    find: &mut dyn FnMut(Finding),
) {
    let entity = match E::from_item(item).or_else(|error| counted_from_zero::<E>(item).ok_or(error))
    {
        Ok(entity) => entity,
        Err(error) => return find(unreadable::<E>(item, &error)),
    };
    let key = entity.key().into_key();
    if !stands_at(item, Index::Main, key.partition.as_text().zip(sort_of(&key))) {
        let expected = format!("{} at {}", E::SHAPE.name, shown(&key));
        let found = "it here, where nobody looks for it";
        let remedy = Remedy::None("nothing tells whether its key or its fields are right");
        // No fact for anybody: no question about it finds it.
        return find(Finding::new(Invariant::I3, key_shown(item), expected, found, remedy));
    }
    for (index, expected) in Index::SECONDARY.into_iter().zip(entity.index_keys()) {
        let expected = expected.as_ref().map(|(partition, sort)| (&**partition, &**sort));
        if !stands_at(item, index, expected) {
            let remedy = Remedy::Keys(key.clone());
            let (expected, found) = (in_index(index, expected), found_in(item, index));
            find(Finding::new(Invariant::I3, shown(&key), expected, found, remedy));
        }
    }
    if let Some((expected, found)) = entity.contradiction(item, rules) {
        let remedy = recount(&entity, item, rules);
        find(Finding::new(Invariant::I6, shown(&key), expected, found, remedy));
    }
    entity.tell(item, rules, say);
}

/// The entity of an item whose only fault is a count below zero: the books will tell what it should be.
fn counted_from_zero<E: Tell>(item: &Item) -> Option<E> {
    let below = |name: &&str| item.number(name).and_then(Number::to_i64).is_some_and(|n| n < 0);
    let below: Vec<&str> = E::COUNTS.iter().copied().filter(below).collect();
    let raised = below.iter().fold(item.clone(), |item, name| item.with(*name, 0));
    (!below.is_empty()).then(|| E::from_item(&raised).ok()).flatten()
}

/// What mends a counter that contradicts itself: what it states first names it.
fn recount<E: Tell>(entity: &E, item: &Item, rules: &Rules) -> Remedy {
    let mut subject: Option<Subject> = None;
    entity.tell(item, rules, &mut |entry| {
        subject.get_or_insert(entry.subject);
    });
    subject
        .map_or(Remedy::None("nothing tells what it counts"), |subject| Remedy::Count(subject, 0))
}

fn unreadable<E: Tell>(item: &Item, error: &Error) -> Finding {
    let (expected, found) = match error {
        Error::BadItem { entity, field, misfit, .. } => {
            (format!("{entity} with {} in {field}", misfit.expected), misfit.found.clone())
        }
        other => (E::SHAPE.name.to_owned(), other.to_string()),
    };
    let remedy = Remedy::None(if E::COUNTS.is_empty() {
        "nothing tells what its fields should be"
    } else {
        "it can be derived, once what is there is taken away"
    });
    Finding::new(Invariant::I3, key_shown(item), expected, found, remedy)
}

/// The key an item carries, for people.
pub(crate) fn key_shown(item: &Item) -> String {
    let part = |name| item.text(name).unwrap_or("?");
    let (partition, sort) = (Index::Main.partition_attribute(), Index::Main.sort_attribute());
    format!("{} / {}", part(partition), part(sort))
}

fn sort_of(key: &Key) -> Option<&str> {
    key.sort.as_ref().and_then(roundtable_model::table::Scalar::as_text)
}

/// Whether the key attributes of an item are these, or absent.
pub(crate) fn stands_at(item: &Item, index: Index, expected: Option<(&str, &str)>) -> bool {
    let (partition, sort) = (index.partition_attribute(), index.sort_attribute());
    match expected {
        Some((at, rank)) => item.text(partition) == Some(at) && item.text(sort) == Some(rank),
        None => item.get(partition).is_none() && item.get(sort).is_none(),
    }
}

fn in_index(index: Index, key: Option<(&str, &str)>) -> String {
    match key {
        Some((partition, sort)) => format!("{partition} / {sort} in {index}"),
        None => format!("nothing in {index}"),
    }
}

fn found_in(item: &Item, index: Index) -> String {
    let (partition, sort) = (index.partition_attribute(), index.sort_attribute());
    match (item.get(partition), item.get(sort)) {
        (None, None) => String::from("nothing"),
        (Some(ValueRef::S(partition)), Some(ValueRef::S(sort))) => format!("{partition} / {sort}"),
        (partition, sort) => format!("{partition:?} / {sort:?}"),
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::{SCHEMA, samples};

    use super::*;

    #[test]
    fn every_entity_of_the_schema_is_known() {
        for shape in SCHEMA.iter().flat_map(|table| table.entities) {
            let kind = kind(shape.name);
            assert!(kind.is_some(), "add {} to the list in kinds.rs and tell.rs", shape.name);
            assert_eq!(kind.map(|kind| kind.shape.name), Some(shape.name));
        }
    }

    #[test]
    fn every_sample_is_as_it_should_be() {
        let rules = Rules { score: roundtable_domain::ScoreSettings::default() };
        let all: Vec<&EntityShape> =
            SCHEMA.iter().flat_map(|table| table.entities).copied().collect();
        for (shape, item) in samples::typical() {
            let mut found = Vec::new();
            judge_item(&item, &all, &rules, &mut |_| {}, &mut |finding| found.push(finding));
            assert_eq!(found, [], "{}", shape.name);
        }
    }
}
