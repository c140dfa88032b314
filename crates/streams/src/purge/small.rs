//! Tasks and comments that are gone, of whom something may have been told: together for each person,
//! because many go at once with their goal or post, and one walk finds what was told of all of them.

use std::collections::BTreeMap;

use roundtable_domain::Ground;
use roundtable_model::entities::{Comment, Task};
use roundtable_model::table::Change;
use roundtable_model::{Entity, ObjectType, SubjectId, Time, UserId};

use super::Deleted;
use crate::Failure;
use crate::jobs::happened;
use crate::processor::{Images, entity};

/// Things of one job: it is an item, and they have to fit into it.
const AT_ONCE: usize = 100;

/// What is gone of each person.
#[derive(Debug, Default)]
pub(super) struct Small {
    gone: BTreeMap<UserId, Gone>,
}

#[derive(Debug)]
struct Gone {
    since: Time,
    /// When the first of it went.
    due: Time,
    about: Vec<(ObjectType, SubjectId)>,
}

impl Small {
    /// Notes what a change takes away: a comment is gone as soon as it is a tombstone.
    pub(super) fn note(&mut self, change: &Change, ground: &Ground) -> Result<(), Failure> {
        let kind = entity(change).unwrap_or_default();
        let gone = if kind == Task::SHAPE.name {
            let Images { old, new } = Images::<Task>::of(change)?;
            let task = old.filter(|_| new.is_none());
            task.map(|it| (it.user_id, it.created_at, (ObjectType::Task, it.id.into())))
        } else if kind == Comment::SHAPE.name {
            let Images { old, new } = Images::<Comment>::of(change)?;
            let comment = old.filter(|it| !it.is_deleted);
            let comment = comment.filter(|_| new.is_none_or(|it| it.is_deleted));
            comment.map(|it| (it.user_id, it.created_at, (ObjectType::Comment, it.id.into())))
        } else {
            None
        };
        let Some((owner, since, about)) = gone else { return Ok(()) };
        let due = happened(change, ground);
        let first = || Gone { since, due, about: Vec::new() };
        let theirs = self.gone.entry(owner).or_insert_with(first);
        theirs.since = theirs.since.min(since);
        theirs.about.push(about);
        Ok(())
    }

    /// The jobs, and when they are due.
    pub(super) fn jobs(self) -> impl Iterator<Item = (Time, Deleted)> {
        self.gone.into_iter().flat_map(|(owner, Gone { since, due, about })| {
            let some = about.chunks(AT_ONCE).map(<[_]>::to_vec).collect::<Vec<_>>();
            some.into_iter().map(move |some| (due, Deleted::Small(owner.clone(), some, since)))
        })
    }
}
