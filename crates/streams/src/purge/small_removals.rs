//! Collects removed tasks and comments, which activities may be about. They are grouped by owner,
//! because many go at once with their goal or post, and one scan finds the activities about all of
//! them.

use std::collections::BTreeMap;

use roundtable_domain::Context;
use roundtable_model::entities::{Comment, Task};
use roundtable_model::table::Change;
use roundtable_model::{Entity, ObjectType, SubjectId, Time, UserId};

use super::PurgeJob;
use crate::Result;
use crate::jobs::job_due_at;
use crate::processor::{Images, entity_type};

/// Entities of one job. They have to fit into one item.
const ITEMS_PER_JOB_MAX: usize = 100;

/// The removed entities of each user.
#[derive(Debug, Default)]
pub(super) struct SmallRemovals {
    by_owner: BTreeMap<UserId, RemovedItems>,
}

#[derive(Debug)]
struct RemovedItems {
    since: Time,
    /// The time of the first removal.
    due: Time,
    about: Vec<(ObjectType, SubjectId)>,
}

impl SmallRemovals {
    /// Adds what a change removes. A comment is removed as soon as it is a tombstone.
    pub(super) fn add(&mut self, change: &Change, context: &Context) -> Result<()> {
        let kind = entity_type(change).unwrap_or_default();
        let removed = if kind == Task::SHAPE.name {
            let Images { old, new } = Images::<Task>::of(change)?;
            let task = old.filter(|_| new.is_none());
            task.map(|task| (task.user_id, task.created_at, (ObjectType::Task, task.id.into())))
        } else if kind == Comment::SHAPE.name {
            let Images { old, new } = Images::<Comment>::of(change)?;
            let comment = old.filter(|comment| !comment.is_deleted);
            let comment = comment.filter(|_| new.is_none_or(|comment| comment.is_deleted));
            comment.map(|comment| {
                (comment.user_id, comment.created_at, (ObjectType::Comment, comment.id.into()))
            })
        } else {
            None
        };
        let Some((owner, since, about)) = removed else { return Ok(()) };
        let due = job_due_at(change, context);
        let first = || RemovedItems { since, due, about: Vec::new() };
        let items = self.by_owner.entry(owner).or_insert_with(first);
        items.since = items.since.min(since);
        items.about.push(about);
        Ok(())
    }

    /// Returns the jobs and when they are due.
    pub(super) fn into_jobs(self) -> impl Iterator<Item = (Time, PurgeJob)> {
        self.by_owner.into_iter().flat_map(|(owner, RemovedItems { since, due, about })| {
            let chunks = about.chunks(ITEMS_PER_JOB_MAX).map(<[_]>::to_vec).collect::<Vec<_>>();
            chunks.into_iter().map(move |chunk| (due, PurgeJob::Small(owner.clone(), chunk, since)))
        })
    }
}
