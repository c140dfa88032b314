//! Archives groups that are not persistent and have been idle (R55), with one job for each group. The
//! job waits until a week before, looks whether the group was used since, tells the members, waits again
//! and archives. Every step follows from the group at that time, so a step may be repeated.

use std::time::Duration;

use async_trait::async_trait;
use roundtable_domain::{
    ARCHIVAL_NOTICE_MS, ArchivalStep, Cause, CauseObject, Context, Groups, Notifications,
    archival_due_at,
};
use roundtable_model::entities::{Group, GroupMember, Job};
use roundtable_model::{
    Entity, GroupId, MemberStatus, NotificationKind, ProcessorName, Queue, Time,
};
use serde::{Deserialize, Serialize};

use crate::jobs::{JobHandler, PageOutcome, new_job};
use crate::notifications::{RECIPIENTS_AT_ONCE, notify_each};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, ProcessingError, Result};

const QUEUE: Queue = Queue::from_static("archival");
const GROUPS_AT_ONCE: usize = 4;

/// The processor and job handler that archive idle groups.
#[derive(Clone, Debug)]
pub struct GroupArchiver {
    context: Context,
    groups: Groups,
    notifications: Notifications,
}

/// The payload of a job. A group that is revived, or was persistent for a while, gets a new job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArchivalJob {
    group_id: GroupId,
    idle_from: Time,
}

/// The cursor of a job.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArchivalCursor {
    /// The time of archival that members are told of, or have been told of.
    archives_at: Option<Time>,
    /// True while members remain to be told, from `after` on.
    is_telling: bool,
    after: Option<String>,
}

impl GroupArchiver {
    pub const NAME: ProcessorName = ProcessorName::from_static("archival");

    pub fn new(context: Context) -> Self {
        let groups = Groups::new(context.clone());
        Self { groups, notifications: Notifications::new(context.clone()), context }
    }

    /// Tells a page of members; returns the cursor of the next page.
    async fn tell_members(
        &self,
        group: &GroupId,
        archives_at: Time,
        after: Option<&str>,
    ) -> Result<Option<String>> {
        let core = self.context.core();
        let after = after.map(str::parse).transpose()?;
        let page =
            core.members(group).strong().limit(RECIPIENTS_AT_ONCE).after(after).page().await?;
        let active = page.items.into_iter().filter(|it| it.status == MemberStatus::Active);
        let cause = |member: GroupMember| Cause {
            user: member.user_id,
            kind: NotificationKind::GroupArchival,
            actor: None,
            about: CauseObject::Group(member.group_id),
            at: archives_at.minus_ms(ARCHIVAL_NOTICE_MS),
        };
        let causes = active.map(cause).collect();
        notify_each(&self.context, &self.notifications, causes).await?;
        Ok(page.next.map(|next| next.to_string()))
    }

    fn wait_until(&self, at: Time, told: Option<Time>) -> Result<PageOutcome> {
        let cursor = ArchivalCursor { archives_at: told, ..ArchivalCursor::default() };
        let delay = at.ms().saturating_sub(self.context.now().ms());
        Ok(PageOutcome::ContinueLater(cursor.to_text()?, Duration::from_millis(delay)))
    }
}

impl ArchivalCursor {
    fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(ProcessingError::unprocessable)
    }

    fn of(job: &Job) -> Result<Self> {
        let text = job.cursor.as_deref().filter(|text| !text.is_empty());
        let cursor = text.map(serde_json::from_str).transpose();
        Ok(cursor.map_err(ProcessingError::unprocessable)?.unwrap_or_default())
    }
}

#[async_trait]
impl Processor for GroupArchiver {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Group::SHAPE.name] }
    }

    /// The job looks at the group as it is then.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        for change in batch.changes {
            let Images { old, new: Some(group) } = Images::<Group>::of(change)? else { continue };
            let before = old.and_then(|old| old.idle_from);
            let Some(idle_from) = group.idle_from.filter(|since| before != Some(*since)) else {
                continue;
            };
            let due_at = archival_due_at(&self.context, idle_from);
            let (id, payload) = (group.id.recast(), ArchivalJob { group_id: group.id, idle_from });
            let job = new_job(QUEUE, id, due_at, &payload)?;
            effects.write(self.context.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for GroupArchiver {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        GROUPS_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let ArchivalJob { group_id, idle_from } = job.payload.decode()?;
        let cursor = ArchivalCursor::of(job)?;
        if let (true, Some(at)) = (cursor.is_telling, cursor.archives_at) {
            let next = self.tell_members(&group_id, at, cursor.after.as_deref()).await?;
            return match next {
                Some(_) => {
                    let cursor = ArchivalCursor { after: next, ..cursor };
                    Ok(PageOutcome::Continue(cursor.to_text()?))
                }
                None => self.wait_until(at, Some(at)),
            };
        }
        let step = self.groups.archive_if_idle(&group_id, idle_from, cursor.archives_at).await;
        match step.map_err(ProcessingError::from)? {
            ArchivalStep::Over => Ok(PageOutcome::Done),
            ArchivalStep::Wait(at) => self.wait_until(at, cursor.archives_at),
            ArchivalStep::Tell(at) => {
                let cursor =
                    ArchivalCursor { archives_at: Some(at), is_telling: true, after: None };
                Ok(PageOutcome::Continue(cursor.to_text()?))
            }
        }
    }
}
