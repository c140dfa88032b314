//! Brings quests along as tasks and goals are done and un-done (R11), and ends them at their deadlines.
//!
//! Changes only tell what there may be to look at; each look is a job, from how things are then. So they
//! may come again, late, or in any order across items: what counts is there as a step, and a step is
//! never there twice. A quest that is made looks at all there is, since some of it may be older than the
//! quest. One that ends looks at all of it once more, at the things themselves: what was done in time
//! counts, however far the stream has been read.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Ground, QuestSubject, Quests};
use roundtable_model::entities::{Goal, Job, Quest, Task};
use roundtable_model::table::Change;
use roundtable_model::{
    Entity, JobId, ObjectType, Processor as Name, QuestId, Queue, SubjectId, Tag, Time, UserId,
};
use serde::{Deserialize, Serialize};

use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::purge::remove_told;
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("quests");
/// Looks at the same time.
const LOOKS_AT_ONCE: usize = 8;
/// How long after its deadline a quest ends: whatever was begun before has ended by then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// How long to wait where another clock is ahead of this one.
const EARLY: Duration = Duration::from_secs(1);

/// Keeps the progress of quests.
#[derive(Clone, Debug)]
pub struct QuestProgress {
    ground: Ground,
    quests: Quests,
    settle: Duration,
}

/// What there is to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Look {
    /// A task or goal that was done or un-done.
    Subject(UserId, QuestSubject),
    /// A quest that was made.
    Made(UserId, QuestId),
    /// A quest whose deadline has come.
    Ended(UserId, QuestId),
    /// A quest that was taken away, with the tags it had and since when it was there.
    Gone(UserId, QuestId, Vec<Tag>, Time),
}

impl Look {
    fn id(&self) -> JobId {
        match self {
            Self::Subject(_, subject) => subject.id().recast(),
            Self::Made(_, quest) | Self::Ended(_, quest) | Self::Gone(_, quest, ..) => {
                quest.recast()
            }
        }
    }
}

impl QuestProgress {
    /// What it is called.
    pub const NAME: Name = Name::named("quests");

    /// The quests of this ground.
    pub fn new(ground: Ground) -> Self {
        Self { quests: Quests::new(ground.clone()), ground, settle: SETTLE }
    }

    /// The same for tests, in which nothing is under way at a deadline: it waits for nobody.
    #[must_use]
    pub fn at_once(self) -> Self {
        Self { settle: Duration::ZERO, ..self }
    }

    /// What a change leaves to look at, and when.
    fn looks(&self, change: &Change) -> Result<Vec<(Time, Look)>, Failure> {
        let now = happened(change, &self.ground);
        let kind = entity(change).unwrap_or_default();
        if kind == Quest::SHAPE.name {
            return Ok(match Images::<Quest>::of(change)? {
                Images { old: None, new: Some(quest) } => {
                    let settle = u64::try_from(self.settle.as_millis()).unwrap_or(u64::MAX);
                    let end = quest.deadline.map(|deadline| deadline.plus_ms(settle));
                    let (user, id) = (quest.user_id, quest.id);
                    let end = end.map(|end| (end, Look::Ended(user.clone(), id.clone())));
                    std::iter::once((now, Look::Made(user, id))).chain(end).collect()
                }
                Images { old: Some(quest), new: None } => {
                    vec![(now, Look::Gone(quest.user_id, quest.id, quest.tags, quest.created_at))]
                }
                // Nothing else of a quest changes but what is written here.
                _ => Vec::new(),
            });
        }
        let subject = if kind == Task::SHAPE.name { task(change)? } else { goal(change)? };
        Ok(subject.into_iter().map(|(user, it)| (now, Look::Subject(user, it))).collect())
    }
}

#[async_trait]
impl Processor for QuestProgress {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Task::SHAPE.name, Goal::SHAPE.name, Quest::SHAPE.name] }
    }

    /// Everything is looked at as it is when its turn comes.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        // Of two changes of one thing in the same moment, the last one tells how it is.
        let mut looks: BTreeMap<(Time, JobId), Look> = BTreeMap::new();
        for change in batch.changes {
            for (due, look) in self.looks(change)? {
                looks.insert((due, look.id()), look);
            }
        }
        for ((due, id), look) in looks {
            effects.write(self.ground.ops().table(), job(QUEUE, id, due, &look)?.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for QuestProgress {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        LOOKS_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let look: Look = job.payload.to()?;
        match &look {
            Look::Subject(user, subject) => self.quests.weigh(user, subject).await?,
            Look::Made(user, quest) => self.quests.weigh_all(user, quest).await?,
            Look::Ended(user, quest) => {
                self.quests.weigh_all(user, quest).await?;
                if !self.quests.expire(user, quest).await? {
                    return Ok(Next::Later(String::new(), EARLY));
                }
            }
            Look::Gone(user, quest, tags, since) => {
                let walked = job.cursor.as_deref().filter(|cursor| !cursor.is_empty());
                if walked.is_none() && self.quests.clear(user, quest, tags).await? {
                    return Ok(Next::Page(String::new()));
                }
                // Its ids are never given again.
                let about = [(ObjectType::Quest, SubjectId::from(quest))];
                return remove_told(&self.ground, user, &about, *since, walked).await;
            }
        }
        Ok(Next::Done)
    }
}

/// A task that is done now and was not, or the other way round, or at another time.
fn task(change: &Change) -> Result<Option<(UserId, QuestSubject)>, Failure> {
    let Images { old, new } = Images::<Task>::of(change)?;
    let done = |task: &Option<Task>| {
        let task = task.as_ref().filter(|task| task.done);
        task.and_then(|task| task.done_at.map(|at| (task.user_id.clone(), at)))
    };
    let is_same = done(&old) == done(&new);
    let task = new.or(old).filter(|_| !is_same);
    Ok(task.map(|task| (task.user_id, QuestSubject::Task(task.goal_id, task.id))))
}

/// The same of a goal.
fn goal(change: &Change) -> Result<Option<(UserId, QuestSubject)>, Failure> {
    let Images { old, new } = Images::<Goal>::of(change)?;
    let done = |goal: &Option<Goal>| goal.as_ref().and_then(|goal| goal.completed_at);
    let is_same = done(&old) == done(&new);
    let goal = new.or(old).filter(|_| !is_same);
    Ok(goal.map(|goal| (goal.user_id, QuestSubject::Goal(goal.id))))
}
