//! Removes everything that a deleted post, account, group or goal leaves behind, a page at a
//! time, a post or profile last; and the activities about deleted tasks and comments.
//!
//! Nothing here is visible to users when it begins: the deletion itself has hidden it. Items that
//! count for others (follows, memberships, a post's author) are removed in one transaction with
//! their counters; items that the stream counts (likes, comments, shares) are simply removed. Items
//! already gone are skipped, so every page can be repeated.

mod account;
mod activities_about;
mod assists_and_offers;
mod goal;
mod graph;
mod group;
mod post;
mod rooms;
mod small_removals;
mod sweep;

use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Context, Groups};
use roundtable_model::entities::{Comment, Goal, Group, Job, Post, Task, User};
use roundtable_model::table::Change;
use roundtable_model::{
    Entity, GoalId, GroupId, JobId, ObjectType, PostId, ProcessorName, Queue, RoomId, SubjectId,
    Time, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::activities_about::remove_activities_about;
use self::small_removals::SmallRemovals;

use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("purge");
/// The time between two passes: requests that were running when an account was deleted have ended
/// by then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// The same if indexes may lag, too.
const SETTLE_INDEXES: Duration = SETTLE.saturating_add(Duration::from_mins(1));

/// The processor and job handler that purge deleted entities.
#[derive(Clone, Debug)]
pub struct Purge {
    context: Context,
    groups: Groups,
    settle: Duration,
}

/// The payload of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum PurgeJob {
    Post(PostId),
    Account(UserId),
    Group(GroupId, RoomId),
    /// Its owner and its creation time.
    Goal(UserId, GoalId, Time),
    /// Tasks and comments of one user, and the earliest creation time.
    Small(UserId, Vec<(ObjectType, SubjectId)>, Time),
}

impl Purge {
    pub const NAME: ProcessorName = ProcessorName::from_static("purge");

    pub fn new(context: Context) -> Self {
        let strong = context.store().capabilities().strong_index_reads;
        let settle = if strong { SETTLE } else { SETTLE_INDEXES };
        Self { groups: Groups::new(context.clone()), context, settle }
    }

    /// Runs the second pass without a delay, for tests.
    #[must_use]
    pub fn without_delays(mut self) -> Self {
        self.settle = Duration::ZERO;
        self
    }
}

#[async_trait]
impl Processor for Purge {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const {
            &[
                Post::SHAPE.name,
                User::SHAPE.name,
                Group::SHAPE.name,
                Goal::SHAPE.name,
                Task::SHAPE.name,
                Comment::SHAPE.name,
            ]
        }
    }

    /// Deleted entities stay deleted.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut jobs: Vec<PurgeJob> = Vec::new();
        let mut small = SmallRemovals::default();
        for change in batch.changes {
            small.add(change, &self.context)?;
            let Some(payload) = purge_job(change)? else { continue };
            if !jobs.contains(&payload) {
                let due = job_due_at(change, &self.context);
                let job = new_job(QUEUE, payload.job_id(), due, &payload)?;
                effects.write(self.context.ops().table(), job.put());
                jobs.push(payload);
            }
        }
        for (due, payload) in small.into_jobs() {
            let job = new_job(QUEUE, payload.job_id(), due, &payload)?;
            effects.write(self.context.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for Purge {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        match job.payload.decode()? {
            PurgeJob::Post(post) => self.post_page(&post).await,
            PurgeJob::Account(user) => self.account_page(&user, job.cursor.as_deref()).await,
            PurgeJob::Group(group, room) => self.group_page(&group, &room).await,
            PurgeJob::Goal(owner, goal, since) => {
                self.goal_page(&owner, &goal, since, job.cursor.as_deref()).await
            }
            PurgeJob::Small(owner, about, since) => {
                remove_activities_about(&self.context, &owner, &about, since, job.cursor.as_deref())
                    .await
            }
        }
    }
}

impl PurgeJob {
    /// Returns a distinct id for each deletion.
    fn job_id(&self) -> JobId {
        let (kind, id): (_, JobId) = match self {
            Self::Post(id) => ("post", id.recast()),
            Self::Account(id) => ("account", id.recast()),
            Self::Group(id, _) => ("group", id.recast()),
            Self::Goal(_, id, _) => ("goal", id.recast()),
            Self::Small(owner, about, _) => {
                ("small", about.first().map_or_else(|| owner.recast(), |(_, id)| id.recast()))
            }
        };
        // An id too long for the prefix is unique by itself.
        format!("{kind}-{id}").parse().unwrap_or(id)
    }
}

/// Returns the job for a change that deletes something.
fn purge_job(change: &Change) -> Result<Option<PurgeJob>> {
    let kind = entity_type(change).unwrap_or_default();
    if kind == Post::SHAPE.name {
        let images = Images::<Post>::of(change)?;
        let before = images.old.is_some_and(|post| post.is_deleted);
        let after = images.new.filter(|post| post.is_deleted && !before);
        return Ok(after.map(|post| PurgeJob::Post(post.id)));
    }
    if kind == User::SHAPE.name {
        let images = Images::<User>::of(change)?;
        let is_deleted = |user: &User| user.status == UserStatus::Deleted;
        let before = images.old.as_ref().is_some_and(is_deleted);
        let after = images.new.filter(|user| is_deleted(user) && !before);
        return Ok(after.map(|user| PurgeJob::Account(user.id)));
    }
    if kind == Goal::SHAPE.name {
        let Images { old, new } = Images::<Goal>::of(change)?;
        let removed = old.filter(|_| new.is_none());
        return Ok(removed.map(|goal| PurgeJob::Goal(goal.user_id, goal.id, goal.created_at)));
    }
    if kind != Group::SHAPE.name {
        return Ok(None);
    }
    let Images { old, new } = Images::<Group>::of(change)?;
    let removed = old.filter(|_| new.is_none());
    Ok(removed.map(|group| PurgeJob::Group(group.id, group.room_id)))
}
