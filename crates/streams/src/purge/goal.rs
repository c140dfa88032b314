//! Purges a deleted goal: its tasks, its milestones, and the activities about it.

use roundtable_model::entities::{Goal, Milestone};
use roundtable_model::table::{Key, Transaction};
use roundtable_model::{Entity, EntityKind, GoalId, ObjectType, SubjectId, Time, UserId};

use super::Purge;
use super::activities_about::remove_activities_about;
use super::sweep::{PAGE_ITEMS, remove, remove_belongings};
use crate::Result;
use crate::jobs::PageOutcome;

const GOALS_AT_ONCE: usize = 10;

impl Purge {
    /// Purges a page of a deleted goal. Nothing new is added to it: tasks, milestones and
    /// activities are written on the condition that it exists. The cursor is the position of the
    /// scan of its owner's activities, which comes last.
    pub(super) async fn goal_page(
        &self,
        owner: &UserId,
        id: &GoalId,
        since: Time,
        cursor: Option<&str>,
    ) -> Result<PageOutcome> {
        let core = self.context.core();
        if core.goal(owner, id).get().await?.is_some() {
            return Ok(PageOutcome::Done);
        }
        let scan_cursor = cursor.filter(|cursor| !cursor.is_empty());
        if scan_cursor.is_none() && self.remove_tasks_and_milestones(owner, id).await? {
            return Ok(PageOutcome::Continue(String::new()));
        }
        let about = [(ObjectType::Goal, SubjectId::from(id))];
        remove_activities_about(&self.context, owner, &about, since, scan_cursor).await
    }

    /// Removes a page of the tasks and milestones of a goal. Returns whether there were any.
    async fn remove_tasks_and_milestones(&self, owner: &UserId, id: &GoalId) -> Result<bool> {
        if remove_belongings(&self.context, id, &[]).await? {
            return Ok(true);
        }
        let listing = self.context.core().milestones(owner, id).strong().limit(PAGE_ITEMS);
        let milestones: Vec<Milestone> = listing.page().await?.items;
        let keys: Vec<Key> = milestones.iter().map(|milestone| milestone.key().into()).collect();
        let any = !keys.is_empty();
        remove(&self.context, keys).await?;
        Ok(any)
    }

    /// Removes some goals of a deleted account, with their tasks and tags. Returns whether there
    /// were any. Items added to a goal meanwhile are left to its own purge.
    pub(super) async fn remove_goals(&self, id: &UserId) -> Result<bool> {
        let core = self.context.core();
        let goals = core.goals(id).strong().limit(GOALS_AT_ONCE).page().await?.items;
        for goal in &goals {
            if !remove_belongings(&self.context, &goal.id, &[]).await? {
                self.remove_goal(goal).await?;
            }
        }
        Ok(!goals.is_empty())
    }

    /// Removes a goal as it was read, with the references of its tags.
    async fn remove_goal(&self, goal: &Goal) -> Result<()> {
        let core = self.context.core();
        let (shards, subject) = (self.context.settings().shards.tags.0, SubjectId::from(&goal.id));
        let tags = core.tag_refs(&goal.tags, shards, &EntityKind::Goal, &subject).get().await?;
        let as_read = goal.key().delete().when(Goal::TAGS.is(&goal.tags));
        let transaction = Transaction::new().with(core.table(), as_read);
        let references = tags.into_iter().flatten();
        let transaction =
            references.fold(transaction, |all, tag| all.with(core.table(), tag.key().delete()));
        self.transact(transaction).await
    }
}
