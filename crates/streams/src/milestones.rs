//! Achieves milestones when enough of their goal's tasks are done (R10), with one job for each
//! changed goal.
//!
//! The outcome follows from the tasks at the time the job runs, and a milestone is achieved once,
//! so changes may be delivered again, late, or in any order. Reopening or adding a task takes
//! nothing back: an achieved milestone stays achieved, since others have been notified.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{Context, MilestoneError, Milestones};
use roundtable_model::entities::{Goal, Job, Milestone, Task};
use roundtable_model::table::Change;
use roundtable_model::{Entity, GoalId, ProcessorName, Queue, Time, UserId};
use serde::{Deserialize, Serialize};

use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::reads::read_all;
use crate::{Delivery, ProcessingError, Result};

const QUEUE: Queue = Queue::from_static("milestones");
const GOALS_AT_ONCE: usize = 8;
/// The delay if tasks change faster than they can be counted.
const BUSY_DELAY: Duration = Duration::from_secs(1);

/// The processor and job handler that achieve milestones.
#[derive(Clone, Debug)]
pub struct MilestoneUpdater {
    context: Context,
    milestones: Milestones,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangedGoal {
    user_id: UserId,
    goal_id: GoalId,
}

impl MilestoneUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("milestones");

    pub fn new(context: Context) -> Self {
        Self { milestones: Milestones::new(context.clone()), context }
    }
}

#[async_trait]
impl Processor for MilestoneUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Task::SHAPE.name, Milestone::SHAPE.name] }
    }

    /// Tasks are counted when the job runs.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut jobs: BTreeMap<ChangedGoal, Time> = BTreeMap::new();
        for change in batch.changes {
            if let Some(goal) = changed_goal(change)? {
                jobs.insert(goal, job_due_at(change, &self.context));
            }
        }
        // A deleted goal takes its tasks with it: nothing can be achieved any more.
        let keys = jobs.keys().map(|one| (one.clone(), Goal::at(&one.user_id, &one.goal_id)));
        let goals = read_all(self.context.core().table(), keys).await?;
        for (goal, due) in jobs.into_iter().filter(|(goal, _)| goals.contains_key(goal)) {
            let job = new_job(QUEUE, goal.goal_id.recast(), due, &goal)?;
            effects.write(self.context.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for MilestoneUpdater {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        GOALS_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let ChangedGoal { user_id, goal_id } = job.payload.decode()?;
        match self
            .milestones
            .achieve_reached(&user_id, &goal_id)
            .await
            .map_err(ProcessingError::from)
        {
            Ok(()) => Ok(PageOutcome::Done),
            // A busy user may keep changing tasks for longer than a job is retried.
            Err(ProcessingError::Busy) => Ok(PageOutcome::ContinueLater(String::new(), BUSY_DELAY)),
            Err(error) => Err(error),
        }
    }
}

impl From<MilestoneError> for ProcessingError {
    fn from(error: MilestoneError) -> Self {
        match error {
            MilestoneError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

/// Returns the goal in which a change may achieve a milestone: the share of done tasks changed, or
/// the percentage of a milestone.
fn changed_goal(change: &Change) -> Result<Option<ChangedGoal>> {
    if entity_type(change) == Some(Task::SHAPE.name) {
        let Images { old, new } = Images::<Task>::of(change)?;
        let (before, after) = (old.as_ref().map(|old| old.done), new.as_ref().map(|new| new.done));
        let task = new.or(old).filter(|_| before != after);
        return Ok(task.map(|Task { user_id, goal_id, .. }| ChangedGoal { user_id, goal_id }));
    }
    let Images { old, new } = Images::<Milestone>::of(change)?;
    let before = old.map(|old| old.percentage);
    let new = new.filter(|new| !new.achieved && before != Some(new.percentage));
    Ok(new.map(|Milestone { user_id, goal_id, .. }| ChangedGoal { user_id, goal_id }))
}
