//! Checks of a single item, for every entity by its name.

use roundtable_model::entities;
use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Item, Key, Number, ValueRef};
use roundtable_model::{Entity, Error, IndexKeys, Result, TYPE};

use crate::finding::{Finding, Invariant, Repair};
use crate::subject::{TallySubject, key_text};
use crate::tally::TallyEntry;
use crate::tally_source::{CheckRules, TallySource};

type CheckItemFn = fn(&Item, &CheckRules, &mut dyn FnMut(TallyEntry), &mut dyn FnMut(Finding));

/// The check of one entity.
pub(crate) struct EntityCheck {
    pub(crate) shape: &'static EntityShape,
    /// Derives the key and the index keys from an item's fields.
    pub(crate) keys: fn(&Item) -> Result<(Key, IndexKeys)>,
    check: CheckItemFn,
}

macro_rules! entity_checks {
    ($(($entity:ident $sample:ident))*) => {
        pub(crate) fn entity_check(name: &str) -> Option<&'static EntityCheck> {
            match name {
                $(stringify!($entity) => Some(&EntityCheck {
                    shape: <entities::$entity as Entity>::SHAPE,
                    keys: keys::<entities::$entity>,
                    check: check::<entities::$entity>,
                }),)*
                _ => None,
            }
        }
    };
}

roundtable_model::with_entities!(entity_checks);

/// The check of the entity that an item's type names.
pub(crate) fn entity_check_of(item: &Item) -> Option<&'static EntityCheck> {
    item.text(TYPE).and_then(entity_check)
}

/// Checks that an item is one of `entities`, can be read as such, and has the keys that follow from
/// its fields.
pub(crate) fn check_item(
    item: &Item,
    entities: &[&'static EntityShape],
    rules: &CheckRules,
    emit: &mut dyn FnMut(TallyEntry),
    report: &mut dyn FnMut(Finding),
) {
    let is_of_table = |entity_check: &&EntityCheck| {
        entities.iter().any(|shape| shape.name == entity_check.shape.name)
    };
    if let Some(entity_check) = entity_check_of(item).filter(is_of_table) {
        return (entity_check.check)(item, rules, emit, report);
    }
    let found = match item.get(TYPE) {
        Some(ValueRef::S(name)) => format!("an item of type {name:?}"),
        Some(other) => format!("a type that is {}", other.kind()),
        None => String::from("an item without a type"),
    };
    let repair = Repair::None("its type is unknown: delete it, or restore it from a backup");
    let expected = "an entity of this table";
    report(Finding::new(Invariant::I3, item_key(item), expected, found, repair));
}

fn keys<E: Entity>(item: &Item) -> Result<(Key, IndexKeys)> {
    let entity = E::from_item(item)?;
    Ok((entity.key().into_key(), entity.index_keys()))
}

fn check<E: TallySource>(
    item: &Item,
    rules: &CheckRules,
    emit: &mut dyn FnMut(TallyEntry),
    report: &mut dyn FnMut(Finding),
) {
    let entity = match E::from_item(item).or_else(|error| with_zero_counts::<E>(item).ok_or(error))
    {
        Ok(entity) => entity,
        Err(error) => return report(unreadable_finding::<E>(item, &error)),
    };
    let key = entity.key().into_key();
    if !has_keys(item, Index::Main, key.partition.as_text().zip(sort_of(&key))) {
        let expected = format!("{} at {}", E::SHAPE.name, key_text(&key));
        let found = "it under this key, where no query looks for it";
        let repair = Repair::None("either its key or its fields may be wrong");
        // It counts nowhere, because no query finds it.
        return report(Finding::new(Invariant::I3, item_key(item), expected, found, repair));
    }
    for (index, expected) in Index::SECONDARY.into_iter().zip(entity.index_keys()) {
        let expected = expected.as_ref().map(|(partition, sort)| (&**partition, &**sort));
        // A key that came with a newer shape is written when the item is upgraded.
        let waits_for_upgrade = || E::SHAPE.is_older(item) && has_keys(item, index, None);
        if !has_keys(item, index, expected) && !waits_for_upgrade() {
            let repair = Repair::RewriteIndexKeys(key.clone());
            let (expected, found) = (expected_key(index, expected), actual_key(item, index));
            report(Finding::new(Invariant::I3, key_text(&key), expected, found, repair));
        }
    }
    if let Some((expected, found)) = entity.contradiction(item, rules) {
        let repair = recount_action(&entity, item, rules);
        report(Finding::new(Invariant::I6, key_text(&key), expected, found, repair));
    }
    entity.emit_entries(item, rules, emit);
}

/// Reads an item whose only fault is a negative count: the tallies show the right number.
fn with_zero_counts<E: TallySource>(item: &Item) -> Option<E> {
    let negative = |name: &&str| item.number(name).and_then(Number::to_i64).is_some_and(|n| n < 0);
    let negative: Vec<&str> = E::COUNTS.iter().copied().filter(negative).collect();
    let raised = negative.iter().fold(item.clone(), |item, name| item.with(*name, 0));
    (!negative.is_empty()).then(|| E::from_item(&raised).ok()).flatten()
}

/// The repair of a counter that contradicts itself; its first entry names the subject.
fn recount_action<E: TallySource>(entity: &E, item: &Item, rules: &CheckRules) -> Repair {
    let mut subject: Option<TallySubject> = None;
    entity.emit_entries(item, rules, &mut |entry| {
        subject.get_or_insert(entry.subject);
    });
    subject.map_or(Repair::None("it counts no facts"), |subject| Repair::Recount(subject, 0))
}

fn unreadable_finding<E: TallySource>(item: &Item, error: &Error) -> Finding {
    let (expected, found) = match error {
        Error::InvalidItem { entity, field, reason, .. } => {
            (format!("{entity} with {} in {field}", reason.expected), reason.found.clone())
        }
        Error::NewerShape { entity, shape, known, .. } => {
            (format!("{entity} of shape {known} or older"), format!("shape {shape}"))
        }
        other => (E::SHAPE.name.to_owned(), other.to_string()),
    };
    let repair = Repair::None(if matches!(error, Error::NewerShape { .. }) {
        "verify it with the version that has written it"
    } else if E::COUNTS.is_empty() {
        "its fields cannot be derived: restore it from a backup"
    } else {
        "delete the item first; then it can be derived again"
    });
    Finding::new(Invariant::I3, item_key(item), expected, found, repair)
}

/// Formats an item's key for messages.
pub(crate) fn item_key(item: &Item) -> String {
    let part = |name| item.text(name).unwrap_or("?");
    let (partition, sort) = (Index::Main.partition_attribute(), Index::Main.sort_attribute());
    format!("{} / {}", part(partition), part(sort))
}

fn sort_of(key: &Key) -> Option<&str> {
    key.sort.as_ref().and_then(roundtable_model::table::Scalar::as_text)
}

/// Returns `true` if an item has these key attributes, or none if `None` is expected.
pub(crate) fn has_keys(item: &Item, index: Index, expected: Option<(&str, &str)>) -> bool {
    let (partition, sort) = (index.partition_attribute(), index.sort_attribute());
    match expected {
        Some((at, rank)) => item.text(partition) == Some(at) && item.text(sort) == Some(rank),
        None => item.get(partition).is_none() && item.get(sort).is_none(),
    }
}

fn expected_key(index: Index, key: Option<(&str, &str)>) -> String {
    match key {
        Some((partition, sort)) => format!("{partition} / {sort} in {index}"),
        None => format!("nothing in {index}"),
    }
}

fn actual_key(item: &Item, index: Index) -> String {
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
    fn samples_have_no_findings() {
        let rules = CheckRules { score: roundtable_domain::ScoreSettings::default() };
        let all: Vec<&EntityShape> =
            SCHEMA.iter().flat_map(|table| table.entities).copied().collect();
        for (shape, item) in samples::typical() {
            let mut found = Vec::new();
            check_item(&item, &all, &rules, &mut |_| {}, &mut |finding| found.push(finding));
            assert_eq!(found, [], "{}", shape.name);
        }
    }

    #[test]
    fn an_item_of_a_newer_version_is_reported_and_not_repaired() {
        let rules = CheckRules { score: roundtable_domain::ScoreSettings::default() };
        let all: Vec<&EntityShape> =
            SCHEMA.iter().flat_map(|table| table.entities).copied().collect();
        let mut found = Vec::new();
        let item = samples::post_counter().item().with("shape", 2);
        check_item(&item, &all, &rules, &mut |_| {}, &mut |finding| found.push(finding));
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.expected, "PostCounter of shape 1 or older");
        assert_eq!(finding.found, "shape 2");
        let advice = Repair::None("verify it with the version that has written it");
        assert_eq!(finding.repair, advice);
    }
}
