//! Goals, tasks and quests.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use futures::future::try_join_all;
use roundtable_model::{GoalId, QuestId, TaskId, UserId, entities};

use super::{Look, found, shared};
use crate::Refused;
use crate::refusal::if_seen;

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

/// Tasks by their ids alone: only an index knows them so, and an index has no batches.
impl Loader<TaskId> for Look {
    type Value = entities::Task;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[TaskId]) -> Result<HashMap<TaskId, entities::Task>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let tasks = self.services.tasks();
        let each = ids
            .iter()
            .map(async |id| if_seen(tasks.by_id(caller, id).await.map_err(Refused::from)));
        Ok(found(ids, try_join_all(each).await.map_err(Arc::new)?))
    }
}
