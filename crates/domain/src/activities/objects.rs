//! Checks of the object of a posted activity: the caller's own object, a group they are in, or
//! themselves.

use roundtable_model::entities::{Comment, Goal, Group, Post, Quest};
use roundtable_model::table::Check;
use roundtable_model::{
    CommentId, Entity, GoalId, GroupId, MemberStatus, ObjectType, PostId, QuestId, SubjectId,
    TaskId, UserId,
};

use super::{Activities, ActivityError, NewActivity};
use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::groups::{active_member_check, require_writable};
use crate::{Caller, Context, ServiceError};

/// The checked object of an activity.
pub(super) struct ActivityTarget {
    /// Conditions of the write: the object exists and is the caller's, and the caller is in the
    /// activity's group.
    pub(super) checks: Vec<Check>,
    /// The container that the object is stored in, if its key needs one.
    pub(super) home: Option<SubjectId>,
}

/// Conditions on an object, and its container.
type ObjectChecks = (Vec<Check>, Option<SubjectId>);

impl Activities {
    /// Checks that the caller may post this activity.
    pub(super) async fn check_target(
        &self,
        caller: &Caller,
        input: &NewActivity,
    ) -> Result<ActivityTarget, ActivityError> {
        let me = &caller.user_id;
        let (mut checks, mut home) = (Vec::new(), None);
        if let Some(group) = &input.group_id {
            match posting_access(&self.context, caller, group).await? {
                PostingAccess::Allowed(active) => checks.extend(active),
                PostingAccess::NotAMember => return Err(ActivityError::NotAMember),
                PostingAccess::NoGroup => return Err(ActivityError::NoSuchGroup),
            }
        }
        // The same check twice would be two writes to one item.
        let checked = input.group_id.as_ref().map(GroupId::recast);
        if input.object_type != ObjectType::Group || checked.as_ref() != Some(&input.object_id) {
            let found = self.object(me, input).await?.ok_or(ActivityError::NoSuchObject)?;
            checks.extend(found.0);
            home = found.1;
        }
        Ok(ActivityTarget { checks, home })
    }

    /// Returns the object if it exists and is the caller's.
    async fn object(
        &self,
        me: &UserId,
        input: &NewActivity,
    ) -> Result<Option<ObjectChecks>, ServiceError> {
        let core = self.context.core();
        let id = &input.object_id;
        let check = match input.object_type {
            ObjectType::Goal => {
                let goal = core.goal(me, &id.recast::<GoalId>()).get().await?;
                goal.map(|goal| Goal::at(me, &goal.id).exists())
            }
            ObjectType::Task => {
                let task = crate::tasks::find(&self.context, &id.recast::<TaskId>()).await?;
                let Some(task) = task.filter(|task| task.user_id == *me) else { return Ok(None) };
                // A task exists only while its goal does.
                let goal = core.goal(me, &task.goal_id).get().await?;
                return Ok(goal.map(|goal| {
                    let checks = vec![task.key().exists(), goal.key().exists()];
                    (checks, Some(goal.id.into()))
                }));
            }
            ObjectType::Quest => {
                let quest = core.quest(me, &id.recast::<QuestId>()).get().await?;
                quest.map(|quest| Quest::at(me, &quest.id).exists())
            }
            ObjectType::Post => {
                let post = core.post(&id.recast::<PostId>()).get().await?;
                let post = post.filter(|post| post.author_id == *me && !post.is_deleted);
                post.map(|post| Post::at(&post.id).check(Post::IS_DELETED.is(&false)))
            }
            ObjectType::Comment => {
                let comment =
                    crate::comments::find(&self.context, &id.recast::<CommentId>()).await?;
                let comment = comment.filter(|it| it.user_id == *me && !it.is_deleted);
                return Ok(comment.map(|it| {
                    let live = it.key().check(Comment::IS_DELETED.is(&false));
                    (vec![live], Some(it.post_id.into()))
                }));
            }
            ObjectType::Group => {
                let group: GroupId = id.recast();
                let member = core.member(&group, me).get().await?;
                let member = member.filter(|member| member.status == MemberStatus::Active);
                member.map(|_| active_member_check(&group, me))
            }
            ObjectType::User => (id.recast::<UserId>() == *me).then(|| active_account_check(me)),
        };
        Ok(check.map(|check| (vec![check], None)))
    }
}

/// A caller's access to a group they want to post into.
pub(crate) enum PostingAccess {
    /// A member, as long as these conditions hold.
    Allowed(Vec<Check>),
    NotAMember,
    NoGroup,
}

/// Returns whether the caller may post into a group, and the conditions that must still hold at the
/// write.
pub(crate) async fn posting_access(
    context: &Context,
    caller: &Caller,
    group: &GroupId,
) -> Result<PostingAccess, ServiceError> {
    let access = context.viewer_relations(Some(caller), [], [group]).await?;
    let Some(found) = access.visible_group(group) else { return Ok(PostingAccess::NoGroup) };
    let member = access.membership(group);
    let is_active = member.is_some_and(|member| member.status == MemberStatus::Active);
    if !allows(
        Permission::PostIntoGroup,
        Relations::SIGNED_IN.with_if(is_active, Relations::MEMBER),
    ) {
        return Ok(PostingAccess::NotAMember);
    }
    require_writable(found)?;
    let not_archived = Group::OWNER_ID.exists().and(Group::ARCHIVED_AT.absent());
    Ok(PostingAccess::Allowed(vec![
        Group::at(group).check(not_archived),
        active_member_check(group, &caller.user_id),
    ]))
}
