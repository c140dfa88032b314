//! Partitions that grow without bound. A collection with at most one item for each other object (a
//! follow for each user) is bounded by those; a collection of new ids or times is not, nor is one
//! with an item for each member of an unbounded collection (a user's likes of posts).

use roundtable_model::shape::{EntityShape, Index, KeyShape, PartShape, TTL, TableShape};

use super::parts::{self, PartCardinality};
use super::{LintFinding, LintRule, listed};
use crate::key_patterns;

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        // The same partition in the table and in an index is the same collection.
        let mut reported: Vec<&str> = Vec::new();
        for index in std::iter::once(Index::Main).chain(Index::SECONDARY) {
            let keys = entity.keys.iter().filter(|key| key.index == index);
            let endless = |part: &PartShape| {
                parts::is_ever_new(table, entity, part) || is_endless(table, part.kind)
            };
            let mut partitions: Vec<&str> = keys
                .filter(|key| grows_without_end(table, entity, key, &endless))
                .map(|key| key.partition.text)
                .filter(|text| !reported.contains(text))
                .collect();
            partitions.dedup();
            reported.extend(&partitions);
            if !partitions.is_empty() {
                findings.push(finding(table, entity, index, &partitions));
            }
        }
    }
    findings
}

/// Returns whether a partition of `key` accumulates items of `entity` that never expire: one for
/// each value of a part that is `endless`.
fn grows_without_end(
    table: &TableShape,
    entity: &EntityShape,
    key: &KeyShape,
    endless: &dyn Fn(&PartShape) -> bool,
) -> bool {
    let mut spreads = parts::cardinalities(entity, &key.partition);
    let by_day =
        spreads.any(|spread| matches!(spread, PartCardinality::Day | PartCardinality::Time));
    let in_partition =
        |part: &&PartShape| parts::whole_parts(&key.partition).any(|name| name == part.name);
    let of_its_own = (entity.identity.iter().filter(in_partition))
        .any(|part| parts::is_own_id(table, entity, part));
    !entity.expires()
        && !by_day
        && !of_its_own
        && !key_patterns::is_lookup(table, entity, key)
        && parts::distinguishing_parts(entity, &key.partition).any(endless)
}

/// Returns whether the number of ids of type `kind` is unbounded: an entity identified by it
/// accumulates in some partition.
fn is_endless(table: &TableShape, kind: &str) -> bool {
    table.entities.iter().any(|entity| {
        let own = |part: &PartShape| parts::is_own_id(table, entity, part);
        let fresh = |part: &PartShape| parts::is_ever_new(table, entity, part);
        entity.identity.iter().any(|part| part.kind == kind && own(part))
            && entity.keys.iter().any(|key| grows_without_end(table, entity, key, &fresh))
    })
}

fn finding(
    table: &TableShape,
    entity: &EntityShape,
    index: Index,
    partitions: &[&'static str],
) -> LintFinding {
    let partitions: Vec<String> = partitions.iter().map(|text| format!("`{text}`")).collect();
    let some = entity.fields.iter().any(|field| field.attribute == TTL);
    let ttl = if some { "some of them have no ttl" } else { "they have no ttl" };
    LintFinding {
        lint: LintRule::Unbounded,
        table: table.name,
        subject: entity.name,
        index,
        message: format!(
            "{} accumulates {} items without bound, and {ttl}",
            listed(&partitions, "and"),
            entity.name
        ),
        remedy: String::from(
            "give all of them a `ttl`, add a day to the partition key, or limit them where they are \
            created",
        ),
        accepted: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{EntityDraft, PatternDraft, TableDraft, entity, query, table};

    fn found(page: TableDraft) -> Vec<(&'static str, Index)> {
        check(page.shape()).iter().map(|found| (found.subject, found.index)).collect()
    }

    fn alone(entity: EntityDraft) -> usize {
        found(table("t").entity(entity)).len()
    }

    fn event() -> EntityDraft {
        entity("Event", "user: UserId, at: Time", "USER#{user}", "TS#{at}")
    }

    fn user() -> EntityDraft {
        entity("User", "id: UserId", "USER#{id}", "PROFILE")
    }

    fn post() -> EntityDraft {
        entity("Post", "id: PostId", "POST#{id}", "POST").part("author: UserId")
    }

    fn like() -> EntityDraft {
        entity("Like", "post: PostId, user: UserId", "POST#{post}", "LIKE#{user}")
    }

    #[test]
    fn items_with_new_ids_or_times_are_unbounded() {
        let comment = entity("Comment", "post: PostId, id: CommentId", "POST#{post}", "C#{id}");
        assert_eq!(alone(comment), 1);
        assert_eq!(alone(event()), 1);
        let play = entity("Play", "user: UserId, play: PlayId", "USER#{user}", "PLAY#{play}");
        assert_eq!(alone(play), 1);
        let upload = entity("Upload", "user: UserId, key: MediaKey", "USER#{user}", "FILE#{key}");
        assert_eq!(alone(upload), 1);
    }

    #[test]
    fn a_ttl_is_a_bound_if_all_items_have_one() {
        assert_eq!(alone(event().field("ttl", "seconds since 1970", "")), 0);
        let some = event().part("ttl?: seconds since 1970");
        let [finding] = check(table("t").entity(some).shape()).try_into().unwrap();
        assert!(finding.message.ends_with("some of them have no ttl"), "{}", finding.message);
    }

    #[test]
    fn a_day_in_the_partition_is_a_bound() {
        let event = entity("Event", "at: Time, id: EventId", "LOG#{at:day}", "{at}#{id}");
        assert_eq!(alone(event), 0);
    }

    #[test]
    fn one_item_for_each_other_object_is_bounded() {
        assert_eq!(found(table("t").entity(user()).entity(post()).entity(like())), []);
    }

    #[test]
    fn an_index_partition_can_be_unbounded() {
        let by_author = || post().key(Index::Gsi1, "USER#{author}", "POST#{id}");
        assert_eq!(found(table("t").entity(by_author())), [("Post", Index::Gsi1)]);
        let popular = post().part("shard: Shard").key(Index::Gsi3, "POPULAR[#{shard}]", "{id}");
        assert_eq!(found(table("t").entity(popular)), [("Post", Index::Gsi3)]);
        let of_a_day = post().part("at: time").key(Index::Gsi2, "DAY#{at:day}", "{at}#{id}");
        assert_eq!(alone(of_a_day), 0);
    }

    #[test]
    fn one_item_for_each_of_an_unbounded_kind_is_unbounded() {
        let likes = || like().key(Index::Gsi1, "USER#{user}", "LIKE#{post}");
        // Without a partition that accumulates them, posts might be as few as users.
        assert_eq!(found(table("t").entity(user()).entity(post()).entity(likes())), []);
        let by_author = post().key(Index::Gsi1, "USER#{author}", "POST#{id}");
        let page = table("t").entity(user()).entity(by_author).entity(likes());
        assert_eq!(found(page), [("Post", Index::Gsi1), ("Like", Index::Gsi1)]);
    }

    #[test]
    fn an_index_with_the_partition_of_the_table_is_reported_once() {
        let goal = entity("Goal", "user: UserId, id: GoalId", "USER#{user}", "GOAL#{id}");
        let listed = goal.key(Index::Gsi1, "USER#{user}", "ENTITY#Goal#{id}");
        assert_eq!(found(table("t").entity(listed)), [("Goal", Index::Main)]);
    }

    #[test]
    fn a_lookup_key_is_bounded() {
        let task = || {
            entity("Task", "goal: GoalId, id: TaskId", "GOAL#{goal}", "TASK#{id}").key(
                Index::Gsi3,
                "TASK#{id}",
                "GOAL#{goal}",
            )
        };
        let goal = entity("Goal", "user: UserId, id: GoalId", "USER#{user}", "GOAL#{id}");
        let page = table("t").entity(goal).entity(task());
        assert_eq!(found(page), [("Goal", Index::Main), ("Task", Index::Main)]);
        let named = || user().part("nick: Nickname").key(Index::Gsi2, "NICK#{nick}", "USER#{id}");
        assert_eq!(alone(named()), 1);
        let pattern = query("by_nick", "nick: Nickname", Index::Gsi2, "NICK#{nick}", "", "User");
        assert_eq!(found(table("t").entity(named()).pattern(pattern.first())), []);
    }

    #[test]
    fn a_single_part_is_the_own_id_unless_another_entity_owns_it() {
        let thread = entity("Thread", "of: CallId", "CALL#{of}", "CALL").part("user: UserId");
        let thread = thread.key(Index::Gsi1, "USER#{user}", "CALL#{of}");
        assert_eq!(alone(thread), 1);
        let card = entity("Card", "of: UserId", "CARD#{of}", "CARD").part("city: CityId");
        let card = card.key(Index::Gsi1, "CITY#{city}", "CARD#{of}");
        assert_eq!(found(table("t").entity(user()).entity(card)), []);
    }
}
