//! Goals: created, updated, completed and deleted (R10). Steps towards a goal are `tasks`, parts of
//! it `milestones`.
//!
//! A goal is visible to its owner and to admins; others see only the activity about its completion.
//! To everyone else a goal looks as if it did not exist.

mod input;
mod owned;
mod reads;
mod tags;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Goal;
use roundtable_model::table::{Condition, Write};
use roundtable_model::{ActivityVerb, Entity, GoalId, GoalStatus, ObjectType, RequestId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::activities::{ActivityDraft, prepare_activity, preview};
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, ServiceError, refusals};

pub use input::{GoalChange, NewGoal};
pub(crate) use owned::{existing_goals, may_see, visible_goal, visible_goals};

refusals! {
    GoalError {
        NoSuchGoal: NotFound = "there is no such goal",
    }
}

#[derive(Clone, Debug)]
pub struct Goals {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum GoalOutcome {
    Goal(GoalId),
    Deleted(RemovedEntity<Goal>),
}

#[boxed]
impl Goals {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    pub async fn create(
        &self,
        caller: &Caller,
        goal: NewGoal,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let mutation = self.context.mutation(caller).await?;
        let new = goal.checked()?;
        mutation
            .once("createGoal", &new, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let goal = new.goal(&me.id, self.context.ids().next(), self.context.now());
                attempt
                    .commit()
                    .with("user", active_account_check(&me.id))
                    .with("goal", goal.create())
                    .with_all(
                        "tag",
                        tags::reference_writes(&self.context, None, Some(&goal)).await?,
                    )
                    .finish(GoalOutcome::Goal(goal.id.clone()), goal)
                    .await
            })
            .await
    }

    /// Updates a goal, and writes an activity about it in the same transaction (R51): followers see
    /// that it was completed, and only those who may see the goal that it was changed. Reopening it
    /// clears the completion time, and archiving it does not.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &GoalId,
        change: GoalChange,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let mutation = self.context.mutation(caller).await?;
        let change = change.checked()?;
        mutation
            .once("updateGoal", &(id, &change), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let before = self.own_goal(&me.id, id).await?;
                let after = change.applied_to(&before, self.context.now());
                let outcome = GoalOutcome::Goal(id.clone());
                if (Goal { updated_at: before.updated_at, ..after.clone() }) == before {
                    return attempt.unchanged(outcome, before).await;
                }
                self.try_update(&before, after, attempt).await
            })
            .await
    }

    async fn try_update(
        &self,
        before: &Goal,
        mut after: Goal,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Goal>, GoalError> {
        let outcome = GoalOutcome::Goal(before.id.clone());
        let tags = tags::reference_writes(&self.context, Some(before), Some(&after)).await?;
        let completes = after.status == GoalStatus::Completed && after.completed_at.is_none();
        let draft = if completes {
            goal_activity(&after, ActivityVerb::GoalUpdate, preview(&after.title))
        } else {
            // Those who may see it see the goal, so that no copy of a private text is left anywhere.
            goal_activity(&after, ActivityVerb::GoalEdit, None)
        };
        let published = prepare_activity(&self.context, attempt, draft).await?;
        if completes {
            let at = published.activity.created_at;
            (after.completed_at, after.updated_at) = (Some(at), at);
        }
        let commit = attempt.commit().with("goal", update_write(before, &after));
        let commit = published.add_to(commit).with_all("tag", tags);
        commit.finish(outcome, after).await
    }

    /// Deletes a goal and returns it as it was. Its tasks and milestones are purged in the
    /// background; until then they are hidden, because their goal does not exist.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &GoalId,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deleteGoal", id, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let goal = self.own_goal(&me.id, id).await?;
                // A replay returns which goal it was, without its content.
                let (description, tags) = (None, Vec::new());
                let outcome =
                    GoalOutcome::Deleted(RemovedEntity(Goal { description, tags, ..goal.clone() }));
                attempt
                    .commit()
                    .with("goal", goal.key().delete().when(unchanged(&goal)))
                    .with_all(
                        "tag",
                        tags::reference_writes(&self.context, Some(&goal), None).await?,
                    )
                    .finish(outcome, goal)
                    .await
            })
            .await
    }

    async fn own_goal(&self, me: &UserId, id: &GoalId) -> Result<Goal, GoalError> {
        owned_goal(&self.context, me, id).await?.ok_or(GoalError::NoSuchGoal)
    }

    /// Returns the goal as it is now; a deleted one as it was.
    async fn replayed(&self, me: &UserId, outcome: GoalOutcome) -> Result<Goal, GoalError> {
        match outcome {
            GoalOutcome::Deleted(RemovedEntity(goal)) => Ok(goal),
            GoalOutcome::Goal(id) => self.own_goal(me, &id).await,
        }
    }
}

/// Returns a goal of this user's own: goals are stored under their owner.
pub(crate) async fn owned_goal(
    context: &Context,
    me: &UserId,
    id: &GoalId,
) -> Result<Option<Goal>, ServiceError> {
    let goal = context.core().goal(me, id).get().await?;
    Ok(goal.filter(|_| allows(Permission::KeepGoals, Relations::SIGNED_IN | Relations::OWNER)))
}

/// The activity about a goal. Tags stay with the goal, which is private.
pub(crate) fn goal_activity(
    goal: &Goal,
    verb: ActivityVerb,
    preview: Option<String>,
) -> ActivityDraft {
    ActivityDraft {
        actor: goal.user_id.clone(),
        group: None,
        verb,
        object: (ObjectType::Goal, (&goal.id).into()),
        object_home: None,
        preview,
        media: None,
        tags: Vec::new(),
        is_posted: false,
    }
}

/// The condition that title and tags are unchanged, because tag references depend on them, and the
/// status, because the activity depends on it.
fn unchanged(goal: &Goal) -> Condition {
    Goal::TITLE
        .is(&goal.title)
        .and(Goal::TAGS.is(&goal.tags))
        .and(Goal::STATUS.is(&goal.status))
        .and(Goal::COMPLETED_AT.is(&goal.completed_at))
}

fn update_write(before: &Goal, after: &Goal) -> Write {
    let mut patch = before
        .key()
        .patch()
        .set(Goal::TITLE, &after.title)
        .set(Goal::TAGS, &after.tags)
        .set(Goal::STATUS, &after.status)
        .set(Goal::COMPLETED_AT, &after.completed_at)
        .set(Goal::UPDATED_AT, &after.updated_at)
        .when(unchanged(before));
    // Written only if given: another device may be changing it.
    if after.description != before.description {
        patch = patch.set(Goal::DESCRIPTION, &after.description);
    }
    patch.into()
}
