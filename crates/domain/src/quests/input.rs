//! Input for creating quests, and its validation.

use std::collections::BTreeSet;

use roundtable_model::entities::Quest;
use roundtable_model::{
    CountScope, GoalId, InvalidValue, QuestDifficulty, QuestId, QuestKind, QuestStatus, Tag,
    TaskId, Time, UserId,
};
use serde::Serialize;

use crate::ServiceError;
use crate::limits::{
    ABOUT_CHARS_MAX, QUEST_LINKS_MAX, QUEST_PERIOD_SECONDS_MAX, QUEST_TARGET_MAX, TAGS_MAX,
    TITLE_CHARS_MAX, check_count, check_filled, check_text,
};
use crate::settings::QuestSettings;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewQuest {
    pub title: String,
    pub description: Option<String>,
    pub difficulty: QuestDifficulty,
    /// Limited by the difficulty.
    pub reward_xp: u64,
    pub tags: Vec<Tag>,
    pub deadline: Option<Time>,
    /// Linked quests name what must be done; quantitative ones count tasks.
    pub kind: QuestKind,
    pub linked_goal_ids: Vec<GoalId>,
    pub linked_task_ids: Vec<TaskId>,
    pub target_count: Option<u64>,
    /// Any task counts by default; otherwise only linked ones.
    pub count_scope: Option<CountScope>,
    pub start_at: Option<Time>,
    pub period_seconds: Option<u64>,
}

impl NewQuest {
    /// An easy quest for a number of tasks.
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

    /// An easy quest for all of these goals and tasks.
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

    /// Validates the input and removes duplicates.
    pub(super) fn checked(&self, settings: &QuestSettings) -> Result<Self, ServiceError> {
        check_filled("title", &self.title, TITLE_CHARS_MAX)?;
        check_text("description", self.description.as_deref().unwrap_or(""), ABOUT_CHARS_MAX)?;
        check_count("tags", self.tags.len(), TAGS_MAX)?;
        let cap = settings.reward_max(self.difficulty);
        if self.reward_xp > cap {
            let expected = "no more than the difficulty allows";
            let found = format!("{}, maximum {cap}", self.reward_xp);
            return Err(ServiceError::bad_input("rewardXp", InvalidValue::new(expected, found)));
        }
        let new = Self {
            title: self.title.trim().to_owned(),
            tags: each_tag_once(&self.tags),
            linked_goal_ids: each_once(&self.linked_goal_ids),
            linked_task_ids: each_once(&self.linked_task_ids),
            ..self.clone()
        };
        check_count("linkedTaskIds", new.link_count(), QUEST_LINKS_MAX)?;
        match new.kind {
            QuestKind::Linked => new.check_linked()?,
            QuestKind::Quantitative => new.check_quantitative()?,
        }
        Ok(new)
    }

    fn link_count(&self) -> usize {
        self.linked_goal_ids.len() + self.linked_task_ids.len()
    }

    /// A linked quest has no count and no period.
    fn check_linked(&self) -> Result<(), ServiceError> {
        if self.link_count() == 0 {
            let invalid = InvalidValue::new("at least one goal or task", "none");
            return Err(ServiceError::bad_input("linkedTaskIds", invalid));
        }
        let forbidden = [
            ("targetCount", self.target_count.is_some()),
            ("countScope", self.count_scope.is_some()),
            ("startAt", self.start_at.is_some()),
            ("periodSeconds", self.period_seconds.is_some()),
        ];
        refuse_fields(&forbidden, "a linked quest")
    }

    fn check_quantitative(&self) -> Result<(), ServiceError> {
        let target = self.target_count.unwrap_or(0);
        if target == 0 || target > u64::try_from(QUEST_TARGET_MAX).unwrap_or(u64::MAX) {
            let found = self.target_count.map_or_else(|| "none".into(), |count| count.to_string());
            return Err(ServiceError::bad_input(
                "targetCount",
                InvalidValue::new("1 to 80", found),
            ));
        }
        let goals = [("linkedGoalIds", !self.linked_goal_ids.is_empty())];
        refuse_fields(&goals, "a quest that counts tasks")?;
        let tasks = self.linked_task_ids.len();
        match self.count_scope.unwrap_or(CountScope::Any) {
            CountScope::Any => {
                refuse_fields(&[("linkedTaskIds", tasks > 0)], "a quest for any tasks")?;
            }
            CountScope::Linked if u64::try_from(tasks).unwrap_or(u64::MAX) < target => {
                let invalid = InvalidValue::new("at least targetCount tasks", tasks);
                return Err(ServiceError::bad_input("linkedTaskIds", invalid));
            }
            CountScope::Linked => {}
        }
        if let Some(seconds) = self.period_seconds
            && !(1..=QUEST_PERIOD_SECONDS_MAX).contains(&seconds)
        {
            let invalid = InvalidValue::new("a second to ten years", seconds);
            return Err(ServiceError::bad_input("periodSeconds", invalid));
        }
        match (self.start_at, self.deadline) {
            (Some(start), Some(deadline)) if start > deadline => Err(ServiceError::bad_input(
                "startAt",
                InvalidValue::new("a time before the deadline", start),
            )),
            _ => Ok(()),
        }
    }

    /// Builds the quest from validated input.
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
            linked_goal_ids: non_empty(&self.linked_goal_ids),
            linked_task_ids: non_empty(&self.linked_task_ids),
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

/// Refuses fields that this kind of quest does not have.
fn refuse_fields(given: &[(&'static str, bool)], kind: &str) -> Result<(), ServiceError> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => Err(ServiceError::bad_input(
            field,
            InvalidValue::new("nothing", format!("something for {kind}")),
        )),
        None => Ok(()),
    }
}

fn each_once<T: Clone + Ord>(ids: &[T]) -> Vec<T> {
    let mut unique = BTreeSet::new();
    ids.iter().filter(|id| unique.insert(*id)).cloned().collect()
}

/// Equivalent spellings are one tag.
fn each_tag_once(tags: &[Tag]) -> Vec<Tag> {
    let mut distinct: Vec<Tag> = Vec::new();
    for tag in tags {
        if !distinct.iter().any(|other| other.same_as(tag)) {
            distinct.push(tag.clone());
        }
    }
    distinct
}

fn non_empty<T: Clone>(ids: &[T]) -> Option<Vec<T>> {
    (!ids.is_empty()).then(|| ids.to_vec())
}
