//! Takes away what a deleted post, account, group or goal leaves behind, however much it is: a page at a
//! time, and what it all hangs on last; and what was told of tasks and comments that are gone.
//!
//! Nothing here is seen by anybody any more when it begins: the deletion itself has hidden it. What
//! counts for others (follows, memberships, a post's author) is taken away in one transaction with
//! what it counts for; what the stream counts (likes, comments, shares) is simply removed. Whatever is
//! found gone already is passed over, so every page can be done twice.

mod account;
mod goal;
mod graph;
mod group;
mod post;
mod rooms;
mod small;
mod sweep;
mod told;
mod trade;

use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Ground, Groups};
use roundtable_model::entities::{Comment, Goal, Group, Job, Post, Task, User};
use roundtable_model::table::Change;
use roundtable_model::{
    Entity, GoalId, GroupId, JobId, ObjectType, PostId, Processor as Name, Queue, RoomId,
    SubjectId, Time, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

use self::small::Small;
pub(crate) use self::told::remove_told;

use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("purge");
/// Between two looks for what is left: requests that were under way when an account was deleted have
/// ended by then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// The same where indexes may be behind, too.
const SETTLE_INDEXES: Duration = SETTLE.saturating_add(Duration::from_mins(1));

/// Purges what was deleted.
#[derive(Clone, Debug)]
pub struct Purge {
    ground: Ground,
    groups: Groups,
    settle: Duration,
}

/// What is to be purged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Deleted {
    Post(PostId),
    Account(UserId),
    Group(GroupId, RoomId),
    /// Whose it was, and since when.
    Goal(UserId, GoalId, Time),
    /// Tasks and comments of one person, and since when they were there.
    Small(UserId, Vec<(ObjectType, SubjectId)>, Time),
}

impl Purge {
    /// What it is called.
    pub const NAME: Name = Name::named("purge");

    /// The purge of this ground.
    pub fn new(ground: Ground) -> Self {
        let strong = ground.store().capabilities().strong_index_reads;
        let settle = if strong { SETTLE } else { SETTLE_INDEXES };
        Self { groups: Groups::new(ground.clone()), ground, settle }
    }

    /// The same, which looks a second time without waiting: for tests.
    #[must_use]
    pub fn at_once(mut self) -> Self {
        self.settle = Duration::ZERO;
        self
    }
}

#[async_trait]
impl Processor for Purge {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
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

    /// What was deleted stays deleted.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut asked: Vec<Deleted> = Vec::new();
        let mut small = Small::default();
        for change in batch.changes {
            small.note(change, &self.ground)?;
            let Some(deleted) = deleted(change)? else { continue };
            if !asked.contains(&deleted) {
                let due = happened(change, &self.ground);
                let job = job(QUEUE, deleted.job_id(), due, &deleted)?;
                effects.write(self.ground.ops().table(), job.put());
                asked.push(deleted);
            }
        }
        for (due, deleted) in small.jobs() {
            let job = job(QUEUE, deleted.job_id(), due, &deleted)?;
            effects.write(self.ground.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for Purge {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        match job.payload.to()? {
            Deleted::Post(post) => self.post_page(&post).await,
            Deleted::Account(user) => self.account_page(&user, job.cursor.as_deref()).await,
            Deleted::Group(group, room) => self.group_page(&group, &room).await,
            Deleted::Goal(owner, goal, since) => {
                self.goal_page(&owner, &goal, since, job.cursor.as_deref()).await
            }
            Deleted::Small(owner, about, since) => {
                remove_told(&self.ground, &owner, &about, since, job.cursor.as_deref()).await
            }
        }
    }
}

impl Deleted {
    /// Two deletions of different things have different jobs.
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
        // Ids that leave no room for the kind are as unlike each other as any.
        format!("{kind}-{id}").parse().unwrap_or(id)
    }
}

/// What a change deletes.
fn deleted(change: &Change) -> Result<Option<Deleted>, Failure> {
    let kind = entity(change).unwrap_or_default();
    if kind == Post::SHAPE.name {
        let images = Images::<Post>::of(change)?;
        let before = images.old.is_some_and(|post| post.is_deleted);
        let after = images.new.filter(|post| post.is_deleted && !before);
        return Ok(after.map(|post| Deleted::Post(post.id)));
    }
    if kind == User::SHAPE.name {
        let images = Images::<User>::of(change)?;
        let gone = |user: &User| user.status == UserStatus::Deleted;
        let before = images.old.as_ref().is_some_and(gone);
        let after = images.new.filter(|user| gone(user) && !before);
        return Ok(after.map(|user| Deleted::Account(user.id)));
    }
    if kind == Goal::SHAPE.name {
        let Images { old, new } = Images::<Goal>::of(change)?;
        let gone = old.filter(|_| new.is_none());
        return Ok(gone.map(|goal| Deleted::Goal(goal.user_id, goal.id, goal.created_at)));
    }
    if kind != Group::SHAPE.name {
        return Ok(None);
    }
    let Images { old, new } = Images::<Group>::of(change)?;
    let gone = old.filter(|_| new.is_none());
    Ok(gone.map(|group| Deleted::Group(group.id, group.room_id)))
}
