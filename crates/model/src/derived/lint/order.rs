//! Partitions that hold several kinds of things, each ordered by time behind its own kind, so that no
//! query gives all of them in the order of time.

use std::collections::BTreeMap;

use super::parts::{self, Spread};
use super::{Finding, Lint, listed};
use crate::shape::{EntityShape, Index, KeyShape, Segment, TableShape};

pub(super) fn check(table: &TableShape) -> Vec<Finding> {
    let mut partitions: BTreeMap<(Index, &str), Vec<(&EntityShape, &KeyShape)>> = BTreeMap::new();
    for entity in table.entities {
        for key in entity.keys.iter().filter(|key| is_typed(entity, key)) {
            let kinds = partitions.entry((key.index, key.partition.prefix())).or_default();
            if kinds.iter().all(|(_, known)| known.sort.prefix() != key.sort.prefix()) {
                kinds.push((entity, key));
            }
        }
    }
    partitions.into_iter().filter_map(|((index, _), kinds)| finding(table, index, &kinds)).collect()
}

/// Whether the sort key is a constant, then a time.
fn is_typed(entity: &EntityShape, key: &KeyShape) -> bool {
    matches!(key.sort.segments.first(), Some(Segment::Literal(_)))
        && parts::spreads(entity, &key.sort).next() == Some(Spread::Time)
}

/// One finding for a partition, in the name of the first entity on the page.
fn finding(
    table: &TableShape,
    index: Index,
    kinds: &[(&EntityShape, &KeyShape)],
) -> Option<Finding> {
    let [(first, key), _, ..] = kinds else { return None };
    let prefixes: Vec<String> =
        kinds.iter().map(|(_, key)| format!("`{}`", key.sort.prefix())).collect();
    Some(Finding {
        lint: Lint::TypeBeforeTime,
        table: table.name,
        subject: first.name,
        index,
        message: format!(
            "in `{}` the kind stands before the time: {} are {} orders, and no query gives one",
            key.partition,
            listed(&prefixes, "and"),
            kinds.len()
        ),
        remedy: String::from(
            "merge a query for each kind by time, or give them an index whose sort key begins with it",
        ),
        accepted: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::draft::{Entity, Table, entity, table};

    fn made(name: &'static str, partition: &'static str, sort: &'static str) -> Entity {
        entity(name, "user: UserId, id: ThingId", "USER#{user}", "THING#{id}").part("at: time").key(
            Index::Gsi1,
            partition,
            sort,
        )
    }

    fn found(entities: impl IntoIterator<Item = Entity>) -> Vec<Finding> {
        check(entities.into_iter().fold(table("t"), Table::entity).shape())
    }

    #[test]
    fn two_kinds_before_their_times_are_found_once() {
        let findings = found([
            made("Goal", "USER#{user}", "ENTITY#Goal#{at}#{id}"),
            made("Quest", "USER#{user}", "ENTITY#Quest#{at}#{id}"),
        ]);
        let [finding] = findings.try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Goal", Index::Gsi1));
        assert!(finding.message.contains("`ENTITY#Goal#` and `ENTITY#Quest#` are 2 orders"));
    }

    #[test]
    fn one_kind_has_one_order() {
        assert_eq!(found([made("Goal", "USER#{user}", "ENTITY#Goal#{at}#{id}")]), []);
        let apart = [
            made("Goal", "USER#{user}", "GOAL#{at}#{id}"),
            made("Quest", "OWNER#{user}", "QUEST#{at}#{id}"),
        ];
        assert_eq!(found(apart), []);
    }

    #[test]
    fn time_first_is_one_order_and_no_time_is_none() {
        let by_time = [
            made("Goal", "USER#{user}", "{at}#GOAL#{id}"),
            made("Quest", "USER#{user}", "{at}#QUEST#{id}"),
        ];
        assert_eq!(found(by_time), []);
        let by_id = [
            made("Goal", "USER#{user}", "GOAL#{id}#{at}"),
            made("Quest", "USER#{user}", "QUEST#{id}#{at}"),
        ];
        assert_eq!(found(by_id), []);
    }
}
