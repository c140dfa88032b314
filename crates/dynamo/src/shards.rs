//! The shards of a stream in the order they must be read: parents before children.

use std::collections::HashSet;

use aws_sdk_dynamodbstreams::types::Shard as WireShard;
use roundtable_table::ShardInfo;

/// Sorts listed shards, parents first. A parent that is no longer listed was trimmed, and is dropped.
pub(crate) fn in_order(listed: Vec<WireShard>) -> Vec<ShardInfo> {
    let listed_ids: HashSet<String> =
        listed.iter().filter_map(|shard| shard.shard_id.clone()).collect();
    let mut waiting: Vec<ShardInfo> = listed
        .into_iter()
        .filter_map(|shard| {
            let parent = shard.parent_shard_id.filter(|parent| listed_ids.contains(parent));
            Some(ShardInfo { id: shard.shard_id?, parent })
        })
        .collect();
    let mut placed: HashSet<String> = HashSet::new();
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let ready = |shard: &ShardInfo| shard.parent.as_ref().is_none_or(|id| placed.contains(id));
        let (ready, rest): (Vec<ShardInfo>, Vec<ShardInfo>) = waiting.into_iter().partition(ready);
        if ready.is_empty() {
            // A cycle of parents, which DynamoDB never lists: reading is better than losing them.
            ordered.extend(rest);
            break;
        }
        placed.extend(ready.iter().map(|shard| shard.id.clone()));
        ordered.extend(ready);
        waiting = rest;
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: &str, parent: Option<&str>) -> WireShard {
        WireShard::builder().shard_id(id).set_parent_shard_id(parent.map(str::to_owned)).build()
    }

    #[test]
    fn parents_come_first_and_trimmed_parents_are_dropped() {
        let listed = vec![
            shard("grandchild", Some("child")),
            shard("child", Some("old")),
            shard("orphan", Some("trimmed")),
            shard("old", None),
        ];
        let ordered = in_order(listed);
        let ids: Vec<&str> = ordered.iter().map(|shard| shard.id.as_str()).collect();
        assert_eq!(ids, ["orphan", "old", "child", "grandchild"]);
        assert_eq!(ordered[0].parent, None);
        assert_eq!(ordered[3].parent.as_deref(), Some("child"));
    }

    #[test]
    fn a_cycle_of_parents_terminates() {
        let listed = vec![shard("a", Some("b")), shard("b", Some("a"))];
        assert_eq!(in_order(listed).len(), 2);
    }
}
