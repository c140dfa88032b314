//! One edge of the graph: since when feeds may rely on it, what it counts for, and how it is taken away.

use roundtable_model::entities::{Follow, User};
use roundtable_model::table::{Condition, Write};
use roundtable_model::{ActorId, Entity, FollowStatus, Shard, Time, UserCount};

use crate::circle::{circle, count};
use crate::{Failure, Ground};

/// A follow, or a request if the account is private.
pub(super) async fn new_edge(ground: &Ground, me: &User, them: &User) -> Result<Follow, Failure> {
    let now = ground.now();
    let (status, active_since) = if them.is_private {
        (FollowStatus::Pending, None)
    } else {
        let since = active_since(ground, &(&them.id).into(), now).await?;
        (FollowStatus::Active, Some(since))
    };
    let days = ground.settings().shards.follows.0;
    Ok(Follow {
        follower_id: me.id.clone(),
        followee_id: them.id.clone(),
        follower_nickname: me.nickname.clone(),
        followee_nickname: them.nickname.clone(),
        status,
        muted: false,
        active_since,
        shard: Shard::of(&me.id.to_string(), them.follower_shards),
        day_shard: Shard::of(&me.id.to_string(), days),
        notification_enabled: true,
        activity_pub_id: None,
        version: 1,
        created_at: now,
    })
}

/// What was asked for, granted.
pub(super) async fn active_from_now(ground: &Ground, asked: &Follow) -> Result<Follow, Failure> {
    let since = active_since(ground, &(&asked.followee_id).into(), ground.now()).await?;
    Ok(Follow { status: FollowStatus::Active, active_since: Some(since), ..asked.clone() })
}

/// From when on a follower of a person, or a member of a group, sees pushed activities: never before
/// what the actor has done already.
pub(crate) async fn active_since(
    ground: &Ground,
    actor: &ActorId,
    now: Time,
) -> Result<Time, Failure> {
    let heads = ground.core().actor_heads(std::slice::from_ref(actor)).strong().get();
    let head = heads.await?.into_iter().flatten().next();
    Ok(head.map_or(now, |head| now.max(head.last_ts)))
}

/// The writes that take an edge away, with what it counts for; refused when it has changed.
pub(crate) fn removal(edge: &Follow, now: Time) -> Vec<(&'static str, Write)> {
    let mut writes = severed(edge, now);
    if counted(edge) != 0 {
        writes.push(("circle", circle(&edge.follower_id, -counted(edge), now).into()));
    }
    writes
}

/// As [`removal`], without the follower's circle: for whoever changes that circle anyway, since no item
/// may occur twice in a transaction. They take [`counted`] off it.
pub(crate) fn severed(edge: &Follow, now: Time) -> Vec<(&'static str, Write)> {
    let unchanged: Condition = Follow::VERSION.is(&edge.version);
    let mut writes: Vec<(&'static str, Write)> =
        vec![("edge", edge.key().delete().when(unchanged).into())];
    if counted(edge) != 0 {
        writes.push(("followers", followers(edge, -counted(edge), now)));
    }
    writes
}

/// For how many follows an edge counts: a request for none.
pub(crate) fn counted(edge: &Follow) -> i64 {
    i64::from(edge.status == FollowStatus::Active)
}

/// Changes how many follow somebody, in the shard that the edge was written under.
pub(super) fn followers(edge: &Follow, by: i64, now: Time) -> Write {
    count(&edge.followee_id, UserCount::Followers, edge.shard, by, now).into()
}
