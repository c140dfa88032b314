//! A single follow: from when feeds may rely on it, its counters, and its removal.

use roundtable_model::entities::{Follow, PostWatch, User};
use roundtable_model::table::{Condition, Delete, Write};
use roundtable_model::{ActorId, Entity, FollowStatus, Shard, Time, UserCount};

use crate::circle::{change_count, raise_circle_version};
use crate::{Context, ServiceError};

/// A new follow, or a pending request if the account is private.
pub(super) async fn new_edge(
    context: &Context,
    me: &User,
    them: &User,
) -> Result<Follow, ServiceError> {
    let now = context.now();
    let (status, active_since) = if them.is_private {
        (FollowStatus::Pending, None)
    } else {
        let since = active_since(context, &(&them.id).into(), now).await?;
        (FollowStatus::Active, Some(since))
    };
    let days = context.settings().shards.follows.0;
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
        notify_posts: None,
        activity_pub_id: None,
        version: 1,
        created_at: now,
    })
}

/// Returns the request as an active follow.
pub(super) async fn activate(
    context: &Context,
    requested: &Follow,
) -> Result<Follow, ServiceError> {
    let since = active_since(context, &(&requested.followee_id).into(), context.now()).await?;
    Ok(Follow { status: FollowStatus::Active, active_since: Some(since), ..requested.clone() })
}

/// The time from which a follower of a user, or a member of a group, sees pushed activities: never
/// before the actor's latest activity.
pub(crate) async fn active_since(
    context: &Context,
    actor: &ActorId,
    now: Time,
) -> Result<Time, ServiceError> {
    let heads = context.core().actor_heads(std::slice::from_ref(actor)).strong().get();
    let head = heads.await?.into_iter().flatten().next();
    Ok(head.map_or(now, |head| now.max(head.last_ts)))
}

/// Returns the writes that remove a follow with its counters; they fail when it has changed.
pub(crate) fn removal_writes(edge: &Follow, now: Time) -> Vec<(&'static str, Write)> {
    let mut writes = removal_without_circle(edge, now);
    if follow_count(edge) != 0 {
        writes.push((
            "circle",
            raise_circle_version(&edge.follower_id, -follow_count(edge), now).into(),
        ));
    }
    writes
}

/// As [`removal_writes`], without the follower's circle: for callers that change that circle
/// themselves, since an item may occur only once in a transaction. They subtract [`follow_count`]
/// from it.
pub(crate) fn removal_without_circle(edge: &Follow, now: Time) -> Vec<(&'static str, Write)> {
    let unchanged: Condition = Follow::VERSION.is(&edge.version);
    let mut writes: Vec<(&'static str, Write)> =
        vec![("edge", edge.key().delete().when(unchanged).into())];
    if follow_count(edge) != 0 {
        writes.push(("followers", change_follower_count(edge, -follow_count(edge), now)));
    }
    if edge.wants_posts() {
        writes.push(("watch", watch_write(edge, false, now)));
    }
    writes
}

/// Creates or deletes the item by which the authors of posts find followers who want to hear of them.
pub(super) fn watch_write(edge: &Follow, wants: bool, now: Time) -> Write {
    let (follower_id, followee_id) = (edge.follower_id.clone(), edge.followee_id.clone());
    let watch = PostWatch { follower_id, followee_id, created_at: now };
    if wants { watch.put().into() } else { Delete::new(watch.key()).into() }
}

/// The follow's contribution to counters: 1 if active, 0 if pending.
pub(crate) fn follow_count(edge: &Follow) -> i64 {
    i64::from(edge.status == FollowStatus::Active)
}

/// Adjusts the followee's follower count, in the shard the follow was written under.
pub(super) fn change_follower_count(edge: &Follow, by: i64, now: Time) -> Write {
    change_count(&edge.followee_id, UserCount::Followers, edge.shard, by, now).into()
}
