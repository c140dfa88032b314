//! Entities that no purge removes, or removes only in part: their items stay for ever.

use roundtable_model::shape::{EntityShape, Index, KeyShape, TableShape};

use super::{LintFinding, LintRule};

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        let is_owner = table.entities.iter().flat_map(|other| other.owners).any(|owner| {
            owner.kind.entity().is_some_and(|owners| owners.name == entity.name)
        });
        if entity.owners.is_empty() && !is_owner && !entity.expires() {
            findings.push(unowned(table, entity));
        }
        let keys = entity.owners.iter().filter_map(|owner| entity.keys.get(owner.key));
        let sparse = keys.filter(|key| !key.when.is_always());
        findings.extend(sparse.map(|key| sparse_owner(table, entity, key)));
    }
    findings
}

fn unowned(table: &TableShape, entity: &EntityShape) -> LintFinding {
    LintFinding {
        lint: LintRule::Unowned,
        table: table.name,
        subject: entity.name,
        index: Index::Main,
        message: String::from("its items belong to nobody and never expire: no purge removes them"),
        remedy: String::from("name the owners with `of (…)`, or give every item a ttl"),
        accepted: None,
    }
}

fn sparse_owner(table: &TableShape, entity: &EntityShape, key: &KeyShape) -> LintFinding {
    LintFinding {
        lint: LintRule::SparseOwner,
        table: table.name,
        subject: entity.name,
        index: key.index,
        message: format!(
            "a purge finds its items by `{}`, and not every item has this key",
            key.partition
        ),
        remedy: String::from("give an index a key without a condition"),
        accepted: None,
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::OwnerKind;

    use super::*;
    use crate::test_schema::{entity, table, when};

    fn seen(table: crate::test_schema::TableDraft) -> Vec<(LintRule, &'static str, Index)> {
        let findings = check(table.shape());
        findings.iter().map(|found| (found.lint, found.subject, found.index)).collect()
    }

    #[test]
    fn an_entity_needs_an_owner_or_a_ttl() {
        let song = || entity("Song", "id: SongId", "SONG#{id}", "SONG");
        assert_eq!(seen(table("t").entity(song())), [(LintRule::Unowned, "Song", Index::Main)]);
        assert_eq!(seen(table("t").entity(song().field("ttl", "time", ""))), []);
        let owned = entity("Note", "user_id: UserId, id: NoteId", "USER#{user_id}", "NOTE#{id}");
        assert_eq!(seen(table("t").entity(owned.owner("user_id", OwnerKind::User, 0))), []);
    }

    #[test]
    fn a_sparse_key_does_not_find_all_items_of_an_owner() {
        let listed = entity("Note", "id: NoteId", "NOTE#{id}", "NOTE")
            .part("user_id: UserId")
            .key_if(Index::Gsi1, when("listed", "is_listed"), "USER#{user_id}", "NOTE#{id}")
            .owner("user_id", OwnerKind::User, 1);
        let found = seen(table("t").entity(listed));
        assert_eq!(found, [(LintRule::SparseOwner, "Note", Index::Gsi1)]);
    }
}
