//! Loads goals, tasks, milestones and quests.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{GoalId, MilestoneId, QuestId, TaskId, UserId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GoalKey(pub(crate) UserId, pub(crate) GoalId);

impl Loader<GoalKey> for ViewerLoader {
    type Value = entities::Goal;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[GoalKey],
    ) -> Result<HashMap<GoalKey, entities::Goal>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> = keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let goals = self.services.goals().goals(caller, &ids).await;
        Ok(by_key(keys, goals.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QuestKey(pub(crate) UserId, pub(crate) QuestId);

impl Loader<QuestKey> for ViewerLoader {
    type Value = entities::Quest;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[QuestKey],
    ) -> Result<HashMap<QuestKey, entities::Quest>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> = keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let quests = self.services.quests().quests(caller, &ids).await;
        Ok(by_key(keys, quests.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TaskKey(pub(crate) GoalId, pub(crate) TaskId);

impl Loader<TaskKey> for ViewerLoader {
    type Value = entities::Task;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[TaskKey],
    ) -> Result<HashMap<TaskKey, entities::Task>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> = keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let tasks = self.services.tasks().tasks(caller, &ids).await;
        Ok(by_key(keys, tasks.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MilestoneKey(pub(crate) UserId, pub(crate) GoalId, pub(crate) MilestoneId);

impl Loader<MilestoneKey> for ViewerLoader {
    type Value = entities::Milestone;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[MilestoneKey],
    ) -> Result<HashMap<MilestoneKey, entities::Milestone>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<_> =
            keys.iter().map(|key| (key.0.clone(), key.1.clone(), key.2.clone())).collect();
        let milestones = self.services.milestones().milestones(caller, &ids).await;
        Ok(by_key(keys, milestones.map_err(batch_error)?))
    }
}
