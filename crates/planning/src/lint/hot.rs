//! Partitions that many users write to. DynamoDB gives each partition 1,000 write units a second,
//! regardless of the size of the table.

use roundtable_model::shape::{EntityShape, Index, KeyShape, TableShape};
use roundtable_table::Capacity;

use super::{LintFinding, LintRule, listed, parts};
use crate::key_patterns;

const PARTITION_WRITE_UNITS_PER_SECOND: u64 = 1000;

/// The writers that share a partition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WriteContention {
    /// All users who write to the same object.
    Popular,
    /// All users whose actions the same counter or head records.
    Counter,
    AllWriters,
}

pub(super) fn check(table: &TableShape, bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        for index in std::iter::once(Index::Main).chain(Index::SECONDARY) {
            let keys = entity.keys.iter().filter(|key| key.index == index);
            let hot: Vec<(WriteContention, &KeyShape)> =
                keys.filter_map(|key| Some((contention(table, entity, key)?, key))).collect();
            findings.extend(finding(table, entity, index, &hot, bytes(entity)));
        }
    }
    findings
}

fn contention(table: &TableShape, entity: &EntityShape, key: &KeyShape) -> Option<WriteContention> {
    // A single item is not hot, unless it is a counter.
    let counter = parts::is_counter(key);
    let single = parts::distinguishing_parts(entity, &key.partition).next().is_none();
    if (single && !counter) || key_patterns::is_lookup(table, entity, key) {
        return None;
    }
    let ids: Vec<&str> = parts::whole_parts(&key.partition)
        .filter(|name| parts::id_kind(entity, name).is_some())
        .collect();
    if ids.is_empty() {
        return Some(WriteContention::AllWriters);
    }
    let owned = |name: &&str| {
        parts::id_kind(entity, name).is_some_and(|kind| parts::is_private(table, kind))
    };
    if ids.iter().any(owned) {
        return None;
    }
    if counter {
        return Some(WriteContention::Counter);
    }
    let by_owner = parts::writer(entity).is_some_and(|writer| ids.contains(&writer));
    (!by_owner).then_some(WriteContention::Popular)
}

/// Returns one finding for all hot keys of an entity on an index: those without shards, if there
/// are any.
fn finding(
    table: &TableShape,
    entity: &EntityShape,
    index: Index,
    hot: &[(WriteContention, &KeyShape)],
    bytes: usize,
) -> Option<LintFinding> {
    let sharded = hot.iter().all(|(_, key)| key.partition.is_sharded());
    let shown = hot.iter().filter(|(_, key)| sharded || !key.partition.is_sharded());
    let contention = shown.clone().map(|(contention, _)| *contention).max()?;
    let partitions: Vec<String> =
        shown.map(|(_, key)| format!("`{}`", key.partition.text)).collect();
    let partitions = listed(&partitions, "and");
    let units = Capacity::write(bytes).write_units;
    let rate = PARTITION_WRITE_UNITS_PER_SECOND / units.max(1);
    let writers = match contention {
        WriteContention::AllWriters => format!("all writes go to {partitions}"),
        WriteContention::Popular => {
            format!("any user may write to {partitions}, and some are popular")
        }
        WriteContention::Counter => {
            format!("every change that it counts or orders writes to {partitions}")
        }
    };
    let also = match index {
        Index::Main => format!(" ({} in transactions)", rate / 2),
        _ => String::from("; beyond that the index throttles the writes of the table"),
    };
    let cost = match units {
        1 => String::from("one write unit"),
        units => format!("{units} write units"),
    };
    Some(LintFinding {
        lint: LintRule::Hot,
        table: table.name,
        subject: entity.name,
        index,
        message: format!(
            "{writers}: one partition takes {rate} of them a second, at {cost} each{also}"
        ),
        remedy: if sharded {
            format!("use more shards before one sees {rate} writes a second")
        } else {
            format!(
                "end the partition key in `[#{{shard}}]` before one sees {rate} writes a second"
            )
        },
        accepted: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{
        EntityDraft, PatternDraft, TableDraft, entity, otherwise, query, table, when,
    };

    fn like() -> EntityDraft {
        entity("Like", "post_id: PostId, user_id: UserId", "POST#{post_id}", "LIKE#{user_id}")
    }

    fn found(table: TableDraft, bytes: usize) -> Vec<(&'static str, Index, bool)> {
        let findings = check(table.shape(), &|_| bytes);
        findings.iter().map(|found| (found.subject, found.index, found.is_open())).collect()
    }

    #[test]
    fn an_object_that_any_user_writes_to_may_be_popular() {
        let page = table("t").entity(like()).shape();
        let [finding] = check(page, &|_| 1500).try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Like", Index::Main));
        assert!(finding.message.contains("`POST#{post_id}`"), "{}", finding.message);
        assert!(finding.message.contains("500 of them a second"), "{}", finding.message);
        assert!(finding.message.contains("2 write units"), "{}", finding.message);
        assert!(finding.message.contains("(250 in transactions)"), "{}", finding.message);
        assert!(finding.remedy.contains("`[#{shard}]`"), "{}", finding.remedy);
    }

    #[test]
    fn small_items_take_a_unit_each() {
        let [finding] = check(table("t").entity(like()).shape(), &|_| 0).try_into().unwrap();
        assert!(
            finding.message.contains("1000 of them a second, at one write unit"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn a_users_own_partition_is_not_hot() {
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        assert_eq!(found(table("t").entity(goal), 100), []);
    }

    #[test]
    fn the_partition_of_a_users_own_object_is_not_hot() {
        let task = || {
            entity("Task", "goal_id: GoalId, id: TaskId", "GOAL#{goal_id}", "TASK#{id}")
                .part("user_id: UserId")
        };
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        assert_eq!(found(table("t").entity(goal).entity(task()), 100), []);
        assert_eq!(found(table("t").entity(task()), 100), [("Task", Index::Main, true)]);
    }

    #[test]
    fn a_single_item_is_not_hot() {
        let post = entity("Post", "id: PostId", "POST#{id}", "POST");
        let settings = entity(
            "Settings",
            "post_id: PostId, of: SettingKind",
            "POST#{post_id}",
            "SETTING#{of}",
        );
        assert_eq!(found(table("t").entity(post).entity(settings), 100), []);
    }

    #[test]
    fn a_counter_is_hot_unless_its_object_has_one_owner() {
        let counter =
            |kind: &'static str, sort: &'static str| entity("Counter", kind, "OF#{of}", sort);
        let page = table("t").entity(counter("of: UserId, n: Shard", "COUNTER#FANS[#{n}]")).shape();
        let [finding] = check(page, &|_| 100).try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Counter", Index::Main));
        assert!(finding.message.starts_with("every change that it counts"), "{}", finding.message);
        let head = table("t").entity(counter("of: RoomId", "HEAD"));
        assert_eq!(found(head, 100), [("Counter", Index::Main, true)]);
        // Only the owner writes to an object of their own.
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        let own = table("t").entity(goal).entity(counter("of: GoalId", "COUNTER#TASKS"));
        assert_eq!(found(own, 100), []);
    }

    #[test]
    fn items_that_other_users_write_may_be_hot() {
        let notice =
            || entity("Notice", "user_id: UserId, id: NoticeId", "NOTICE#{user_id}", "TS#{id}");
        assert_eq!(found(table("t").entity(notice()), 100), []);
        let by_others = notice().field("actor_id", "UserId", "");
        assert_eq!(found(table("t").entity(by_others), 100), [("Notice", Index::Main, true)]);
        let of_another_kind = notice().field("actor_id", "ActorId", "");
        assert_eq!(found(table("t").entity(of_another_kind), 100), []);
    }

    #[test]
    fn a_key_without_an_id_receives_all_writes() {
        let post = entity("Post", "id: PostId", "POST#{id}", "POST")
            .part("created_at: time")
            .part("status: ModerationStatus")
            .key(Index::Gsi2, "QUEUE#{status}#{created_at:day}", "{created_at}#{id}");
        let page = table("t").entity(post).shape();
        let [finding] = check(page, &|_| 100).try_into().unwrap();
        assert_eq!((finding.index, finding.is_open()), (Index::Gsi2, true));
        assert!(finding.message.starts_with("all writes go to"), "{}", finding.message);
        assert!(
            finding.message.contains("throttles the writes of the table"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn a_sharded_key_is_a_finding_with_the_rate_of_one_shard() {
        let post = entity("Post", "id: PostId", "POST#{id}", "POST").part("shard: Shard").key(
            Index::Gsi3,
            "POPULAR[#{shard}]",
            "{id}",
        );
        let [finding] = check(table("t").entity(post).shape(), &|_| 3000).try_into().unwrap();
        assert!(finding.is_open(), "only the schema accepts findings");
        assert!(finding.remedy.contains("more shards before one sees 333"), "{}", finding.remedy);
    }

    #[test]
    fn of_several_keys_on_an_index_those_without_shards_are_reported() {
        let follow = entity(
            "Follow",
            "follower_id: UserId, followee_id: UserId",
            "USER#{follower_id}",
            "FOLLOWING#{followee_id}",
        )
        .part("shard: Shard")
        .part("mut status: FollowStatus")
        .key_if(
            Index::Gsi1,
            when("active", "status"),
            "USER#{followee_id}[#{shard}]",
            "FOLLOWER#{follower_id}",
        )
        .key_if(Index::Gsi1, otherwise(), "USER#{followee_id}", "REQUEST#{follower_id}");
        let user = entity("User", "id: UserId", "USER#{id}", "PROFILE#{id}");
        let page = table("t").entity(user).entity(follow).shape();
        let [finding] = check(page, &|_| 100).try_into().unwrap();
        assert!(finding.is_open());
        assert!(finding.message.contains("`USER#{followee_id}`"), "{}", finding.message);
        assert!(!finding.message.contains("shard"), "{}", finding.message);
    }

    #[test]
    fn a_lookup_leads_to_one_item() {
        let comment = || {
            entity("Comment", "post_id: PostId, id: CommentId", "POST#{post_id}", "C#{id}")
                .part("user_id: UserId")
                .part("word: Nickname")
                .key(Index::Gsi2, "WORD#{word}", "C#{id}")
        };
        let pattern = || query("by_word", "word: Tag", Index::Gsi2, "WORD#{word}", "C#", "Comment");
        let listed = table("t").entity(comment()).pattern(pattern());
        assert_eq!(
            found(listed, 100),
            [("Comment", Index::Main, true), ("Comment", Index::Gsi2, true)]
        );
        let looked_up = table("t").entity(comment()).pattern(pattern().first());
        assert_eq!(found(looked_up, 100), [("Comment", Index::Main, true)]);
    }
}
