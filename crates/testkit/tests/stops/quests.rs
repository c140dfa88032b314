//! Mutations of quests.

use roundtable_domain::{Caller, Code, NewQuest, QuestFilter};
use roundtable_model::{GoalId, QuestId, RequestId, Role, TaskId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

/// Bo's quests.
#[derive(Clone)]
pub(crate) struct QuestFixture {
    goal: GoalId,
    task: TaskId,
    quest: QuestId,
}

impl QuestFixture {
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
pub(crate) enum QuestMutation {
    Create(GoalId, TaskId),
    Cancel(QuestId),
    Delete(QuestId),
}

/// Bo's mutations, and a deletion by ada.
pub(crate) fn quest_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let QuestFixture { goal, task, quest } = stage.challenge.clone();
    let (bo, ada) = (town.caller("bo"), town.staff("ada", Role::Admin));
    vec![
        Mutation::Quests(bo.clone(), QuestMutation::Create(goal, task)),
        Mutation::Quests(bo, QuestMutation::Cancel(quest.clone())),
        Mutation::Quests(ada, QuestMutation::Delete(quest)),
    ]
}

impl QuestMutation {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Create(..) => "quests.create",
            Self::Cancel(_) => "quests.cancel",
            Self::Delete(_) => "quests.delete",
        }
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        me: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let quests = town.quests();
        match self {
            Self::Create(goal, task) => {
                let new = NewQuest::linked("again", vec![goal.clone()], vec![task.clone()]);
                reduce(quests.create(me, &new, request).await)
            }
            Self::Cancel(quest) => reduce(quests.cancel(me, quest, request).await),
            Self::Delete(quest) => reduce(quests.delete(me, &town.id("bo"), quest, request).await),
        }
    }

    pub(crate) async fn assert_happened_once(&self, town: &Town, what: &str) {
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
