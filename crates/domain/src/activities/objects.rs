//! What somebody may tell of: what is theirs, the groups they are in, and themselves.

use roundtable_model::entities::{Comment, Goal, Group, GroupMember, Post, Quest, User};
use roundtable_model::table::{Check, Condition};
use roundtable_model::{
    At, CommentId, Entity, GoalId, GroupId, MemberStatus, ObjectType, PostId, QuestId, SubjectId,
    TaskId, UserId, UserStatus,
};

use super::{Activities, ActivityError, NewActivity};
use crate::access::{Act, Standing, allows};
use crate::{Caller, Failure, Ground};

/// What somebody may tell of.
pub(super) struct Tellable {
    /// What must hold for the activity to be written: its object is there and theirs, and they are in
    /// the group it goes to.
    pub(super) checks: Vec<Check>,
    /// What the object lives in, if that finds it.
    pub(super) home: Option<SubjectId>,
}

/// What an activity is about: what must hold of it, and what it lives in.
type Object = (Vec<Check>, Option<SubjectId>);

impl Activities {
    /// Looks whether the caller may tell of this.
    pub(super) async fn tellable(
        &self,
        caller: &Caller,
        input: &NewActivity,
    ) -> Result<Tellable, ActivityError> {
        let me = &caller.user_id;
        let (mut checks, mut home) = (Vec::new(), None);
        if let Some(group) = &input.group_id {
            match membership(&self.ground, caller, group).await? {
                Membership::Active(active) => checks.extend(active),
                Membership::None => return Err(ActivityError::NotAMember),
                Membership::NoGroup => return Err(ActivityError::NoSuchGroup),
            }
        }
        // The same check twice would be two writes of one item.
        let told = input.group_id.as_ref().map(GroupId::recast);
        if input.object_type != ObjectType::Group || told.as_ref() != Some(&input.object_id) {
            let found = self.object(me, input).await?.ok_or(ActivityError::NoSuchObject)?;
            checks.extend(found.0);
            home = found.1;
        }
        Ok(Tellable { checks, home })
    }

    /// The object, if it is there and the caller's.
    async fn object(&self, me: &UserId, input: &NewActivity) -> Result<Option<Object>, Failure> {
        let core = self.ground.core();
        let id = &input.object_id;
        let check = match input.object_type {
            ObjectType::Goal => {
                let goal = core.goal(me, &id.recast::<GoalId>()).get().await?;
                goal.map(|goal| Goal::at(me, &goal.id).exists())
            }
            ObjectType::Task => {
                let task = crate::tasks::find(&self.ground, &id.recast::<TaskId>()).await?;
                let Some(task) = task.filter(|task| task.user_id == *me) else { return Ok(None) };
                // A task is there only while its goal is.
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
                    crate::comments::find(&self.ground, &id.recast::<CommentId>()).await?;
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
                member.map(|_| active(&group, me))
            }
            ObjectType::User => (id.recast::<UserId>() == *me).then(|| {
                let usable: Condition = User::STATUS.is(&UserStatus::Active);
                User::at(me).check(usable)
            }),
        };
        Ok(check.map(|check| (vec![check], None)))
    }
}

/// How somebody stands to a group they want to post into.
pub(crate) enum Membership {
    /// They are in it, as long as these hold.
    Active(Vec<Check>),
    /// They are not.
    None,
    /// There is no such group.
    NoGroup,
}

/// Whether the caller may post into a group, and what must still hold when they do.
pub(crate) async fn membership(
    ground: &Ground,
    caller: &Caller,
    group: &GroupId,
) -> Result<Membership, Failure> {
    let sight = ground.sight(Some(caller), [], [group]).await?;
    if sight.group(group).is_none() {
        return Ok(Membership::NoGroup);
    }
    let member = sight.membership(group);
    let is_active = member.is_some_and(|member| member.status == MemberStatus::Active);
    if !allows(Act::PostIntoGroup, Standing::SIGNED_IN.and_if(is_active, Standing::MEMBER)) {
        return Ok(Membership::None);
    }
    Ok(Membership::Active(vec![Group::at(group).exists(), active(group, &caller.user_id)]))
}

fn active(group: &GroupId, user: &UserId) -> Check {
    let member: At<GroupMember> = GroupMember::at(group, user);
    member.check(GroupMember::STATUS.is(&MemberStatus::Active))
}
