//! Milestones achieved by the processors because enough tasks are done.
//!
//! The decision follows from the stored state, and the transaction requires that the milestone is
//! not achieved yet. Detected twice, it is achieved and published once.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Milestone;
use roundtable_model::{Entity, GoalId, UserId};

use super::progress::TaskProgress;
use super::{MilestoneError, Milestones, achievement, update_write};
use crate::ServiceError;
use crate::account::existing_account_check;
use crate::activities::prepare_activity;
use crate::mutation::{Attempt, AttemptOutcome};

const MILESTONES_PER_PAGE: usize = 100;
/// Recounts while the tasks keep changing.
const RECOUNTS_MAX: usize = 5;

#[boxed]
impl Milestones {
    /// Achieves every milestone that the goal's tasks have reached. For processors, whenever a task
    /// or milestone changes; fails with `Busy` while the tasks keep changing, to be retried.
    pub async fn achieve_reached(
        &self,
        owner: &UserId,
        goal: &GoalId,
    ) -> Result<(), MilestoneError> {
        let unachieved = self.unachieved(owner, goal).await?;
        if unachieved.is_empty() {
            return Ok(());
        }
        let mut progress = TaskProgress::of(&self.context, goal).await?;
        for _ in 0..RECOUNTS_MAX {
            let reaches = |one: &&Milestone| progress.reaches(one.percentage);
            let reached: Vec<&Milestone> = unachieved.iter().filter(reaches).collect();
            if reached.is_empty() {
                return Ok(());
            }
            // Both counts agree and no task changed in between, so the count was true at one
            // moment.
            let recount = TaskProgress::of(&self.context, goal).await?;
            if recount == progress {
                for milestone in reached {
                    self.context
                        .retry(async |attempt| self.achieve(milestone, &progress, attempt).await)
                        .await?;
                }
                return Ok(());
            }
            progress = recount;
        }
        // A retry is needed: not every change triggers another call, for example a new title of a
        // task.
        Err(ServiceError::Busy.into())
    }

    async fn unachieved(
        &self,
        owner: &UserId,
        goal: &GoalId,
    ) -> Result<Vec<Milestone>, ServiceError> {
        let (mut unachieved, mut after) = (Vec::new(), None);
        loop {
            let listing = self.context.core().milestones(owner, goal).strong();
            let listing = listing.filter_by(Milestone::ACHIEVED, &false).limit(MILESTONES_PER_PAGE);
            let page = listing.after(after.take()).page().await?;
            unachieved.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(unachieved);
            }
        }
    }

    async fn achieve(
        &self,
        milestone: &Milestone,
        progress: &TaskProgress,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<()>, MilestoneError> {
        let (core, owner, goal) = (self.context.core(), &milestone.user_id, &milestone.goal_id);
        let found = core.milestone(owner, goal, &milestone.id).get().await?;
        let found = found.filter(|one| !one.achieved && progress.reaches(one.percentage));
        let goal = core.goal(owner, goal).get().await?;
        let owner = self.context.existing_account(owner).await?;
        // Achieved or deleted concurrently.
        let (Some(before), Some(goal), Some(owner)) = (found, goal, owner) else {
            return Ok(AttemptOutcome::Done(()));
        };
        let draft = achievement(&goal, &before);
        let published = prepare_activity(&self.context, attempt, draft).await?;
        let at = published.activity.created_at;
        let achieved_at = Some(at);
        let after = Milestone { achieved: true, achieved_at, updated_at: at, ..before.clone() };
        let commit = attempt
            .commit()
            .with("goal", goal.key().exists())
            .with("user", existing_account_check(&owner.id))
            .with("milestone", update_write(&before, &after));
        published.add_to(commit).finish_unrecorded(()).await
    }
}
