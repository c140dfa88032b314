//! What a goal that was given up leaves behind: its tasks, its milestones, and what was told of it.

use roundtable_model::entities::{Goal, Milestone, Task};
use roundtable_model::table::{Key, Transaction};
use roundtable_model::{Entity, EntityKind, GoalId, ObjectType, SubjectId, Time, UserId};

use super::Purge;
use super::sweep::{PAGE_ITEMS, remove, sweep};
use super::told::remove_told;
use crate::Failure;
use crate::jobs::Next;

/// Goals of one page.
const GOALS_AT_ONCE: usize = 10;

impl Purge {
    /// A page of a goal that was given up. Nothing new comes to it: tasks, milestones and activities are
    /// written on the condition that it is there. The cursor is where the walk through what its
    /// owner has told is, which comes last.
    pub(super) async fn goal_page(
        &self,
        owner: &UserId,
        id: &GoalId,
        since: Time,
        cursor: Option<&str>,
    ) -> Result<Next, Failure> {
        let core = self.ground.core();
        if core.goal(owner, id).get().await?.is_some() {
            return Ok(Next::Done);
        }
        let walked = cursor.filter(|cursor| !cursor.is_empty());
        if walked.is_none() && self.remove_steps(owner, id).await? {
            return Ok(Next::Page(String::new()));
        }
        let about = [(ObjectType::Goal, SubjectId::from(id))];
        remove_told(&self.ground, owner, &about, since, walked).await
    }

    /// Takes away a page of the tasks and milestones of a goal; whether there were any.
    async fn remove_steps(&self, owner: &UserId, id: &GoalId) -> Result<bool, Failure> {
        if sweep(&self.ground, Task::at(id, &id.recast()), &[]).await? {
            return Ok(true);
        }
        let listing = self.ground.core().milestones(owner, id).strong().limit(PAGE_ITEMS);
        let milestones: Vec<Milestone> = listing.page().await?.items;
        let keys: Vec<Key> = milestones.iter().map(|milestone| milestone.key().into()).collect();
        let any = !keys.is_empty();
        remove(&self.ground, keys).await?;
        Ok(any)
    }

    /// Takes away some goals of a deleted account, with their tasks and tags; whether there were any.
    /// What comes to a goal until it goes is left to its own purge.
    pub(super) async fn remove_goals(&self, id: &UserId) -> Result<bool, Failure> {
        let core = self.ground.core();
        let goals = core.goals(id).strong().limit(GOALS_AT_ONCE).page().await?.items;
        for goal in &goals {
            let tasks = core.tasks(&goal.id).strong().limit(PAGE_ITEMS).page().await?.items;
            if tasks.is_empty() {
                self.give_up(goal).await?;
            }
            remove(&self.ground, tasks.iter().map(|task| task.key().into()).collect()).await?;
        }
        Ok(!goals.is_empty())
    }

    /// Takes a goal away as it was read, with the references of its tags.
    async fn give_up(&self, goal: &Goal) -> Result<(), Failure> {
        let core = self.ground.core();
        let (shards, subject) = (self.ground.settings().shards.tags.0, SubjectId::from(&goal.id));
        let tags = core.tag_refs(&goal.tags, shards, &EntityKind::Goal, &subject).get().await?;
        let as_read = goal.key().delete().when(Goal::TAGS.is(&goal.tags));
        let gone = Transaction::new().with(core.table(), as_read);
        let references = tags.into_iter().flatten();
        let gone = references.fold(gone, |gone, tag| gone.with(core.table(), tag.key().delete()));
        self.transact(gone).await
    }
}
