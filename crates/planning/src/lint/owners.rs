//! Entities that no purge removes, or removes only in part: their items stay for ever.

use roundtable_model::OwnerKind;
use roundtable_model::shape::{EntityShape, Index, TableShape};

use super::{LintFinding, LintRule};

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        let mut owners = OwnerKind::ALL.iter().filter_map(|kind| kind.entity());
        let is_owner = owners.any(|owner| owner.name == entity.name);
        if entity.owners.is_empty() && !is_owner && !entity.expires() {
            findings.push(unowned(table, entity));
        }
        if table.stream {
            findings.extend(undeclared_owner(table, entity));
        }
        findings.extend(partial_owner(table, entity));
    }
    findings
}

fn unowned(table: &TableShape, entity: &EntityShape) -> LintFinding {
    LintFinding {
        lint: LintRule::Unowned,
        table: table.name,
        subject: entity.name,
        index: Index::Main,
        message: String::from("its items have no owner and never expire: no purge removes them"),
        remedy: String::from("name the owners with `of (…)`, or give every item a ttl"),
        accepted: None,
    }
}

/// Finds a field of the keys that names an owner, but is not declared as one.
fn undeclared_owner(table: &TableShape, entity: &EntityShape) -> Option<LintFinding> {
    let names_owner = |kind: &str| OwnerKind::ALL.iter().any(|owner| owner.id() == kind);
    let keyed = |name: &str| {
        let in_identity = entity.identity.iter().any(|part| part.name == name);
        in_identity || entity.parts.iter().any(|part| part.name == name)
    };
    let is_own = |kind: &str| {
        OwnerKind::ALL.iter().any(|owner| {
            owner.id() == kind && owner.entity().is_some_and(|owner| owner.name == entity.name)
        })
    };
    let declared = |name: &str| entity.owners.iter().any(|owner| owner.field == name);
    let field = entity.fields.iter().find(|field| {
        names_owner(field.kind)
            && keyed(field.field)
            && !is_own(field.kind)
            && !declared(field.field)
    })?;
    Some(LintFinding {
        lint: LintRule::UndeclaredOwner,
        table: table.name,
        subject: entity.name,
        index: Index::Main,
        message: format!("`{}` names an owner, but its items are not removed with it", field.field),
        remedy: format!("add `{}` to `of (…)`, and a key that lists the items of one", field.field),
        accepted: None,
    })
}

/// Finds keys by which a purge does not find all items of an owner.
fn partial_owner(table: &TableShape, entity: &EntityShape) -> Option<LintFinding> {
    let keys = entity.owners.iter().flat_map(|owner| owner.keys);
    let mut keys = keys.filter_map(|key| entity.keys.get(*key));
    let key = keys.find(|key| !key.when.is_always() || key.partition.is_sharded())?;
    let why = if key.partition.is_sharded() {
        "reads only the first shard"
    } else {
        "misses items that do not have this key"
    };
    Some(LintFinding {
        lint: LintRule::PartialOwner,
        table: table.name,
        subject: entity.name,
        index: key.index,
        message: format!("a purge that lists items of an owner by `{}` {why}", key.partition),
        remedy: String::from("give an index a key without a condition and without shards"),
        accepted: None,
    })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(seen(table("t").entity(owned.owner("user_id", OwnerKind::User, &[0]))), []);
    }

    #[test]
    fn a_sparse_or_sharded_key_does_not_find_all_items_of_an_owner() {
        let listed = entity("Note", "id: NoteId", "NOTE#{id}", "NOTE")
            .part("user_id: UserId")
            .key_if(Index::Gsi1, when("listed", "is_listed"), "USER#{user_id}", "NOTE#{id}")
            .owner("user_id", OwnerKind::User, &[1]);
        let sharded = entity("Note", "id: NoteId", "NOTE#{id}", "NOTE")
            .part("user_id: UserId")
            .key(Index::Gsi1, "USER#{user_id}[#{shard}]", "NOTE#{id}")
            .owner("user_id", OwnerKind::User, &[1]);
        for note in [listed, sharded] {
            let found = seen(table("t").entity(note));
            assert_eq!(found, [(LintRule::PartialOwner, "Note", Index::Gsi1)]);
        }
    }

    #[test]
    fn a_user_in_a_key_is_an_owner_or_accepted() {
        let note = || {
            entity("Note", "id: NoteId", "NOTE#{id}", "NOTE").part("user_id: UserId").key(
                Index::Gsi1,
                "USER#{user_id}",
                "NOTE#{id}",
            )
        };
        let found = seen(table("t").entity(note().field("ttl", "time", "")));
        assert_eq!(found, [(LintRule::UndeclaredOwner, "Note", Index::Main)]);
        assert_eq!(seen(table("t").entity(note().owner("user_id", OwnerKind::User, &[1]))), []);
    }
}
