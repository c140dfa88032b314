//! Reminds users of due tasks, once each. A job waits for the time, then checks whether the task
//! still wants the reminder. A task that is done, deleted, or due at another time has no reminder
//! for the old time; moving the date enqueued another job. The reminder is written only if the task
//! is as it was read; a task that changes at that moment is read again. The reminder has one key,
//! no matter which worker runs the job or how often.

use async_trait::async_trait;
use roundtable_domain::{Cause, CauseObject};
use roundtable_model::entities::{Job, Task};
use roundtable_model::table::Transaction;
use roundtable_model::{Entity, GoalId, NotificationKind, Queue, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::pending::NotificationSource;
use super::{NotificationWriter, QUEUE, entity_key, notification_key};
use crate::Result;
use crate::jobs::{JobHandler, PageOutcome, new_job};
use crate::processor::Effects;
use crate::reads::read_all;

const JOBS_AT_ONCE: usize = 8;

/// The payload of a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReminderJob {
    goal_id: GoalId,
    task_id: TaskId,
    remind_at: Time,
}

impl NotificationWriter {
    /// Returns how long before its due time the owner of a task is reminded.
    pub(super) fn lead_ms(&self) -> u64 {
        u64::from(self.context.settings().notifications.reminder_lead_minutes) * 60_000
    }

    pub(super) fn enqueue_reminder(&self, cause: &Cause, effects: &mut Effects) -> Result<()> {
        let CauseObject::Task(goal_id, task_id) = cause.about.clone() else { return Ok(()) };
        let due = ReminderJob { goal_id, task_id, remind_at: cause.at };
        let job = new_job(QUEUE, due.task_id.recast(), due.remind_at, &due)?;
        effects.write(self.context.ops().table(), job.put());
        Ok(())
    }
}

#[async_trait]
impl JobHandler for NotificationWriter {
    fn queue(&self) -> Queue {
        QUEUE
    }

    /// Many reminders are due at the same full hour.
    fn jobs_at_once(&self) -> usize {
        JOBS_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let ReminderJob { goal_id, task_id, remind_at } = job.payload.decode()?;
        let core = self.context.core();
        let Some(task) = core.task(&goal_id, &task_id).get().await? else {
            return Ok(PageOutcome::Done);
        };
        let pending = Task::pending_notifications(&task, self.lead_ms());
        if !pending.iter().any(|notification| notification.at == remind_at) {
            return Ok(PageOutcome::Done);
        }
        // Without this check, the task could be completed or moved at this moment, and the write
        // that removes its reminder could come before the reminder exists.
        let unchanged = Task::DONE.is(&task.done).and(Task::DUE_AT.is(&task.due_at));
        let unchanged = task.key().check(unchanged);
        let (user, about) = (task.user_id, CauseObject::Task(goal_id, task_id));
        let kind = NotificationKind::Reminder;
        let cause = Cause { user: user.clone(), kind, actor: None, about, at: remind_at };
        let notification = cause.notification(&self.context)?;
        let key = notification_key(&notification);
        let existing = read_all(core.table(), [((), entity_key(&key))]).await?;
        let allowed = self.notifications.may_notify(&user, &[cause]).await?;
        if !existing.is_empty() || self.is_expired(&notification) || !allowed.contains(&true) {
            return Ok(PageOutcome::Done);
        }
        let transaction = Transaction::new().with(core.table(), notification.create());
        // If the check fails, the page is repeated and reads the task again.
        self.context.store().transact(transaction.with(core.table(), unchanged)).await?;
        Ok(PageOutcome::Done)
    }
}
