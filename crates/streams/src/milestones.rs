//! Achieves milestones when enough of their goal's tasks are done (R10), one job for each goal that
//! something changed in.
//!
//! What is achieved follows from how the tasks are when the job's turn comes, and is achieved once: so
//! changes may come again, late, or in any order. Un-doing a task, or adding one, takes nothing back:
//! an achieved milestone stays achieved, since others have been told.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{Ground, MilestoneError, Milestones};
use roundtable_model::entities::{Goal, Job, Milestone, Task};
use roundtable_model::table::Change;
use roundtable_model::{Entity, GoalId, Processor as Name, Queue, Time, UserId};
use serde::{Deserialize, Serialize};

use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::reads::read_all;
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("milestones");
/// Goals looked at at the same time.
const GOALS_AT_ONCE: usize = 8;
/// How long to wait where tasks change faster than they can be counted.
const BUSY: Duration = Duration::from_secs(1);

/// Achieves milestones by the share of tasks that are done.
#[derive(Clone, Debug)]
pub struct MilestoneRule {
    ground: Ground,
    milestones: Milestones,
}

/// The goal that something changed in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Moved {
    user_id: UserId,
    goal_id: GoalId,
}

impl MilestoneRule {
    /// What it is called.
    pub const NAME: Name = Name::named("milestones");

    /// The milestones of this ground.
    pub fn new(ground: Ground) -> Self {
        Self { milestones: Milestones::new(ground.clone()), ground }
    }
}

#[async_trait]
impl Processor for MilestoneRule {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Task::SHAPE.name, Milestone::SHAPE.name] }
    }

    /// Tasks are counted as they are when their turn comes.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut asked: BTreeMap<Moved, Time> = BTreeMap::new();
        for change in batch.changes {
            if let Some(moved) = moved(change)? {
                asked.insert(moved, happened(change, &self.ground));
            }
        }
        // A goal that was given up takes its tasks along: nothing can be reached any more.
        let places = asked.keys().map(|one| (one.clone(), Goal::at(&one.user_id, &one.goal_id)));
        let goals = read_all(self.ground.core().table(), places).await?;
        for (moved, due) in asked.into_iter().filter(|(moved, _)| goals.contains_key(moved)) {
            let job = job(QUEUE, moved.goal_id.recast(), due, &moved)?;
            effects.write(self.ground.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for MilestoneRule {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        GOALS_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let Moved { user_id, goal_id } = job.payload.to()?;
        match self.milestones.achieve_reached(&user_id, &goal_id).await.map_err(Failure::from) {
            Ok(()) => Ok(Next::Done),
            // Whoever keeps at it may go on for longer than a job is tried.
            Err(Failure::Busy) => Ok(Next::Later(String::new(), BUSY)),
            Err(failure) => Err(failure),
        }
    }
}

impl From<MilestoneError> for Failure {
    fn from(error: MilestoneError) -> Self {
        match error {
            MilestoneError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

/// The goal in which a change may have reached something: another share of its tasks is done, or a
/// milestone asks for another share.
fn moved(change: &Change) -> Result<Option<Moved>, Failure> {
    if entity(change) == Some(Task::SHAPE.name) {
        let Images { old, new } = Images::<Task>::of(change)?;
        let (before, after) = (old.as_ref().map(|old| old.done), new.as_ref().map(|new| new.done));
        let task = new.or(old).filter(|_| before != after);
        return Ok(task.map(|Task { user_id, goal_id, .. }| Moved { user_id, goal_id }));
    }
    let Images { old, new } = Images::<Milestone>::of(change)?;
    let asked = old.map(|old| old.percentage);
    let new = new.filter(|new| !new.achieved && asked != Some(new.percentage));
    Ok(new.map(|Milestone { user_id, goal_id, .. }| Moved { user_id, goal_id }))
}
