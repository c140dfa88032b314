//! Reminds people of tasks that are due, once each: a job waits for the time, then looks whether the task
//! still wants it. A task that is done, gone, or due at another time by then has no reminder of that
//! time; it asked for another job when its date was moved. The reminder is written only while the task is
//! as it was read: one that changes at that moment is looked at again. Whoever runs the job, and however
//! often, the reminder has one place.

use async_trait::async_trait;
use roundtable_domain::{About, Cause};
use roundtable_model::entities::{Job, Task};
use roundtable_model::table::Transaction;
use roundtable_model::{Entity, GoalId, NotificationKind, Queue, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::wishes::Fact;
use super::{Notices, QUEUE, at, place_of};
use crate::Failure;
use crate::jobs::{Next, Work, job};
use crate::processor::Effects;
use crate::reads::read_all;

/// Reminders written at the same time.
const JOBS_AT_ONCE: usize = 8;

/// Which task somebody is to be reminded of, and when.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Due {
    goal_id: GoalId,
    task_id: TaskId,
    remind_at: Time,
}

impl Notices {
    /// How long before a task is due its owner is reminded.
    pub(super) fn lead_ms(&self) -> u64 {
        u64::from(self.ground.settings().notifications.reminder_lead_minutes) * 60_000
    }

    /// Asks for the reminder of a task.
    pub(super) fn remind_later(&self, cause: &Cause, effects: &mut Effects) -> Result<(), Failure> {
        let About::Task(goal_id, task_id) = cause.about.clone() else { return Ok(()) };
        let due = Due { goal_id, task_id, remind_at: cause.at };
        let job = job(QUEUE, due.task_id.recast(), due.remind_at, &due)?;
        effects.write(self.ground.ops().table(), job.put());
        Ok(())
    }
}

#[async_trait]
impl Work for Notices {
    fn queue(&self) -> Queue {
        QUEUE
    }

    /// Many are due at the same full hour.
    fn jobs_at_once(&self) -> usize {
        JOBS_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let Due { goal_id, task_id, remind_at } = job.payload.to()?;
        let core = self.ground.core();
        let Some(task) = core.task(&goal_id, &task_id).get().await? else { return Ok(Next::Done) };
        let wishes = Task::wishes(&task, self.lead_ms());
        if !wishes.iter().any(|wish| wish.at == remind_at) {
            return Ok(Next::Done);
        }
        // Else the task is done, or its date moved, at this very moment, and what takes the reminder away
        // again may have looked before it was there.
        let unchanged = Task::DONE.is(&task.done).and(Task::DUE_AT.is(&task.due_at));
        let unchanged = task.key().check(unchanged);
        let (user, about) = (task.user_id, About::Task(goal_id, task_id));
        let kind = NotificationKind::Reminder;
        let cause = Cause { user: user.clone(), kind, actor: None, about, at: remind_at };
        let note = cause.notification(&self.ground)?;
        let place = place_of(&note);
        let there = read_all(core.table(), [((), at(&place))]).await?;
        let admitted = self.notifications.admits(&user, &[cause]).await?;
        if !there.is_empty() || self.is_over(&note) || !admitted.contains(&true) {
            return Ok(Next::Done);
        }
        let told = Transaction::new().with(core.table(), note.create());
        // Refused, the page is done again, and finds out why.
        self.ground.store().transact(told.with(core.table(), unchanged)).await?;
        Ok(Next::Done)
    }
}
