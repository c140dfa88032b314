//! What people want to reach (R10): set, changed, completed and given up. Steps towards a goal are
//! `tasks`, parts of the way `milestones`.
//!
//! A goal is for its owner and for admins; others see only the activity that tells of its completion.
//! For everybody else one that is there looks like one that is not.

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

use crate::access::{Act, Standing, allows};
use crate::account::live;
use crate::activities::{News, preview, publish};
use crate::once::{Kept, Request, Tried};
use crate::{Caller, Failure, Ground, refusals};

pub use input::{GoalChange, NewGoal};
pub(crate) use owned::{all_found, found, is_admin, may_see, present};

refusals! {
    /// Why a goal was not changed or shown.
    GoalError {
        NoSuchGoal: NotFound = "there is no such goal",
    }
}

/// The goals of everybody.
#[derive(Clone, Debug)]
pub struct Goals {
    ground: Ground,
}

/// What a request led to: a goal, or what is left of one that was deleted.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Goal(GoalId),
    Deleted(Kept<Goal>),
}

#[boxed]
impl Goals {
    /// The goals on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Sets a goal.
    pub async fn create(
        &self,
        caller: &Caller,
        goal: NewGoal,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let me = self.ground.account(caller).await?.id;
        let new = goal.checked()?;
        let request = self.ground.request(&me, request, "createGoal", &new)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = new.goal(&me, self.ground.ids().next(), self.ground.now());
                    let commit = self
                        .ground
                        .commit()
                        .with("person", live(&me))
                        .with("goal", goal.create())
                        .with_any("tag", tags::in_step(&self.ground, None, Some(&goal)).await?)
                        .remembering(request.as_ref(), &Outcome::Goal(goal.id.clone()))?;
                    Ok(unless_gone(&self.ground, caller, commit.done(goal).await?).await?)
                },
            )
            .await
    }

    /// Changes a goal. Completing it tells those who follow its owner, in the same transaction; taking
    /// it up again forgets when it was completed, and putting it away does not.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &GoalId,
        change: GoalChange,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let me = self.ground.account(caller).await?.id;
        let change = change.checked()?;
        let request = self.ground.request(&me, request, "updateGoal", &(id, &change))?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let before = self.mine(&me, id).await?;
                    let after = change.applied_to(&before, self.ground.now());
                    let outcome = Outcome::Goal(id.clone());
                    if (Goal { updated_at: before.updated_at, ..after.clone() }) == before {
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, before).await?);
                    }
                    let is_late = is_late.swap(true, Relaxed);
                    self.try_update(&before, after, is_late, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_update(
        &self,
        before: &Goal,
        mut after: Goal,
        is_late: bool,
        request: Option<&Request>,
    ) -> Result<Tried<Goal>, GoalError> {
        let outcome = Outcome::Goal(before.id.clone());
        let tags = tags::in_step(&self.ground, Some(before), Some(&after)).await?;
        if after.status != GoalStatus::Completed || after.completed_at.is_some() {
            let commit = self.ground.commit().with("goal", changed(before, &after));
            let commit = commit.with_any("tag", tags).remembering(request, &outcome)?;
            return Ok(commit.done(after).await?);
        }
        let text = preview(&after.title);
        let published = publish(&self.ground, news(&after, text).again(is_late)).await?;
        let at = published.activity.created_at;
        (after.completed_at, after.updated_at) = (Some(at), at);
        let commit = self.ground.commit().with("goal", changed(before, &after));
        let commit = published.in_commit(commit).with_any("tag", tags);
        Ok(commit.remembering(request, &outcome)?.done(after).await?)
    }

    /// Gives a goal up; answers with it as it was. Its tasks and milestones are taken away in the
    /// background; until then they are of a goal that is not there, and show nowhere.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &GoalId,
        request: Option<&RequestId>,
    ) -> Result<Goal, GoalError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "deleteGoal", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = self.mine(&me, id).await?;
                    // Sent again, the request tells which it was, and no longer what it was about.
                    let (description, tags) = (None, Vec::new());
                    let outcome =
                        Outcome::Deleted(Kept(Goal { description, tags, ..goal.clone() }));
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", goal.key().delete().when(unchanged(&goal)))
                        .with_any("tag", tags::in_step(&self.ground, Some(&goal), None).await?)
                        .remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(goal).await?)
                },
            )
            .await
    }

    async fn mine(&self, me: &UserId, id: &GoalId) -> Result<Goal, GoalError> {
        kept(&self.ground, me, id).await?.ok_or(GoalError::NoSuchGoal)
    }

    /// A goal as it is now; one that was deleted, as it was.
    async fn replayed(&self, me: &UserId, outcome: Outcome) -> Result<Goal, GoalError> {
        match outcome {
            Outcome::Deleted(Kept(goal)) => Ok(goal),
            Outcome::Goal(id) => self.mine(me, &id).await,
        }
    }
}

/// A goal that this person may change: they are asked for by their owner, so it is theirs.
pub(crate) async fn kept(
    ground: &Ground,
    me: &UserId,
    id: &GoalId,
) -> Result<Option<Goal>, Failure> {
    let goal = ground.core().goal(me, id).get().await?;
    Ok(goal.filter(|_| allows(Act::KeepGoals, Standing::SIGNED_IN | Standing::OWNER)))
}

/// That something has been reached with a goal. Tags stay with the goal, which is for its owner.
pub(crate) fn news(goal: &Goal, preview: Option<String>) -> News {
    News {
        actor: goal.user_id.clone(),
        group: None,
        verb: ActivityVerb::GoalUpdate,
        object: (ObjectType::Goal, (&goal.id).into()),
        object_home: None,
        preview,
        media: None,
        tags: Vec::new(),
        is_late: false,
    }
}

/// Before an attempt is made again, whether the caller still can: the account may be what has changed.
async fn unless_gone<T>(
    ground: &Ground,
    caller: &Caller,
    tried: Tried<T>,
) -> Result<Tried<T>, Failure> {
    if matches!(tried, Tried::Again) {
        ground.reader(caller).await?;
    }
    Ok(tried)
}

/// Title and tags are as they were read, since the references of the tags depend on them, and so is the
/// status, on which it depends what is told.
fn unchanged(goal: &Goal) -> Condition {
    Goal::TITLE
        .is(&goal.title)
        .and(Goal::TAGS.is(&goal.tags))
        .and(Goal::STATUS.is(&goal.status))
        .and(Goal::COMPLETED_AT.is(&goal.completed_at))
}

fn changed(before: &Goal, after: &Goal) -> Write {
    let mut patch = before
        .key()
        .patch()
        .set(Goal::TITLE, &after.title)
        .set(Goal::TAGS, &after.tags)
        .set(Goal::STATUS, &after.status)
        .set(Goal::COMPLETED_AT, &after.completed_at)
        .set(Goal::UPDATED_AT, &after.updated_at)
        .when(unchanged(before));
    // Only what was given: another device may be changing it.
    if after.description != before.description {
        patch = patch.set(Goal::DESCRIPTION, &after.description);
    }
    patch.into()
}
