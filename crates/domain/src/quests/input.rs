//! What a quest is made from, and what makes no sense in it.

use std::collections::BTreeSet;

use roundtable_model::entities::Quest;
use roundtable_model::{
    CountScope, GoalId, Misfit, QuestDifficulty, QuestId, QuestKind, QuestStatus, Tag, TaskId,
    Time, UserId,
};
use serde::Serialize;

use crate::Failure;
use crate::limits::{
    ABOUT_CHARS_MAX, QUEST_LINKS_MAX, QUEST_PERIOD_SECONDS_MAX, QUEST_TARGET_MAX, TAGS_MAX,
    TITLE_CHARS_MAX, check_count, check_filled, check_text,
};
use crate::settings::QuestSettings;

/// A quest to be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewQuest {
    /// What is to be achieved.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
    /// How hard it is.
    pub difficulty: QuestDifficulty,
    /// What completing it earns; the difficulty caps it.
    pub reward_xp: u64,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// When it is over.
    pub deadline: Option<Time>,
    /// Whether it names what must be done, or how many.
    pub kind: QuestKind,
    /// The goals it names.
    pub linked_goal_ids: Vec<GoalId>,
    /// The tasks it names.
    pub linked_task_ids: Vec<TaskId>,
    /// How many tasks must be done.
    pub target_count: Option<u64>,
    /// Whether any task counts, or only those it names; any, if it does not say.
    pub count_scope: Option<CountScope>,
    /// From when tasks count.
    pub start_at: Option<Time>,
    /// For how long after that they do.
    pub period_seconds: Option<u64>,
}

impl NewQuest {
    /// An easy quest for so many tasks, whichever they are.
    pub fn tasks(title: impl Into<String>, target_count: u64) -> Self {
        Self {
            title: title.into(),
            description: None,
            difficulty: QuestDifficulty::Easy,
            reward_xp: 10,
            tags: Vec::new(),
            deadline: None,
            kind: QuestKind::Quantitative,
            linked_goal_ids: Vec::new(),
            linked_task_ids: Vec::new(),
            target_count: Some(target_count),
            count_scope: Some(CountScope::Any),
            start_at: None,
            period_seconds: None,
        }
    }

    /// An easy quest for these goals and tasks, all of them.
    pub fn linked(title: impl Into<String>, goals: Vec<GoalId>, tasks: Vec<TaskId>) -> Self {
        Self {
            kind: QuestKind::Linked,
            linked_goal_ids: goals,
            linked_task_ids: tasks,
            target_count: None,
            count_scope: None,
            ..Self::tasks(title, 0)
        }
    }

    /// The same, with each link once, if it makes sense.
    pub(super) fn checked(&self, settings: &QuestSettings) -> Result<Self, Failure> {
        check_filled("title", &self.title, TITLE_CHARS_MAX)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        check_count("tags", self.tags.len(), TAGS_MAX)?;
        let cap = settings.reward_max(self.difficulty);
        if self.reward_xp > cap {
            let expected = "no more than the difficulty allows";
            let found = format!("{}, and {cap} is the most", self.reward_xp);
            return Err(Failure::bad("rewardXp", Misfit::new(expected, found)));
        }
        let new = Self {
            title: self.title.trim().to_owned(),
            tags: each_tag_once(&self.tags),
            linked_goal_ids: each_once(&self.linked_goal_ids),
            linked_task_ids: each_once(&self.linked_task_ids),
            ..self.clone()
        };
        check_count("linkedTaskIds", new.links(), QUEST_LINKS_MAX)?;
        match new.kind {
            QuestKind::Linked => new.check_linked()?,
            QuestKind::Quantitative => new.check_quantitative()?,
        }
        Ok(new)
    }

    fn links(&self) -> usize {
        self.linked_goal_ids.len() + self.linked_task_ids.len()
    }

    /// It names what must be done: nothing is to be said about how many, or when.
    fn check_linked(&self) -> Result<(), Failure> {
        if self.links() == 0 {
            let misfit = Misfit::new("at least one goal or task", "none");
            return Err(Failure::bad("linkedTaskIds", misfit));
        }
        let besides = [
            ("targetCount", self.target_count.is_some()),
            ("countScope", self.count_scope.is_some()),
            ("startAt", self.start_at.is_some()),
            ("periodSeconds", self.period_seconds.is_some()),
        ];
        nothing_of(&besides, "a linked quest")
    }

    fn check_quantitative(&self) -> Result<(), Failure> {
        let target = self.target_count.unwrap_or(0);
        if target == 0 || target > u64::try_from(QUEST_TARGET_MAX).unwrap_or(u64::MAX) {
            let found = self.target_count.map_or_else(|| "none".into(), |count| count.to_string());
            return Err(Failure::bad("targetCount", Misfit::new("1 to 80", found)));
        }
        let goals = [("linkedGoalIds", !self.linked_goal_ids.is_empty())];
        nothing_of(&goals, "a quest that counts tasks")?;
        let tasks = self.linked_task_ids.len();
        match self.count_scope.unwrap_or(CountScope::Any) {
            CountScope::Any => {
                nothing_of(&[("linkedTaskIds", tasks > 0)], "a quest for any tasks")?;
            }
            CountScope::Linked if u64::try_from(tasks).unwrap_or(u64::MAX) < target => {
                let misfit = Misfit::new("as many tasks as are to be done", tasks);
                return Err(Failure::bad("linkedTaskIds", misfit));
            }
            CountScope::Linked => {}
        }
        if let Some(seconds) = self.period_seconds
            && !(1..=QUEST_PERIOD_SECONDS_MAX).contains(&seconds)
        {
            let misfit = Misfit::new("a second to ten years", seconds);
            return Err(Failure::bad("periodSeconds", misfit));
        }
        match (self.start_at, self.deadline) {
            (Some(start), Some(deadline)) if start > deadline => {
                Err(Failure::bad("startAt", Misfit::new("a time before the deadline", start)))
            }
            _ => Ok(()),
        }
    }

    /// The quest, once it was checked.
    pub(super) fn quest(&self, user: &UserId, id: QuestId, now: Time) -> Quest {
        let counts = self.kind == QuestKind::Quantitative;
        let scope = self.count_scope.unwrap_or(CountScope::Any);
        Quest {
            user_id: user.clone(),
            id,
            title: self.title.clone(),
            description: self.description.clone(),
            difficulty: self.difficulty,
            reward_xp: self.reward_xp,
            status: QuestStatus::Active,
            tags: self.tags.clone(),
            deadline: self.deadline,
            kind: self.kind,
            linked_goal_ids: some(&self.linked_goal_ids),
            linked_task_ids: some(&self.linked_task_ids),
            target_count: self.target_count,
            count_scope: counts.then_some(scope),
            start_at: self.start_at,
            period_seconds: self.period_seconds,
            progress_count: 0,
            cancel_reason: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Refuses what has no meaning in this kind of quest.
fn nothing_of(given: &[(&'static str, bool)], kind: &str) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => {
            Err(Failure::bad(field, Misfit::new("nothing", format!("something for {kind}"))))
        }
        None => Ok(()),
    }
}

fn each_once<T: Clone + Ord>(ids: &[T]) -> Vec<T> {
    let mut seen = BTreeSet::new();
    ids.iter().filter(|id| seen.insert(*id)).cloned().collect()
}

/// Tags that differ only in how they are written are one.
fn each_tag_once(tags: &[Tag]) -> Vec<Tag> {
    let mut kept: Vec<Tag> = Vec::new();
    for tag in tags {
        if !kept.iter().any(|other| other.same_as(tag)) {
            kept.push(tag.clone());
        }
    }
    kept
}

fn some<T: Clone>(ids: &[T]) -> Option<Vec<T>> {
    (!ids.is_empty()).then(|| ids.to_vec())
}
