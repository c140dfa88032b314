//! A patch would leave the other fields in their older form.

#![allow(dead_code, unused_imports)]

use roundtable_model::{Fields, FollowStatus, Score, Shard, Shards, Time, UserId, single_table};

#[derive(Clone, Debug, PartialEq, Fields)]
pub struct Follow {
    pub follower_id: UserId,
    pub followee_id: UserId,
    pub status: FollowStatus,
    pub note: Option<String>,
    pub due_at: Option<Time>,
    pub shard: Shard,
    pub version: u64,
    pub created_at: Time,
}

impl Follow {
    pub fn active(status: &FollowStatus) -> bool {
        *status == FollowStatus::Active
    }
}

impl Block {
    pub fn weigh(_: &mut roundtable_model::table::Attributes) -> Result<(), roundtable_model::InvalidField> {
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Fields)]
pub struct Block {
    pub blocker_id: UserId,
    pub blocked_id: UserId,
    pub weight: u64,
    pub score: Score,
}

single_table! {
/// The table of a town.
table Town "gg_town" (gsi1, gsi2) streamed {
    /// One user follows another.
    Follow(follower_id: UserId, followee_id: UserId) + (created_at, shard, mut status, mut due_at?) {
        main                   => "USER#{follower_id}",              "FOLLOWING#{followee_id}";
        gsi1 if active(status) => "USER#{followee_id}[#{shard}]",    "FOLLOWER#{follower_id}";
        gsi1 else              => "USER#{followee_id}",              "REQUEST#{follower_id}";
        gsi2 if due_at         => "DAY#{created_at:day}",            "{created_at}#{due_at}";
    }
    /// One user blocks another.
    Block(blocker_id: UserId, blocked_id: UserId) + (score) upgraded by (weigh) {
        main                   => "USER#{blocker_id}",               "BLOCK#{blocked_id}";
        gsi2                   => "BLOCKS",                          "{score}#{blocker_id}";
    }
}
access_patterns {
    follows(a: UserId, b: UserId)           => main, "USER#{a}", "FOLLOWING#{b}", strong -> Follow;
    following(user: UserId)                 => main, "USER#{user}", begins "FOLLOWING#", asc -> Follow;
    followers(user: UserId, shards: Shards) => gsi1, "USER#{user}[#{shards}]", begins "FOLLOWER#", asc -> Follow;
}
}

fn patch(a: &UserId, b: &UserId) {
    let _ = Block::at(a, b).patch().set(Block::WEIGHT, &5);
}

fn main() {}
