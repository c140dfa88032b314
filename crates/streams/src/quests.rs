//! Updates quests as tasks and goals are completed and reopened (R11), and ends them at their
//! deadlines.
//!
//! Changes only enqueue jobs; each job works on the current state. Changes may be delivered again,
//! late, or in any order across items: progress is stored as steps, and a step is never stored
//! twice. A new quest counts everything that exists, since some of it may be older than the quest.
//! An ending quest counts everything once more from the entities themselves: work done in time
//! counts, however far the stream has been read.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Context, QuestSubject, Quests};
use roundtable_model::entities::{Goal, Job, Quest, Task};
use roundtable_model::table::Change;
use roundtable_model::{
    Entity, JobId, ObjectType, ProcessorName, QuestId, Queue, SubjectId, Tag, Time, UserId,
};
use serde::{Deserialize, Serialize};

use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::purge::remove_activities_about;
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("quests");
const JOBS_AT_ONCE: usize = 8;
/// The delay after a deadline before a quest ends. Every request begun before has ended by then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// The delay if another clock is ahead of this one.
const EARLY_DELAY: Duration = Duration::from_secs(1);

/// The processor and job handler that update quests.
#[derive(Clone, Debug)]
pub struct QuestUpdater {
    context: Context,
    quests: Quests,
    settle: Duration,
}

/// The payload of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum QuestJob {
    /// A task or goal was completed or reopened.
    Subject(UserId, QuestSubject),
    #[serde(rename = "made")]
    Created(UserId, QuestId),
    /// A quest's deadline has passed.
    Ended(UserId, QuestId),
    /// A quest was deleted: its tags and its creation time.
    #[serde(rename = "gone")]
    Removed(UserId, QuestId, Vec<Tag>, Time),
}

impl QuestJob {
    fn id(&self) -> JobId {
        match self {
            Self::Subject(_, subject) => subject.id().recast(),
            Self::Created(_, quest) | Self::Ended(_, quest) | Self::Removed(_, quest, ..) => {
                quest.recast()
            }
        }
    }
}

impl QuestUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("quests");

    pub fn new(context: Context) -> Self {
        Self { quests: Quests::new(context.clone()), context, settle: SETTLE }
    }

    /// Ends quests without the delay, for tests in which no request is running at a deadline.
    #[must_use]
    pub fn without_delays(self) -> Self {
        Self { settle: Duration::ZERO, ..self }
    }

    /// Returns the jobs for a change, and when they are due.
    fn jobs_for(&self, change: &Change) -> Result<Vec<(Time, QuestJob)>> {
        let now = job_due_at(change, &self.context);
        let kind = entity_type(change).unwrap_or_default();
        if kind == Quest::SHAPE.name {
            return Ok(match Images::<Quest>::of(change)? {
                Images { old: None, new: Some(quest) } => {
                    let settle = u64::try_from(self.settle.as_millis()).unwrap_or(u64::MAX);
                    let end = quest.deadline.map(|deadline| deadline.plus_ms(settle));
                    let (user, id) = (quest.user_id, quest.id);
                    let end = end.map(|end| (end, QuestJob::Ended(user.clone(), id.clone())));
                    std::iter::once((now, QuestJob::Created(user, id))).chain(end).collect()
                }
                Images { old: Some(quest), new: None } => {
                    vec![(
                        now,
                        QuestJob::Removed(quest.user_id, quest.id, quest.tags, quest.created_at),
                    )]
                }
                // All other changes of a quest are made by this module.
                _ => Vec::new(),
            });
        }
        let subject =
            if kind == Task::SHAPE.name { changed_task(change)? } else { changed_goal(change)? };
        Ok(subject
            .into_iter()
            .map(|(user, subject)| (now, QuestJob::Subject(user, subject)))
            .collect())
    }
}

#[async_trait]
impl Processor for QuestUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Task::SHAPE.name, Goal::SHAPE.name, Quest::SHAPE.name] }
    }

    /// Jobs work on the current state.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        // Of two simultaneous changes of one entity, the last one counts.
        let mut jobs: BTreeMap<(Time, JobId), QuestJob> = BTreeMap::new();
        for change in batch.changes {
            for (due, payload) in self.jobs_for(change)? {
                jobs.insert((due, payload.id()), payload);
            }
        }
        for ((due, id), payload) in jobs {
            effects.write(self.context.ops().table(), new_job(QUEUE, id, due, &payload)?.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for QuestUpdater {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        JOBS_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let payload: QuestJob = job.payload.decode()?;
        match &payload {
            QuestJob::Subject(user, subject) => self.quests.recount(user, subject).await?,
            QuestJob::Created(user, quest) => self.quests.recount_all(user, quest).await?,
            QuestJob::Ended(user, quest) => {
                self.quests.recount_all(user, quest).await?;
                if !self.quests.expire(user, quest).await? {
                    return Ok(PageOutcome::ContinueLater(String::new(), EARLY_DELAY));
                }
            }
            QuestJob::Removed(user, quest, tags, since) => {
                let cursor = job.cursor.as_deref().filter(|cursor| !cursor.is_empty());
                if cursor.is_none() && self.quests.clear(user, quest, tags).await? {
                    return Ok(PageOutcome::Continue(String::new()));
                }
                // Ids are never reused.
                let about = [(ObjectType::Quest, SubjectId::from(quest))];
                return remove_activities_about(&self.context, user, &about, *since, cursor).await;
            }
        }
        Ok(PageOutcome::Done)
    }
}

/// Returns a task that was completed or reopened, or completed at another time.
fn changed_task(change: &Change) -> Result<Option<(UserId, QuestSubject)>> {
    let Images { old, new } = Images::<Task>::of(change)?;
    let done = |task: &Option<Task>| {
        let task = task.as_ref().filter(|task| task.done);
        task.and_then(|task| task.done_at.map(|at| (task.user_id.clone(), at)))
    };
    let is_same = done(&old) == done(&new);
    let task = new.or(old).filter(|_| !is_same);
    Ok(task.map(|task| (task.user_id, QuestSubject::Task(task.goal_id, task.id))))
}

/// Returns a goal that was completed or reopened, or completed at another time.
fn changed_goal(change: &Change) -> Result<Option<(UserId, QuestSubject)>> {
    let Images { old, new } = Images::<Goal>::of(change)?;
    let done = |goal: &Option<Goal>| goal.as_ref().and_then(|goal| goal.completed_at);
    let is_same = done(&old) == done(&new);
    let goal = new.or(old).filter(|_| !is_same);
    Ok(goal.map(|goal| (goal.user_id, QuestSubject::Goal(goal.id))))
}
