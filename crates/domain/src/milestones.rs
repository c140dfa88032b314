//! Parts of the way to goals (R10): set, changed, achieved, and taken away.
//!
//! A milestone is achieved by hand, or by the processors once the share of its goal's done tasks reaches
//! its percentage. Either way that is told to those who follow its owner, once, in the transaction that
//! achieves it. An achieved milestone stays achieved, whatever becomes of the tasks: others have been
//! told. Whoever wants to reach it again takes it away and sets another one.

mod input;
mod progress;
mod reached;
mod reads;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Goal, Milestone};
use roundtable_model::table::Write;
use roundtable_model::{
    Entity, GoalId, MilestoneId, ObjectType, RequestId, Span, SubjectId, UserId,
};
use serde::{Deserialize, Serialize};

use crate::activities::{News, preview, publish};
use crate::goals::{kept, news};
use crate::once::{Kept, Request, Tried};
use crate::{Caller, Failure, Ground, refusals};

pub use input::{MilestoneChange, NewMilestone};
pub(crate) use reads::shown;

refusals! {
    /// Why a milestone was not changed or shown.
    MilestoneError {
        NoSuchGoal: NotFound = "there is no such goal",
        NoSuchMilestone: NotFound = "there is no such milestone",
        StaysAchieved: Conflict = "an achieved milestone stays achieved, since others have been told",
    }
}

/// The milestones of everybody.
#[derive(Clone, Debug)]
pub struct Milestones {
    ground: Ground,
}

/// What a request led to: a milestone, or what is left of one that was taken away.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Milestone(GoalId, MilestoneId),
    Deleted(Kept<Milestone>),
}

#[boxed]
impl Milestones {
    /// The milestones on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Sets a milestone on the way to a goal of the caller's. If the tasks have come so far already, the
    /// processors find that out.
    pub async fn create(
        &self,
        caller: &Caller,
        milestone: NewMilestone,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let me = self.ground.account(caller).await?.id;
        let new = milestone.checked()?;
        let request = self.ground.request(&me, request, "createMilestone", &new)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let goal = kept(&self.ground, &me, &new.goal_id).await?;
                    goal.ok_or(MilestoneError::NoSuchGoal)?;
                    let made = new.milestone(&me, self.ground.ids().next(), self.ground.now());
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", Goal::at(&me, &made.goal_id).exists())
                        .with("milestone", made.create())
                        .remembering(request.as_ref(), &Outcome::of(&made))?;
                    Ok(commit.done(made).await?)
                },
            )
            .await
    }

    /// Changes a milestone, or achieves it by hand.
    pub async fn update(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &MilestoneId,
        change: MilestoneChange,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let me = self.ground.account(caller).await?.id;
        let change = change.checked()?;
        let request = self.ground.request(&me, request, "updateMilestone", &(goal, id, &change))?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let (goal, before) = self.mine(&me, goal, id).await?;
                    if before.achieved && change.achieved == Some(false) {
                        return Err(MilestoneError::StaysAchieved);
                    }
                    let after = change.applied_to(&before, self.ground.now());
                    let outcome = Outcome::of(&before);
                    if (Milestone { updated_at: before.updated_at, ..after.clone() }) == before {
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, before).await?);
                    }
                    let is_late = is_late.swap(true, Relaxed);
                    self.try_update(&goal, &before, after, is_late, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_update(
        &self,
        goal: &Goal,
        before: &Milestone,
        mut after: Milestone,
        is_late: bool,
        request: Option<&Request>,
    ) -> Result<Tried<Milestone>, MilestoneError> {
        let there = goal.key().exists();
        let mut commit = self.ground.commit().with("goal", there);
        // Kept until the transaction is done: it may hold its actor's turn.
        let mut published = None;
        if after.achieved && !before.achieved {
            let news = achievement(goal, &after).again(is_late);
            let told = published.insert(publish(&self.ground, news).await?);
            let at = told.activity.created_at;
            (after.achieved_at, after.updated_at) = (Some(at), at);
            commit = told.in_commit(commit);
        }
        let commit = commit.with("milestone", changed(before, &after));
        let tried = commit.remembering(request, &Outcome::of(&after))?.done(after).await?;
        drop(published);
        Ok(tried)
    }

    /// Takes a milestone away, with what was told of it; answers with it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        goal: &GoalId,
        id: &MilestoneId,
        request: Option<&RequestId>,
    ) -> Result<Milestone, MilestoneError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "deleteMilestone", &(goal, id))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let (_, milestone) = self.mine(&me, goal, id).await?;
                    // Sent again, the request tells which it was, and no longer what it was about.
                    let left = Milestone { description: None, ..milestone.clone() };
                    let as_read = Milestone::ACHIEVED.is(&milestone.achieved);
                    let told = self.told(&milestone).await?;
                    let commit = self
                        .ground
                        .commit()
                        .with("goal", Goal::at(&me, goal).exists())
                        .with("milestone", milestone.key().delete().when(as_read))
                        .with_any("activity", told.map(|activity| activity.key().delete()))
                        .remembering(request.as_ref(), &Outcome::Deleted(Kept(left)))?;
                    Ok(commit.done(milestone).await?)
                },
            )
            .await
    }

    /// The activity that told of a milestone: it happened when that was achieved, and no two activities
    /// of one actor happen at the same time.
    async fn told(&self, milestone: &Milestone) -> Result<Option<Activity>, Failure> {
        let Some(at) = milestone.achieved_at else { return Ok(None) };
        let (actor, then) = ((&milestone.user_id).into(), Span::between(at, at.plus_ms(1)));
        let listing = self.ground.core().activities_of(&actor, then).strong().limit(1);
        let told = listing.page().await?.items.into_iter().next();
        let goal = SubjectId::from(&milestone.goal_id);
        Ok(told.filter(|told| told.object_type == ObjectType::Goal && told.object_id == goal))
    }

    /// A milestone of a goal that is the caller's, with the goal.
    async fn mine(
        &self,
        me: &UserId,
        goal: &GoalId,
        id: &MilestoneId,
    ) -> Result<(Goal, Milestone), MilestoneError> {
        let found = kept(&self.ground, me, goal).await?;
        let found = found.ok_or(MilestoneError::NoSuchMilestone)?;
        let milestone = self.ground.core().milestone(me, goal, id).get().await?;
        Ok((found, milestone.ok_or(MilestoneError::NoSuchMilestone)?))
    }

    /// A milestone as it is now; one that was taken away, as it was.
    async fn replayed(&self, me: &UserId, outcome: Outcome) -> Result<Milestone, MilestoneError> {
        match outcome {
            Outcome::Deleted(Kept(milestone)) => Ok(milestone),
            Outcome::Milestone(goal, id) => Ok(self.mine(me, &goal, &id).await?.1),
        }
    }
}

impl Outcome {
    fn of(milestone: &Milestone) -> Self {
        Self::Milestone(milestone.goal_id.clone(), milestone.id.clone())
    }
}

/// That a milestone has been achieved: told as news of its goal, which it is a part of.
fn achievement(goal: &Goal, milestone: &Milestone) -> News {
    news(goal, preview(&format!("{}: {}", goal.title, milestone.name)))
}

/// Writes what has become of a milestone; refused when it has been achieved, or asks for another share,
/// meanwhile. Only what differs is written: another device may be changing the rest.
fn changed(before: &Milestone, after: &Milestone) -> Write {
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
