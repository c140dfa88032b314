//! Archival of groups that are not persistent (R55). A group without activity for the configured time
//! becomes readable and no longer writable, a week after its members were told; its owner revives it.
//!
//! Activity is a post or another activity in the group, a comment on one of its newest posts, a message
//! in its room, and a change of the group or of its members. All of these leave their time in items that
//! exist anyway, so that a group pays for archival only when it is looked at.

use futures::future::{try_join_all, try_join4};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ActorHead, Group, RoomHead};
use roundtable_model::table::Check;
use roundtable_model::{
    ActorId, Entity, GroupId, ObjectType, Patch, PostId, RequestId, RoomId, Span, Time,
};

use super::{GroupError, GroupOutcome, Groups};
use crate::access::Permission;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::rooms::room_head;
use crate::{Caller, Context, ServiceError};

/// The time between telling the members and archiving.
pub const ARCHIVAL_NOTICE_MS: u64 = 7 * DAY_MS;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The newest activities of a group whose comments count as activity.
const NEWEST_MAX: usize = 20;

/// The next step of the archival of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchivalStep {
    /// The group is gone, persistent, archived or revived.
    Over,
    /// To be looked at again at this time.
    Wait(Time),
    /// Its members must be told that it is archived at this time.
    Tell(Time),
}

/// A group's latest activity, and conditions that no later one has been committed.
struct LatestActivity {
    at: Time,
    unchanged: Vec<Check>,
}

#[boxed]
impl Groups {
    /// Makes an archived group writable again; it counts as idle from now on. For the group's owner and
    /// admins of the server. Has no effect on a group that is not archived.
    pub async fn revive(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("reviveGroup", group, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let access = self.load_access(caller, &me, group).await?;
                let permission = Permission::ReviveGroup;
                let authority =
                    access.authorize(&self.context, caller, permission, "reviveGroup")?;
                let group = access.group;
                let outcome = GroupOutcome::Group(group.id.clone());
                if group.archived_at.is_none() {
                    return attempt.unchanged(outcome, group).await;
                }
                let idle_from = Some(self.context.now());
                let patch = archival_patch(&group, None, None).set(Group::IDLE_FROM, &idle_from);
                let revived = Group { idle_from, archives_at: None, archived_at: None, ..group };
                let commit = attempt.commit().with("group", patch).with("authority", authority);
                commit.finish(outcome, revived).await
            })
            .await
    }

    /// Archives a group that has been idle since `idle_from` for long enough, or returns what to do
    /// before. `told` is the time of archival that all members have been told of.
    pub async fn archive_if_idle(
        &self,
        group: &GroupId,
        idle_from: Time,
        told: Option<Time>,
    ) -> Result<ArchivalStep, GroupError> {
        let step = self.context.retry(async |attempt| {
            let found = self.context.core().group(group).get().await?;
            let is_same = |group: &Group| group.idle_from == Some(idle_from);
            match found.filter(|group| is_same(group) && group.archived_at.is_none()) {
                Some(group) => next_step(&self.context, &group, idle_from, told, attempt).await,
                None => Ok(AttemptOutcome::Done(ArchivalStep::Over)),
            }
        });
        Ok(step.await?)
    }
}

/// The time from which a group that is idle since `idle_from` is to be looked at.
pub fn archival_due_at(context: &Context, idle_from: Time) -> Time {
    idle_from.plus_ms(idle_ms(context).saturating_sub(ARCHIVAL_NOTICE_MS))
}

/// Refuses to write to an archived group.
pub(crate) fn require_writable(group: &Group) -> Result<(), ServiceError> {
    if group.archived_at.is_some() { Err(ServiceError::GroupArchived) } else { Ok(()) }
}

fn idle_ms(context: &Context) -> u64 {
    u64::from(context.settings().groups.idle_days.days()) * DAY_MS
}

async fn next_step(
    context: &Context,
    group: &Group,
    idle_from: Time,
    told: Option<Time>,
    attempt: Attempt<'_>,
) -> Result<AttemptOutcome<ArchivalStep>, ServiceError> {
    let now = context.now();
    let latest = latest_activity(context, group, idle_from).await?;
    let due_at = archival_due_at(context, latest.at);
    let is_used_again =
        |at: Time| latest.at >= Time::from_ms(at.ms().saturating_sub(ARCHIVAL_NOTICE_MS));
    match group.archives_at {
        None if now < due_at => Ok(AttemptOutcome::Done(ArchivalStep::Wait(due_at))),
        Some(at) if is_used_again(at) => {
            let commit = attempt.commit().with("group", archival_patch(group, None, None));
            commit.finish_unrecorded(ArchivalStep::Wait(due_at)).await
        }
        Some(at) if told == Some(at) && now < at => {
            Ok(AttemptOutcome::Done(ArchivalStep::Wait(at)))
        }
        Some(at) if told == Some(at) => {
            let archived = archival_patch(group, None, Some(now));
            let commit = attempt.commit().with("group", archived);
            let commit = commit.with_all("activity", latest.unchanged);
            commit.finish_unrecorded(ArchivalStep::Over).await
        }
        Some(at) if now < at => Ok(AttemptOutcome::Done(ArchivalStep::Tell(at))),
        // Members have a week from being told, also if the job comes late.
        None | Some(_) => {
            let at = now.plus_ms(ARCHIVAL_NOTICE_MS);
            let commit = attempt.commit().with("group", archival_patch(group, Some(at), None));
            commit.finish_unrecorded(ArchivalStep::Tell(at)).await
        }
    }
}

/// Sets both times, if the group's archival is as it was read.
fn archival_patch(
    group: &Group,
    archives_at: Option<Time>,
    archived_at: Option<Time>,
) -> Patch<Group> {
    let unchanged = Group::IDLE_FROM
        .is(&group.idle_from)
        .and(Group::ARCHIVES_AT.is(&group.archives_at))
        .and(Group::ARCHIVED_AT.is(&group.archived_at));
    let patch = group.key().patch().set(Group::ARCHIVES_AT, &archives_at);
    patch.set(Group::ARCHIVED_AT, &archived_at).when(unchanged)
}

async fn latest_activity(
    context: &Context,
    group: &Group,
    idle_from: Time,
) -> Result<LatestActivity, ServiceError> {
    let (core, actor) = (context.core(), ActorId::from(&group.id));
    let heads = async {
        Ok(core.actor_heads(std::slice::from_ref(&actor)).strong().get().await?.into_iter().next())
    };
    let counts =
        async { Ok(core.group_counts(std::slice::from_ref(&group.id)).strong().get().await?) };
    let (head, room, counts, comment) = try_join4(
        heads,
        room_head(context, &group.room_id),
        counts,
        latest_comment(context, &actor),
    )
    .await?;
    let head: Option<ActorHead> = head.flatten();
    let counted = counts.into_iter().flatten().map(|counter| counter.updated_at).max();
    let times = [Some(group.updated_at), head.as_ref().map(|head| head.last_ts), counted, comment];
    let said = room.as_ref().map(|room| room.last_ts);
    let at = times.into_iter().flatten().chain(said).max().unwrap_or(idle_from).max(idle_from);
    let posted = match &head {
        Some(head) => head.key().check(ActorHead::VERSION.is(&head.version)),
        None => ActorHead::at(&actor).absent(),
    };
    let said = room.map(|room| same_head(&group.room_id, room.seq));
    Ok(LatestActivity { at, unchanged: std::iter::once(posted).chain(said).collect() })
}

fn same_head(room: &RoomId, seq: u64) -> Check {
    RoomHead::at(room).check(RoomHead::SEQ.is(&seq))
}

/// The time of the latest comment on one of the newest posts of a group.
async fn latest_comment(context: &Context, group: &ActorId) -> Result<Option<Time>, ServiceError> {
    let newest = context.core().activities_of(group, Span::ALL).strong().limit(NEWEST_MAX);
    let newest = newest.page().await?.items.into_iter();
    let posts = newest.filter(|activity| activity.object_type == ObjectType::Post);
    let posts: Vec<PostId> = posts.map(|activity| activity.object_id.recast()).collect();
    let latest = try_join_all(posts.iter().map(async |post| {
        let latest = context.core().comments(post).strong().limit(1).page().await?;
        Ok::<_, ServiceError>(latest.items.into_iter().next().map(|comment| comment.created_at))
    }));
    Ok(latest.await?.into_iter().flatten().max())
}
