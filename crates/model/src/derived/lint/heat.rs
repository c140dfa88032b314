//! Partitions that many write to. DynamoDB gives each partition 1,000 write units a second, however
//! large the table is.

use roundtable_table::Capacity;

use super::{Finding, Lint, listed, parts};
use crate::derived::asked;
use crate::shape::{EntityShape, Index, KeyShape, TableShape};

/// What one partition takes.
const PARTITION_WRITE_UNITS_PER_SECOND: u64 = 1000;

/// Who meets in a partition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Heat {
    /// Whoever writes to the same thing.
    Popular,
    /// Whoever does something that the same item counts, or is the head of.
    Tallied,
    /// Whoever writes at all.
    Everybody,
}

pub(super) fn check(table: &TableShape, bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entity in table.entities {
        for index in std::iter::once(Index::Main).chain(Index::SECONDARY) {
            let keys = entity.keys.iter().filter(|key| key.index == index);
            let hot: Vec<(Heat, &KeyShape)> =
                keys.filter_map(|key| Some((heat(table, entity, key)?, key))).collect();
            findings.extend(finding(table, entity, index, &hot, bytes(entity)));
        }
    }
    findings
}

fn heat(table: &TableShape, entity: &EntityShape, key: &KeyShape) -> Option<Heat> {
    // One item is no crowd, unless a crowd writes it.
    let tally = parts::is_tally(key);
    let single = parts::apart(entity, &key.partition).next().is_none();
    if (single && !tally) || asked::is_lookup(table, entity, key) {
        return None;
    }
    let things: Vec<&str> = parts::whole_parts(&key.partition)
        .filter(|name| parts::thing_kind(entity, name).is_some())
        .collect();
    if things.is_empty() {
        return Some(Heat::Everybody);
    }
    let owned = |name: &&str| {
        parts::thing_kind(entity, name).is_some_and(|kind| parts::is_private(table, kind))
    };
    if things.iter().any(owned) {
        return None;
    }
    if tally {
        return Some(Heat::Tallied);
    }
    let by_owner = parts::writer(entity).is_some_and(|writer| things.contains(&writer));
    (!by_owner).then_some(Heat::Popular)
}

/// One finding for all hot keys of an entity on an index: those without shards, if there are any.
fn finding(
    table: &TableShape,
    entity: &EntityShape,
    index: Index,
    hot: &[(Heat, &KeyShape)],
    bytes: usize,
) -> Option<Finding> {
    let sharded = hot.iter().all(|(_, key)| key.partition.is_sharded());
    let shown = hot.iter().filter(|(_, key)| sharded || !key.partition.is_sharded());
    let heat = shown.clone().map(|(heat, _)| *heat).max()?;
    let partitions: Vec<String> =
        shown.map(|(_, key)| format!("`{}`", key.partition.text)).collect();
    let partitions = listed(&partitions, "and");
    let units = Capacity::write(bytes).write_units;
    let rate = PARTITION_WRITE_UNITS_PER_SECOND / units.max(1);
    let who = match heat {
        Heat::Everybody => format!("all writes meet in {partitions}"),
        Heat::Popular => format!("anybody may write to {partitions}, and some are popular"),
        Heat::Tallied => {
            format!("whatever it counts or leads writes to {partitions}, whoever does it")
        }
    };
    let also = match index {
        Index::Main => format!(" ({} in transactions)", rate / 2),
        _ => String::from("; beyond that the index holds up the writes of the table"),
    };
    let cost = match units {
        1 => String::from("one write unit"),
        units => format!("{units} write units"),
    };
    Some(Finding {
        lint: Lint::Hot,
        table: table.name,
        subject: entity.name,
        index,
        message: format!(
            "{who}: one partition takes {rate} of them a second, at {cost} each{also}"
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
    use crate::derived::draft::{Entity, Table, entity, otherwise, query, table, when};

    fn like() -> Entity {
        entity("Like", "post_id: PostId, user_id: UserId", "POST#{post_id}", "LIKE#{user_id}")
    }

    fn found(table: Table, bytes: usize) -> Vec<(&'static str, Index, bool)> {
        let findings = check(table.shape(), &|_| bytes);
        findings.iter().map(|found| (found.subject, found.index, found.is_open())).collect()
    }

    #[test]
    fn a_thing_that_anybody_writes_to_may_be_popular() {
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
    fn what_somebody_writes_at_home_is_not_hot() {
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        assert_eq!(found(table("t").entity(goal), 100), []);
    }

    #[test]
    fn what_belongs_to_somebodys_own_thing_is_not_hot() {
        let task = || {
            entity("Task", "goal_id: GoalId, id: TaskId", "GOAL#{goal_id}", "TASK#{id}")
                .part("user_id: UserId")
        };
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        assert_eq!(found(table("t").entity(goal).entity(task()), 100), []);
        assert_eq!(found(table("t").entity(task()), 100), [("Task", Index::Main, true)]);
    }

    #[test]
    fn one_item_is_no_crowd() {
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
    fn a_counter_is_written_by_whoever_does_what_it_counts() {
        let counter =
            |kind: &'static str, sort: &'static str| entity("Counter", kind, "OF#{of}", sort);
        let page = table("t").entity(counter("of: UserId, n: Shard", "COUNTER#FANS[#{n}]")).shape();
        let [finding] = check(page, &|_| 100).try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("Counter", Index::Main));
        assert!(finding.message.starts_with("whatever it counts or leads"), "{}", finding.message);
        let head = table("t").entity(counter("of: RoomId", "HEAD"));
        assert_eq!(found(head, 100), [("Counter", Index::Main, true)]);
        // Of what is one person's own, the owner alone does anything.
        let goal = entity("Goal", "user_id: UserId, id: GoalId", "USER#{user_id}", "GOAL#{id}");
        let own = table("t").entity(goal).entity(counter("of: GoalId", "COUNTER#TASKS"));
        assert_eq!(found(own, 100), []);
    }

    #[test]
    fn what_others_do_to_somebody_may_be_done_to_the_famous() {
        let told = || entity("Told", "user_id: UserId, id: ToldId", "TOLD#{user_id}", "TS#{id}");
        assert_eq!(found(table("t").entity(told()), 100), []);
        let by_others = told().field("actor_id", "UserId", "Who did it.");
        assert_eq!(found(table("t").entity(by_others), 100), [("Told", Index::Main, true)]);
        let of_another_kind = told().field("actor_id", "ActorId", "");
        assert_eq!(found(table("t").entity(of_another_kind), 100), []);
    }

    #[test]
    fn a_key_without_an_id_is_everybodys() {
        let post = entity("Post", "id: PostId", "POST#{id}", "POST")
            .part("created_at: time")
            .part("status: ModerationStatus")
            .key(Index::Gsi2, "QUEUE#{status}#{created_at:day}", "{created_at}#{id}");
        let page = table("t").entity(post).shape();
        let [finding] = check(page, &|_| 100).try_into().unwrap();
        assert_eq!((finding.index, finding.is_open()), (Index::Gsi2, true));
        assert!(finding.message.starts_with("all writes meet in"), "{}", finding.message);
        assert!(
            finding.message.contains("holds up the writes of the table"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn shards_are_for_the_page_to_accept_and_the_rate_is_told() {
        let post = entity("Post", "id: PostId", "POST#{id}", "POST").part("shard: Shard").key(
            Index::Gsi3,
            "POPULAR[#{shard}]",
            "{id}",
        );
        let [finding] = check(table("t").entity(post).shape(), &|_| 3000).try_into().unwrap();
        assert!(finding.is_open(), "only the page says that it is as it should be");
        assert!(finding.remedy.contains("more shards before one sees 333"), "{}", finding.remedy);
    }

    #[test]
    fn of_several_keys_on_an_index_those_without_shards_count() {
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
        let question =
            || query("by_word", "word: Tag", Index::Gsi2, "WORD#{word}", "C#", "Comment");
        let listed = table("t").entity(comment()).asks(question());
        assert_eq!(
            found(listed, 100),
            [("Comment", Index::Main, true), ("Comment", Index::Gsi2, true)]
        );
        let looked_up = table("t").entity(comment()).asks(question().first());
        assert_eq!(found(looked_up, 100), [("Comment", Index::Main, true)]);
    }
}
