//! Partitions that gather items for as long as time goes on. A collection of at most one item for each
//! other thing (a follow for each person) ends with those; one of ever new ids or moments does not, nor
//! does one for each of what itself has no end (what somebody likes, of all posts there will be).

use super::parts::{self, Spread};
use super::{Finding, Lint, listed};
use crate::derived::asked;
use crate::shape::{EntityShape, Index, KeyShape, PartShape, TTL, TableShape};

pub(super) fn check(table: &TableShape) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        // The same partition in the table and in an index is the same collection.
        let mut told: Vec<&str> = Vec::new();
        for index in std::iter::once(Index::Main).chain(Index::SECONDARY) {
            let keys = entity.keys.iter().filter(|key| key.index == index);
            let endless = |part: &PartShape| {
                parts::is_fresh(table, entity, part) || is_endless(table, part.kind)
            };
            let mut partitions: Vec<&str> = keys
                .filter(|key| gathers(table, entity, key, &endless))
                .map(|key| key.partition.text)
                .filter(|text| !told.contains(text))
                .collect();
            partitions.dedup();
            told.extend(&partitions);
            if !partitions.is_empty() {
                findings.push(finding(table, entity, index, &partitions));
            }
        }
    }
    findings
}

/// Whether a partition of `key` gathers items of `entity` that nothing takes away: as many as there are
/// of a part of theirs that is `endless`.
fn gathers(
    table: &TableShape,
    entity: &EntityShape,
    key: &KeyShape,
    endless: &dyn Fn(&PartShape) -> bool,
) -> bool {
    let mut spreads = parts::spreads(entity, &key.partition);
    let by_day = spreads.any(|spread| matches!(spread, Spread::Day | Spread::Time));
    let in_partition =
        |part: &&PartShape| parts::whole_parts(&key.partition).any(|name| name == part.name);
    let of_its_own = (entity.identity.iter().filter(in_partition))
        .any(|part| parts::is_own(table, entity, part));
    !entity.expires()
        && !by_day
        && !of_its_own
        && !asked::is_lookup(table, entity, key)
        && parts::apart(entity, &key.partition).any(endless)
}

/// Whether there are ever more things of type `kind`: an entity known by it gathers somewhere.
fn is_endless(table: &TableShape, kind: &str) -> bool {
    table.entities.iter().any(|entity| {
        let own = |part: &PartShape| parts::is_own(table, entity, part);
        let fresh = |part: &PartShape| parts::is_fresh(table, entity, part);
        entity.identity.iter().any(|part| part.kind == kind && own(part))
            && entity.keys.iter().any(|key| gathers(table, entity, key, &fresh))
    })
}

fn finding(
    table: &TableShape,
    entity: &EntityShape,
    index: Index,
    partitions: &[&'static str],
) -> Finding {
    let partitions: Vec<String> = partitions.iter().map(|text| format!("`{text}`")).collect();
    let some = entity.fields.iter().any(|field| field.attribute == TTL);
    let ttl = if some { "some of them have no ttl" } else { "they have no ttl" };
    Finding {
        lint: Lint::Unbounded,
        table: table.name,
        subject: entity.name,
        index,
        message: format!(
            "{} gathers {} items without end, and {ttl}",
            listed(&partitions, "and"),
            entity.name
        ),
        remedy: String::from(
            "give all of them a `ttl`, put a day into the partition key, or limit them where they \
             are made",
        ),
        accepted: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::draft::{Entity, Table, entity, query, table};

    fn found(page: Table) -> Vec<(&'static str, Index)> {
        check(page.shape()).iter().map(|found| (found.subject, found.index)).collect()
    }

    fn alone(entity: Entity) -> usize {
        found(table("t").entity(entity)).len()
    }

    fn event() -> Entity {
        entity("Event", "user: UserId, at: Time", "USER#{user}", "TS#{at}")
    }

    fn user() -> Entity {
        entity("User", "id: UserId", "USER#{id}", "PROFILE")
    }

    fn post() -> Entity {
        entity("Post", "id: PostId", "POST#{id}", "POST").part("author: UserId")
    }

    fn like() -> Entity {
        entity("Like", "post: PostId, user: UserId", "POST#{post}", "LIKE#{user}")
    }

    #[test]
    fn ever_new_items_need_an_end() {
        let comment = entity("Comment", "post: PostId, id: CommentId", "POST#{post}", "C#{id}");
        assert_eq!(alone(comment), 1);
        assert_eq!(alone(event()), 1);
        let play = entity("Play", "user: UserId, play: PlayId", "USER#{user}", "PLAY#{play}");
        assert_eq!(alone(play), 1);
        let upload = entity("Upload", "user: UserId, key: MediaKey", "USER#{user}", "FILE#{key}");
        assert_eq!(alone(upload), 1);
    }

    #[test]
    fn a_ttl_is_an_end_if_all_have_one() {
        assert_eq!(alone(event().field("ttl", "seconds since 1970", "")), 0);
        let some = event().part("ttl?: seconds since 1970");
        let [finding] = check(table("t").entity(some).shape()).try_into().unwrap();
        assert!(finding.message.ends_with("some of them have no ttl"), "{}", finding.message);
    }

    #[test]
    fn a_day_is_an_end() {
        let event = entity("Event", "at: Time, id: EventId", "LOG#{at:day}", "{at}#{id}");
        assert_eq!(alone(event), 0);
    }

    #[test]
    fn one_for_each_other_thing_ends_with_those() {
        assert_eq!(found(table("t").entity(user()).entity(post()).entity(like())), []);
    }

    #[test]
    fn an_index_gathers_too() {
        let by_author = || post().key(Index::Gsi1, "USER#{author}", "POST#{id}");
        assert_eq!(found(table("t").entity(by_author())), [("Post", Index::Gsi1)]);
        let popular = post().part("shard: Shard").key(Index::Gsi3, "POPULAR[#{shard}]", "{id}");
        assert_eq!(found(table("t").entity(popular)), [("Post", Index::Gsi3)]);
        let of_a_day = post().part("at: time").key(Index::Gsi2, "DAY#{at:day}", "{at}#{id}");
        assert_eq!(alone(of_a_day), 0);
    }

    #[test]
    fn one_for_each_of_what_has_no_end_has_none() {
        let likes = || like().key(Index::Gsi1, "USER#{user}", "LIKE#{post}");
        // Without a partition that gathers them, posts might be as few as people.
        assert_eq!(found(table("t").entity(user()).entity(post()).entity(likes())), []);
        let by_author = post().key(Index::Gsi1, "USER#{author}", "POST#{id}");
        let page = table("t").entity(user()).entity(by_author).entity(likes());
        assert_eq!(found(page), [("Post", Index::Gsi1), ("Like", Index::Gsi1)]);
    }

    #[test]
    fn an_index_with_the_partition_of_the_table_is_told_once() {
        let goal = entity("Goal", "user: UserId, id: GoalId", "USER#{user}", "GOAL#{id}");
        let listed = goal.key(Index::Gsi1, "USER#{user}", "ENTITY#Goal#{id}");
        assert_eq!(found(table("t").entity(listed)), [("Goal", Index::Main)]);
    }

    #[test]
    fn what_is_looked_up_gathers_nothing() {
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
        let question = query("by_nick", "nick: Nickname", Index::Gsi2, "NICK#{nick}", "", "User");
        assert_eq!(found(table("t").entity(named()).asks(question.first())), []);
    }

    #[test]
    fn an_only_part_is_an_id_unless_it_is_anothers() {
        let thread = entity("Thread", "of: CallId", "CALL#{of}", "CALL").part("user: UserId");
        let thread = thread.key(Index::Gsi1, "USER#{user}", "CALL#{of}");
        assert_eq!(alone(thread), 1);
        let card = entity("Card", "of: UserId", "CARD#{of}", "CARD").part("city: CityId");
        let card = card.key(Index::Gsi1, "CITY#{city}", "CARD#{of}");
        assert_eq!(found(table("t").entity(user()).entity(card)), []);
    }
}
