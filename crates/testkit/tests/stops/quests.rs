//! What people do with their quests.

use roundtable_domain::{Caller, Code, NewQuest, QuestFilter};
use roundtable_model::{GoalId, QuestId, RequestId, Role, TaskId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// Something of bo's to do it with.
#[derive(Clone)]
pub(crate) struct Challenge {
    goal: GoalId,
    task: TaskId,
    quest: QuestId,
}

impl Challenge {
    pub(crate) async fn set(town: &Town) -> Self {
        let goal = town.open_goal("bo", "bos-goal").await;
        let task = town.open_task("bo", &goal, "bos-task").await;
        town.set_done(&goal, &task, true).await;
        let quest = NewQuest::linked("both", vec![goal.clone()], vec![task.clone()]);
        let quest = town.set_quest("bo", quest).await.id;
        Self { goal, task, quest }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum QuestDeed {
    Create(GoalId, TaskId),
    Cancel(QuestId),
    Delete(QuestId),
}

/// What bo does with them, and ada with one of his.
pub(crate) fn with_quests(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Challenge { goal, task, quest } = stage.challenge.clone();
    let (bo, ada) = (town.caller("bo"), town.staff("ada", Role::Admin));
    vec![
        Deed::Quests(bo.clone(), QuestDeed::Create(goal, task)),
        Deed::Quests(bo, QuestDeed::Cancel(quest.clone())),
        Deed::Quests(ada, QuestDeed::Delete(quest)),
    ]
}

impl QuestDeed {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Create(..) => "quests.create",
            Self::Cancel(_) => "quests.cancel",
            Self::Delete(_) => "quests.delete",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        me: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let quests = town.quests();
        match self {
            Self::Create(goal, task) => {
                let new = NewQuest::linked("again", vec![goal.clone()], vec![task.clone()]);
                told(quests.create(me, &new, request).await)
            }
            Self::Cancel(quest) => told(quests.cancel(me, quest, request).await),
            Self::Delete(quest) => told(quests.delete(me, &town.id("bo"), quest, request).await),
        }
    }

    pub(crate) async fn happened_once(&self, town: &Town, what: &str) {
        let quests = town.quest_titles("bo", &QuestFilter::default()).await;
        let expected: &[&str] = match self {
            Self::Create(..) => &["again", "both"],
            Self::Cancel(_) => &["both"],
            Self::Delete(_) => &[],
        };
        let mut quests = quests;
        quests.sort();
        assert_eq!(quests, expected, "{what}");
    }
}
