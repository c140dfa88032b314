//! Milestones that the tasks of their goal have reached, achieved and told of by the system.
//!
//! What is decided follows from how things are, and a milestone is achieved in the transaction that
//! tells of it, on the condition that it is not achieved yet: found out twice, it is achieved and told
//! once.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Milestone, User};
use roundtable_model::{Entity, GoalId, UserId, UserStatus};

use super::progress::Progress;
use super::{MilestoneError, Milestones, achievement, changed};
use crate::Failure;
use crate::activities::publish;
use crate::once::Tried;

/// Milestones looked at in one go.
const MILESTONES_AT_ONCE: usize = 100;
/// How often tasks that keep changing are counted again.
const RECOUNTS_MAX: usize = 5;

#[boxed]
impl Milestones {
    /// Achieves what the tasks of a goal have reached, if there is anything. For processors, whenever a
    /// task or a milestone has changed; while others keep changing the tasks, it is to be asked again.
    pub async fn achieve_reached(
        &self,
        owner: &UserId,
        goal: &GoalId,
    ) -> Result<(), MilestoneError> {
        let waiting = self.waiting(owner, goal).await?;
        if waiting.is_empty() {
            return Ok(());
        }
        let mut progress = Progress::of(&self.ground, goal).await?;
        for _ in 0..RECOUNTS_MAX {
            let reaches = |one: &&Milestone| progress.reaches(one.percentage);
            let reached: Vec<&Milestone> = waiting.iter().filter(reaches).collect();
            if reached.is_empty() {
                return Ok(());
            }
            // Counted twice, and no task changed in between: so it was all true at the same time,
            // whatever was done, un-done and taken away while it was read.
            let again = Progress::of(&self.ground, goal).await?;
            if again == progress {
                for milestone in reached {
                    self.achieve(milestone, &progress).await?;
                }
                return Ok(());
            }
            progress = again;
        }
        // Not every change brings somebody here again: a task may only have got another title.
        Err(Failure::Busy.into())
    }

    /// The milestones of a goal that are not achieved.
    async fn waiting(&self, owner: &UserId, goal: &GoalId) -> Result<Vec<Milestone>, Failure> {
        let (mut waiting, mut after) = (Vec::new(), None);
        loop {
            let listing = self.ground.core().milestones(owner, goal).strong();
            let listing = listing.with(Milestone::ACHIEVED, &false).limit(MILESTONES_AT_ONCE);
            let page = listing.after(after.take()).page().await?;
            waiting.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(waiting);
            }
        }
    }

    async fn achieve(
        &self,
        milestone: &Milestone,
        progress: &Progress,
    ) -> Result<(), MilestoneError> {
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                None,
                async |(): ()| Ok(()),
                async || self.try_achieve(milestone, progress, is_late.swap(true, Relaxed)).await,
            )
            .await
    }

    async fn try_achieve(
        &self,
        milestone: &Milestone,
        progress: &Progress,
        is_late: bool,
    ) -> Result<Tried<()>, MilestoneError> {
        let (core, owner, goal) = (self.ground.core(), &milestone.user_id, &milestone.goal_id);
        let found = core.milestone(owner, goal, &milestone.id).get().await?;
        let found = found.filter(|one| !one.achieved && progress.reaches(one.percentage));
        let goal = core.goal(owner, goal).get().await?;
        let person = core.profile(owner).strong().get().await?;
        let person = person.filter(|person| person.status != UserStatus::Deleted);
        // Achieved, or gone: nothing is left to do.
        let (Some(before), Some(goal), Some(person)) = (found, goal, person) else {
            return Ok(Tried::Done(()));
        };
        let published = publish(&self.ground, achievement(&goal, &before).again(is_late)).await?;
        let at = published.activity.created_at;
        let achieved_at = Some(at);
        let after = Milestone { achieved: true, achieved_at, updated_at: at, ..before.clone() };
        let there = User::STATUS.is_not(&UserStatus::Deleted);
        let commit = self
            .ground
            .commit()
            .with("goal", goal.key().exists())
            .with("person", person.key().check(there))
            .with("milestone", changed(&before, &after));
        Ok(published.in_commit(commit).done(()).await?)
    }
}
