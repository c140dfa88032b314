//! Index entries that move when a field changes. Entering or leaving a sparse index is no finding.

use roundtable_model::shape::{EntityShape, Index, KeyShape, TableShape};

use super::{LintFinding, LintRule, listed};

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        for index in Index::SECONDARY {
            let moved: Vec<String> =
                mutable_parts(entity, index).iter().map(|name| format!("`{name}`")).collect();
            if moved.is_empty() {
                continue;
            }
            findings.push(LintFinding {
                lint: LintRule::MutableKey,
                table: table.name,
                subject: entity.name,
                index,
                message: format!(
                    "its entry moves when {} changes: a removal and an insert, visible with a delay",
                    listed(&moved, "or")
                ),
                remedy: String::from(
                    "keep fields that change out of the key, or change them rarely and by a rekey",
                ),
                accepted: None,
            });
        }
    }
    findings
}

/// Returns the mutable fields that determine the key of an item in `index`.
fn mutable_parts(entity: &EntityShape, index: Index) -> Vec<&'static str> {
    let keys: Vec<&KeyShape> = entity.keys.iter().filter(|key| key.index == index).collect();
    let decided_by = |name: &str| keys.iter().filter(|key| decides(key, name)).count();
    let mutable = entity.parts.iter().filter(|part| part.mutable).map(|part| part.name);
    mutable
        .filter(|name| {
            let written = keys
                .iter()
                .any(|key| key.partition.parts().chain(key.sort.parts()).any(|part| part == *name));
            // A condition of all keys decides whether there is an entry; one of some keys, which.
            written || (1..keys.len()).contains(&decided_by(name))
        })
        .collect()
}

fn decides(key: &KeyShape, name: &str) -> bool {
    let predicates = key.when.predicates.iter().flat_map(|predicate| predicate.fields);
    key.when.present.iter().chain(predicates).any(|field| *field == name)
}

#[cfg(test)]
mod tests {
    use roundtable_model::shape::SparseCondition;

    use super::*;
    use crate::test_schema::{EntityDraft, entity, otherwise, table, when};

    fn task() -> EntityDraft {
        entity("Task", "user: UserId, id: TaskId", "USER#{user}", "TASK#{id}")
            .part("created_at: time")
            .part("mut due_at?: time")
            .part("mut done: true or false")
    }

    fn found(entity: EntityDraft) -> Vec<(Index, String)> {
        let findings = check(table("t").entity(entity).shape());
        findings.into_iter().map(|found| (found.index, found.message)).collect()
    }

    #[test]
    fn a_part_that_may_change_moves_the_entry() {
        let moving = task().key(Index::Gsi1, "USER#{user}", "TASK#{due_at}#{id}");
        let [(index, message)] = found(moving).try_into().unwrap();
        assert_eq!(index, Index::Gsi1);
        assert!(message.contains("when `due_at` changes"), "{message}");
    }

    #[test]
    fn a_part_used_through_a_method_moves_the_entry() {
        let moving = task().key(Index::Gsi2, "DUE#{due_at:day}", "{id}");
        assert_eq!(found(moving).len(), 1);
    }

    #[test]
    fn a_part_that_never_changes_moves_nothing() {
        let still = task().key(Index::Gsi1, "USER#{user}", "TASK#{created_at}#{id}");
        assert_eq!(found(still), []);
    }

    #[test]
    fn a_condition_moves_an_entry_only_if_there_is_another_key() {
        let sparse = task().key_if(Index::Gsi1, when("open", "done"), "USER#{user}", "OPEN#{id}");
        assert_eq!(found(sparse), []);
        let either = task()
            .key_if(Index::Gsi1, when("open", "done"), "USER#{user}", "OPEN#{id}")
            .key_if(Index::Gsi1, otherwise(), "USER#{user}", "DONE#{id}");
        let [(_, message)] = found(either).try_into().unwrap();
        assert!(message.contains("`done`"), "{message}");
    }

    #[test]
    fn a_condition_of_all_keys_moves_nothing_between_them() {
        let open = || when("open", "done");
        let either = task()
            .part("feed: FeedName")
            .key_if(Index::Gsi1, open(), "USER#{user}", "OPEN#{id}")
            .key_if(
                Index::Gsi1,
                SparseCondition { otherwise: true, ..open() },
                "FEED#{feed}",
                "OPEN#{id}",
            );
        assert_eq!(found(either), []);
    }
}
