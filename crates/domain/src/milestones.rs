//! Milestones of goals: created, updated, achieved and deleted (R10).
//!
//! A milestone is achieved by hand, or by the processors once the share of the goal's completed
//! tasks reaches its percentage. Either way an activity is published once, in the transaction that
//! achieves it. An achieved milestone stays achieved even if tasks are reopened, because followers
//! have been notified. To reach it again, delete it and create another one.

mod input;
mod progress;
mod reached;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Goal, Milestone};
use roundtable_model::table::{Delete, Key, Write};
use roundtable_model::{
    ActivityVerb, Entity, GoalId, MilestoneId, ObjectType, RequestId, SubjectId, UserId,
};
use serde::{Deserialize, Serialize};

use crate::activities::{ActivityDraft, prepare_activity, preview};
use crate::goals::{goal_activity, owned_goal};
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, ServiceError, refusals};

pub use input::{MilestoneChange, NewMilestone};
pub(crate) use reads::with_existing_goals;

refusals! {
    MilestoneError {
        NoSuchGoal: NotFound = "there is no such goal",
        NoSuchMilestone: NotFound = "there is no such milestone",
        AlreadyAchieved: Conflict = "a milestone stays achieved: followers have been notified",
    }
}

#[derive(Clone, Debug)]
pub struct Milestones {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum MilestoneOutcome {
    Milestone(GoalId, MilestoneId),
    Deleted(RemovedEntity<Milestone>),
}

#[boxed]
impl Milestones {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a milestone of the caller's goal. If the tasks have already reached it, the
    /// processors detect that.
    pub async fn create(
        &self,
        caller: &Caller,
        milestone: NewMilestone,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let mutation = self.context.mutation(caller).await?;
        let new = milestone.checked()?;
        mutation
            .once("createMilestone", &new, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let goal = owned_goal(&self.context, &me.id, &new.goal_id).await?;
                goal.ok_or(MilestoneError::NoSuchGoal)?;
                let made = new.milestone(&me.id, self.context.ids().next(), self.context.now());
                attempt
                    .commit()
                    .with("goal", Goal::at(&me.id, &made.goal_id).exists())
                    .with("milestone", made.create())
                    .finish(MilestoneOutcome::of(&made), made)
                    .await
            })
            .await
    }

    /// Updates a milestone, or achieves it by hand.
    pub async fn update(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &MilestoneId,
        change: MilestoneChange,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let mutation = self.context.mutation(caller).await?;
        let change = change.checked()?;
        mutation
            .once("updateMilestone", &(goal, id, &change), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let (goal, before) = self.own_milestone(&me.id, goal, id).await?;
                if before.achieved && change.achieved == Some(false) {
                    return Err(MilestoneError::AlreadyAchieved);
                }
                let after = change.applied_to(&before, self.context.now());
                let outcome = MilestoneOutcome::of(&before);
                if (Milestone { updated_at: before.updated_at, ..after.clone() }) == before {
                    return attempt.unchanged(outcome, before).await;
                }
                self.try_update(&goal, &before, after, attempt).await
            })
            .await
    }

    async fn try_update(
        &self,
        goal: &Goal,
        before: &Milestone,
        mut after: Milestone,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Milestone>, MilestoneError> {
        let exists = goal.key().exists();
        let mut commit = attempt.commit().with("goal", exists);
        // Lives until the transaction is done: it may hold the actor's head lock.
        let mut published = None;
        if after.achieved && !before.achieved {
            let draft = achievement(goal, &after);
            let published_activity =
                published.insert(prepare_activity(&self.context, attempt, draft).await?);
            let at = published_activity.activity.created_at;
            (after.achieved_at, after.updated_at) = (Some(at), at);
            commit = published_activity.add_to(commit);
        }
        let commit = commit.with("milestone", update_write(before, &after));
        let outcome = commit.finish(MilestoneOutcome::of(&after), after).await;
        drop(published);
        outcome
    }

    /// Deletes a milestone with its activity, and returns it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &MilestoneId,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deleteMilestone", &(goal, id), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let (_, milestone) = self.own_milestone(&me.id, goal, id).await?;
                // A replay returns which milestone it was, without its content.
                let stripped = Milestone { description: None, ..milestone.clone() };
                let as_read = Milestone::ACHIEVED.is(&milestone.achieved);
                let published_activity = self.achievement_activity(&milestone).await?;
                attempt
                    .commit()
                    .with("goal", Goal::at(&me.id, goal).exists())
                    .with("milestone", milestone.key().delete().when(as_read))
                    .with_all("activity", published_activity.map(Delete::new))
                    .finish(MilestoneOutcome::Deleted(RemovedEntity(stripped)), milestone)
                    .await
            })
            .await
    }

    /// The key of the activity about a milestone, which has the time of the achievement.
    async fn achievement_activity(
        &self,
        milestone: &Milestone,
    ) -> Result<Option<Key>, ServiceError> {
        let Some(at) = milestone.achieved_at else { return Ok(None) };
        let then = self.context.core().activities_at(&(&milestone.user_id).into(), at).await?;
        let goal = SubjectId::from(&milestone.goal_id);
        let is_about_it = |activity: &Activity| {
            let object = (activity.object_type, activity.verb);
            object == (ObjectType::Goal, ActivityVerb::GoalUpdate) && activity.object_id == goal
        };
        Ok(then.into_iter().find(|(activity, _)| is_about_it(activity)).map(|(_, key)| key))
    }

    /// Returns the caller's own goal and milestone.
    async fn own_milestone(
        &self,
        me: &UserId,
        goal: &GoalId,
        id: &MilestoneId,
    ) -> Result<(Goal, Milestone), MilestoneError> {
        let found = owned_goal(&self.context, me, goal).await?;
        let found = found.ok_or(MilestoneError::NoSuchMilestone)?;
        let milestone = self.context.core().milestone(me, goal, id).get().await?;
        Ok((found, milestone.ok_or(MilestoneError::NoSuchMilestone)?))
    }

    /// Returns the milestone as it is now; a deleted one as it was.
    async fn replayed(
        &self,
        me: &UserId,
        outcome: MilestoneOutcome,
    ) -> Result<Milestone, MilestoneError> {
        match outcome {
            MilestoneOutcome::Deleted(RemovedEntity(milestone)) => Ok(milestone),
            MilestoneOutcome::Milestone(goal, id) => {
                Ok(self.own_milestone(me, &goal, &id).await?.1)
            }
        }
    }
}

impl MilestoneOutcome {
    fn of(milestone: &Milestone) -> Self {
        Self::Milestone(milestone.goal_id.clone(), milestone.id.clone())
    }
}

/// The activity about an achieved milestone, published as progress of its goal.
fn achievement(goal: &Goal, milestone: &Milestone) -> ActivityDraft {
    let text = preview(&format!("{}: {}", goal.title, milestone.name));
    goal_activity(goal, ActivityVerb::GoalUpdate, text)
}

/// Writes the changed fields; fails when the milestone has been achieved, or its percentage
/// changed, concurrently. Only changed fields are written: another device may be changing the rest.
fn update_write(before: &Milestone, after: &Milestone) -> Write {
    let as_read = Milestone::ACHIEVED.is(&before.achieved);
    let as_read = as_read.and(Milestone::PERCENTAGE.is(&before.percentage));
    let mut patch = before.key().patch().set(Milestone::UPDATED_AT, &after.updated_at);
    if after.name != before.name {
        patch = patch.set(Milestone::NAME, &after.name);
    }
    if after.percentage != before.percentage {
        patch = patch.set(Milestone::PERCENTAGE, &after.percentage);
    }
    if after.description != before.description {
        patch = patch.set(Milestone::DESCRIPTION, &after.description);
    }
    if after.achieved != before.achieved {
        patch = patch.set(Milestone::ACHIEVED, &after.achieved);
        patch = patch.set(Milestone::ACHIEVED_AT, &after.achieved_at);
    }
    patch.when(as_read).into()
}
