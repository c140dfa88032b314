//! Partitions with several kinds of items, whose sort keys have the kind before the time, so that
//! no query returns all of them in time order.

use std::collections::BTreeMap;

use roundtable_model::shape::{EntityShape, Index, KeySegment, KeyShape, TableShape};

use super::parts::{self, PartCardinality};
use super::{LintFinding, LintRule, listed};

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut partitions: BTreeMap<(Index, &str), Vec<(&EntityShape, &KeyShape)>> = BTreeMap::new();
    for entity in table.entities {
        for key in entity.keys.iter().filter(|key| is_typed(entity, key)) {
            let kinds = partitions.entry((key.index, key.partition.prefix())).or_default();
            if kinds.iter().all(|(_, other)| other.sort.prefix() != key.sort.prefix()) {
                kinds.push((entity, key));
            }
        }
    }
    partitions.into_iter().filter_map(|((index, _), kinds)| finding(table, index, &kinds)).collect()
}

/// Returns whether the sort key is a constant, then a time.
fn is_typed(entity: &EntityShape, key: &KeyShape) -> bool {
    matches!(key.sort.segments.first(), Some(KeySegment::Literal(_)))
        && parts::cardinalities(entity, &key.sort).next() == Some(PartCardinality::Time)
}

/// Returns one finding for a partition, with the first entity of the schema as its subject.
fn finding(
    table: &TableShape,
    index: Index,
    kinds: &[(&EntityShape, &KeyShape)],
) -> Option<LintFinding> {
    let [(first, key), _, ..] = kinds else { return None };
    let prefixes: Vec<String> =
        kinds.iter().map(|(_, key)| format!("`{}`", key.sort.prefix())).collect();
    Some(LintFinding {
        lint: LintRule::TypeBeforeTime,
        table: table.name,
        subject: first.name,
        index,
        message: format!(
            "in `{}` the kind precedes the time: {} are {} lists, and no query returns them in time order",
            key.partition,
            listed(&prefixes, "and"),
            kinds.len()
        ),
        remedy: String::from(
            "merge a query for each kind by time, or add an index whose sort key begins with the time",
        ),
        accepted: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{EntityDraft, TableDraft, entity, table};

    fn made(name: &'static str, partition: &'static str, sort: &'static str) -> EntityDraft {
        entity(name, "user: UserId, id: ThingId", "USER#{user}", "THING#{id}").part("at: time").key(
            Index::Gsi1,
            partition,
            sort,
        )
    }

    fn found(entities: impl IntoIterator<Item = EntityDraft>) -> Vec<LintFinding> {
        check(entities.into_iter().fold(table("t"), TableDraft::entity).shape())
    }

    #[test]
    fn two_kinds_before_their_times_are_one_finding() {
        let findings = found([
            made("Goal", "USER#{user}", "ENTITY#Goal#{at}#{id}"),
            made("Quest", "USER#{user}", "ENTITY#Quest#{at}#{id}"),
        ]);
        let [finding] = findings.try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Goal", Index::Gsi1));
        assert!(finding.message.contains("`ENTITY#Goal#` and `ENTITY#Quest#` are 2 lists"));
    }

    #[test]
    fn one_kind_is_no_finding() {
        assert_eq!(found([made("Goal", "USER#{user}", "ENTITY#Goal#{at}#{id}")]), []);
        let apart = [
            made("Goal", "USER#{user}", "GOAL#{at}#{id}"),
            made("Quest", "OWNER#{user}", "QUEST#{at}#{id}"),
        ];
        assert_eq!(found(apart), []);
    }

    #[test]
    fn sort_keys_with_the_time_first_or_without_time_are_no_finding() {
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
