//! Goals: created, updated, completed and deleted (R10). Steps towards a goal are `tasks`, parts of
//! it `milestones`.
//!
//! A goal is visible to its owner and to admins; others see only the activity about its completion.
//! To everyone else a goal looks as if it did not exist.

mod input;
mod owned;
mod reads;
mod tags;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Goal;
use roundtable_model::table::{Condition, Write};
use roundtable_model::{ActivityVerb, Entity, GoalId, GoalStatus, ObjectType, RequestId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::activities::{ActivityDraft, prepare_activity, preview};
use crate::idempotency::{AttemptOutcome, IdempotentRequest, RemovedEntity};
use crate::{Caller, Context, ServiceError, refusals};

pub use input::{GoalChange, NewGoal};
pub(crate) use owned::{existing_goals, is_admin, may_see, visible_goal, visible_goals};

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
        let me = self.context.authorize_write(caller).await?.id;
        let new = goal.checked()?;
        let request = self.context.idempotent_request(&me, request, "createGoal", &new)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GoalOutcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = new.goal(&me, self.context.ids().next(), self.context.now());
                    let commit = self
                        .context
                        .commit()
                        .with("user", active_account_check(&me))
                        .with("goal", goal.create())
                        .with_all(
                            "tag",
                            tags::reference_writes(&self.context, None, Some(&goal)).await?,
                        )
                        .recording(request.as_ref(), &GoalOutcome::Goal(goal.id.clone()))?;
                    Ok(recheck_caller(&self.context, caller, commit.finish(goal).await?).await?)
                },
            )
            .await
    }

    /// Updates a goal. Completing it publishes an activity in the same transaction; reopening it
    /// clears the completion time, and archiving it does not.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &GoalId,
        change: GoalChange,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let me = self.context.authorize_write(caller).await?.id;
        let change = change.checked()?;
        let request =
            self.context.idempotent_request(&me, request, "updateGoal", &(id, &change))?;
        let is_retry = AtomicBool::new(false);
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GoalOutcome| self.replayed(&me, outcome).await,
                async || {
                    let before = self.own_goal(&me, id).await?;
                    let after = change.applied_to(&before, self.context.now());
                    let outcome = GoalOutcome::Goal(id.clone());
                    if (Goal { updated_at: before.updated_at, ..after.clone() }) == before {
                        let request = request.as_ref();
                        return Ok(self
                            .context
                            .finish_unchanged(request, &outcome, before)
                            .await?);
                    }
                    let is_retry = is_retry.swap(true, Relaxed);
                    self.try_update(&before, after, is_retry, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_update(
        &self,
        before: &Goal,
        mut after: Goal,
        is_retry: bool,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Goal>, GoalError> {
        let outcome = GoalOutcome::Goal(before.id.clone());
        let tags = tags::reference_writes(&self.context, Some(before), Some(&after)).await?;
        if after.status != GoalStatus::Completed || after.completed_at.is_some() {
            let commit = self.context.commit().with("goal", update_write(before, &after));
            let commit = commit.with_all("tag", tags).recording(request, &outcome)?;
            return Ok(commit.finish(after).await?);
        }
        let text = preview(&after.title);
        let published =
            prepare_activity(&self.context, goal_activity(&after, text).retried(is_retry)).await?;
        let at = published.activity.created_at;
        (after.completed_at, after.updated_at) = (Some(at), at);
        let commit = self.context.commit().with("goal", update_write(before, &after));
        let commit = published.add_to(commit).with_all("tag", tags);
        Ok(commit.recording(request, &outcome)?.finish(after).await?)
    }

    /// Deletes a goal and returns it as it was. Its tasks and milestones are purged in the
    /// background; until then they are hidden, because their goal does not exist.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &GoalId,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let me = self.context.authorize_write(caller).await?.id;
        let request = self.context.idempotent_request(&me, request, "deleteGoal", id)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: GoalOutcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = self.own_goal(&me, id).await?;
                    // A replay returns which goal it was, without its content.
                    let (description, tags) = (None, Vec::new());
                    let outcome = GoalOutcome::Deleted(RemovedEntity(Goal {
                        description,
                        tags,
                        ..goal.clone()
                    }));
                    let commit = self
                        .context
                        .commit()
                        .with("goal", goal.key().delete().when(unchanged(&goal)))
                        .with_all(
                            "tag",
                            tags::reference_writes(&self.context, Some(&goal), None).await?,
                        )
                        .recording(request.as_ref(), &outcome)?;
                    Ok(commit.finish(goal).await?)
                },
            )
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

/// The activity about progress with a goal. Tags stay with the goal, which is private.
pub(crate) fn goal_activity(goal: &Goal, preview: Option<String>) -> ActivityDraft {
    ActivityDraft {
        actor: goal.user_id.clone(),
        group: None,
        verb: ActivityVerb::GoalUpdate,
        object: (ObjectType::Goal, (&goal.id).into()),
        object_home: None,
        preview,
        media: None,
        tags: Vec::new(),
        is_retry: false,
    }
}

/// Before a retry, refuses a caller whose account has become unusable.
async fn recheck_caller<T>(
    context: &Context,
    caller: &Caller,
    attempt: AttemptOutcome<T>,
) -> Result<AttemptOutcome<T>, ServiceError> {
    if matches!(attempt, AttemptOutcome::Retry) {
        context.authorize_read(caller).await?;
    }
    Ok(attempt)
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
