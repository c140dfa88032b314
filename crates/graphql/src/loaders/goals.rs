//! Goals, tasks, milestones and quests.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{GoalId, MilestoneId, QuestId, TaskId, UserId, entities};

use super::{Look, found, shared};
use crate::Refused;

/// A goal of somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GoalOf(pub(crate) UserId, pub(crate) GoalId);

impl Loader<GoalOf> for Look {
    type Value = entities::Goal;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[GoalOf]) -> Result<HashMap<GoalOf, entities::Goal>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> = of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let goals = self.services.goals().goals(caller, &places).await;
        Ok(found(of, goals.map_err(shared)?))
    }
}

/// A quest of somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QuestOf(pub(crate) UserId, pub(crate) QuestId);

impl Loader<QuestOf> for Look {
    type Value = entities::Quest;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[QuestOf],
    ) -> Result<HashMap<QuestOf, entities::Quest>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> = of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let quests = self.services.quests().quests(caller, &places).await;
        Ok(found(of, quests.map_err(shared)?))
    }
}

/// A task of a goal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskOf(pub(crate) GoalId, pub(crate) TaskId);

impl Loader<TaskOf> for Look {
    type Value = entities::Task;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[TaskOf]) -> Result<HashMap<TaskOf, entities::Task>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> = of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let tasks = self.services.tasks().tasks(caller, &places).await;
        Ok(found(of, tasks.map_err(shared)?))
    }
}

/// A milestone of somebody's goal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MilestoneOf(pub(crate) UserId, pub(crate) GoalId, pub(crate) MilestoneId);

impl Loader<MilestoneOf> for Look {
    type Value = entities::Milestone;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[MilestoneOf],
    ) -> Result<HashMap<MilestoneOf, entities::Milestone>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> =
            of.iter().map(|of| (of.0.clone(), of.1.clone(), of.2.clone())).collect();
        let milestones = self.services.milestones().milestones(caller, &places).await;
        Ok(found(of, milestones.map_err(shared)?))
    }
}
