//! Partitions of the table that gather items for as long as time goes on. A collection of at most one
//! item for each other thing (a like for each reader) ends with those; one of ever new ids or moments
//! does not.

use super::parts::{self, Spread};
use super::{Finding, Lint};
use crate::shape::{Index, TableShape};

pub(super) fn check(table: &TableShape) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        let partition = &entity.main().partition;
        let by_day = || {
            parts::spreads(entity, partition)
                .any(|spread| matches!(spread, Spread::Day | Spread::Time))
        };
        let fresh = parts::apart(entity, partition).any(|part| parts::is_fresh(entity, part));
        if entity.expires() || !fresh || by_day() {
            continue;
        }
        findings.push(Finding {
            lint: Lint::Unbounded,
            table: table.name,
            subject: entity.name,
            index: Index::Main,
            message: format!(
                "`{partition}` gathers {} items without end, and they have no ttl",
                entity.name
            ),
            remedy: String::from(
                "give them a `ttl`, put a day into the partition key, or limit them where they are made",
            ),
            accepted: None,
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::draft::{Entity, entity, table};

    fn found(entity: Entity) -> usize {
        check(table("t").entity(entity).shape()).len()
    }

    #[test]
    fn ever_new_items_need_an_end() {
        let comment = entity("Comment", "post: PostId, id: CommentId", "POST#{post}", "C#{id}");
        assert_eq!(found(comment), 1);
        let event = entity("Event", "user: UserId, at: Time", "USER#{user}", "TS#{at}");
        assert_eq!(found(event), 1);
        let play = entity("Play", "user: UserId, play: PlayId", "USER#{user}", "PLAY#{play}");
        assert_eq!(found(play), 1);
    }

    #[test]
    fn a_ttl_is_an_end() {
        let event = entity("Event", "user: UserId, at: Time", "USER#{user}", "TS#{at}");
        assert_eq!(found(event.field("ttl", "seconds since 1970", "")), 0);
    }

    #[test]
    fn a_day_is_an_end() {
        let event = entity("Event", "at: Time, id: EventId", "LOG#{at:day}", "{at}#{id}");
        assert_eq!(found(event), 0);
    }

    #[test]
    fn one_for_each_other_thing_ends_with_those() {
        let like = entity("Like", "post: PostId, user: UserId", "POST#{post}", "LIKE#{user}");
        assert_eq!(found(like), 0);
        let post = entity("Post", "id: PostId", "POST#{id}", "POST");
        assert_eq!(found(post), 0);
    }
}
