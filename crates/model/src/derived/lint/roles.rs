//! Partitions in which the same id means different roles: whoever acts, for some entities, and whoever
//! it is done to, for others. A question that reads such a partition whole mixes the two.

use std::collections::BTreeMap;

use super::{Finding, Lint, listed, parts};
use crate::shape::{EntityShape, Index, KeyShape, TableShape};

/// Entities under one kind of partition, by the role that its id has in them.
#[derive(Default)]
struct Roles<'a> {
    acting: Vec<(&'a EntityShape, &'a KeyShape)>,
    done_to: Vec<(&'a EntityShape, &'a KeyShape)>,
}

pub(super) fn check(table: &TableShape) -> Vec<Finding> {
    let mut partitions: BTreeMap<(Index, &str), Roles<'_>> = BTreeMap::new();
    for entity in table.entities {
        for key in entity.keys {
            let mut things = parts::whole_parts(&key.partition)
                .filter(|name| parts::thing_kind(entity, name).is_some());
            let Some(name) = things.next() else { continue };
            let roles = partitions.entry((key.index, key.partition.prefix())).or_default();
            if parts::is_first_of_kind(entity, name) {
                roles.acting.push((entity, key));
            } else {
                roles.done_to.push((entity, key));
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
        let mut told: Option<&str> = None;
        for (entity, key) in roles.done_to {
            // Several keys of one entity there are one finding.
            if told.replace(entity.name) == Some(entity.name) {
                continue;
            }
            findings.push(Finding {
                lint: Lint::MixedRoles,
                table: table.name,
                subject: entity.name,
                index,
                message: format!(
                    "`{}` is whoever it is done to, and in the same partition whoever acts in {}",
                    key.partition,
                    listed(&acting, "and")
                ),
                remedy: format!(
                    "read it by its prefix `{}` and never whole, or use another index",
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
    use crate::derived::draft::{Entity, entity, otherwise, table, when};

    fn follow() -> Entity {
        entity("Follow", "follower: UserId, followee: UserId", "USER#{follower}", "F#{followee}")
    }

    fn goal() -> Entity {
        entity("Goal", "user: UserId, id: GoalId", "USER#{user}", "GOAL#{id}")
    }

    #[test]
    fn one_partition_with_two_roles_is_found() {
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
    fn one_role_in_each_partition_is_not() {
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
