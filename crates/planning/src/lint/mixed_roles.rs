//! Partitions in which the same id has different roles: the acting user for some entities, the
//! affected user for others. A query of such a whole partition mixes the two.

use std::collections::BTreeMap;

use roundtable_model::shape::{EntityShape, Index, KeyShape, TableShape};

use super::{LintFinding, LintRule, listed, parts};

/// The entities of one kind of partition, by the role of its id.
#[derive(Default)]
struct PartitionRoles<'a> {
    acting: Vec<(&'a EntityShape, &'a KeyShape)>,
    affected: Vec<(&'a EntityShape, &'a KeyShape)>,
}

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut partitions: BTreeMap<(Index, &str), PartitionRoles<'_>> = BTreeMap::new();
    for entity in table.entities {
        for key in entity.keys {
            let mut ids = parts::whole_parts(&key.partition)
                .filter(|name| parts::id_kind(entity, name).is_some());
            let Some(name) = ids.next() else { continue };
            let roles = partitions.entry((key.index, key.partition.prefix())).or_default();
            if parts::is_first_of_kind(entity, name) {
                roles.acting.push((entity, key));
            } else {
                roles.affected.push((entity, key));
            }
        }
    }
    let mut findings = Vec::new();
    for ((index, _), roles) in partitions {
        if roles.acting.is_empty() {
            continue;
        }
        let mut acting: Vec<&str> = roles.acting.iter().map(|(entity, _)| entity.name).collect();
        acting.dedup();
        let mut reported: Option<&str> = None;
        for (entity, key) in roles.affected {
            // Several keys of one entity are one finding.
            if reported.replace(entity.name) == Some(entity.name) {
                continue;
            }
            findings.push(LintFinding {
                lint: LintRule::MixedRoles,
                table: table.name,
                subject: entity.name,
                index,
                message: format!(
                    "`{}` is the affected user here, and in the same partition the acting user in {}",
                    key.partition,
                    listed(&acting, "and")
                ),
                remedy: format!(
                    "read it by its prefix `{}`, never the whole partition, or use another index",
                    key.sort.prefix()
                ),
                accepted: None,
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{EntityDraft, entity, otherwise, table, when};

    fn follow() -> EntityDraft {
        entity("Follow", "follower: UserId, followee: UserId", "USER#{follower}", "F#{followee}")
    }

    fn goal() -> EntityDraft {
        entity("Goal", "user: UserId, id: GoalId", "USER#{user}", "GOAL#{id}")
    }

    #[test]
    fn one_partition_with_two_roles_is_a_finding() {
        let page = table("t")
            .entity(
                follow()
                    .part("mut status: FollowStatus")
                    .key_if(
                        Index::Gsi1,
                        when("active", "status"),
                        "USER#{followee}",
                        "BY#{follower}",
                    )
                    .key_if(Index::Gsi1, otherwise(), "USER#{followee}", "ASKED#{follower}"),
            )
            .entity(goal().key(Index::Gsi1, "USER#{user}", "GOAL#{id}"));
        let [finding] = check(page.shape()).try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Follow", Index::Gsi1));
        assert!(finding.message.contains("`USER#{followee}`"), "{}", finding.message);
        assert!(finding.message.ends_with("in Goal"), "{}", finding.message);
        assert!(finding.remedy.contains("`BY#`"), "{}", finding.remedy);
    }

    #[test]
    fn one_role_in_each_partition_is_no_finding() {
        let page = table("t")
            .entity(follow().key(Index::Gsi2, "USER#{followee}", "BY#{follower}"))
            .entity(goal().key(Index::Gsi1, "USER#{user}", "GOAL#{id}"));
        assert_eq!(check(page.shape()), []);
    }

    #[test]
    fn the_same_id_under_other_prefixes_is_another_partition() {
        let page = table("t")
            .entity(follow().key(Index::Gsi1, "FANS#{followee}", "BY#{follower}"))
            .entity(goal().key(Index::Gsi1, "USER#{user}", "GOAL#{id}"));
        assert_eq!(check(page.shape()), []);
    }
}
