//! A naive model of quests, without streams, steps or counters.

use std::collections::BTreeSet;

use crate::steps::{GOALS, QuestDraft, TASKS};

#[derive(Clone, Debug)]
pub(crate) struct Quest {
    pub(crate) draft: QuestDraft,
    pub(crate) created_ms: u64,
    /// True if enough was done at some time while it was active.
    pub(crate) may_be_completed: bool,
    /// Known to have ended, so that nothing counts any more.
    pub(crate) is_over: bool,
}

/// A task: its goal, and the time it was done.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) goal: usize,
    pub(crate) done_ms: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct QuestModel {
    pub(crate) now_ms: u64,
    pub(crate) tasks: Vec<Task>,
    pub(crate) goals: [Option<u64>; GOALS],
    /// Deleted goals.
    pub(crate) gone: [bool; GOALS],
    pub(crate) quests: Vec<Quest>,
}

impl QuestModel {
    pub(crate) fn at(now_ms: u64) -> Self {
        let task = |number| Task { goal: number % GOALS, done_ms: None };
        Self { now_ms, tasks: (0..TASKS).map(task).collect(), ..Self::default() }
    }

    /// The time a task was done, if its goal exists.
    fn done(&self, task: usize) -> Option<u64> {
        let Task { goal, done_ms } = &self.tasks[task];
        done_ms.filter(|_| !self.gone[*goal])
    }

    /// The current progress of a quest, and its target.
    pub(crate) fn counted(&self, quest: &Quest) -> (usize, usize) {
        let QuestDraft { goals, tasks, target, .. } = &quest.draft;
        let goals: BTreeSet<usize> = goals.iter().copied().collect();
        let named: BTreeSet<usize> = tasks.iter().copied().collect();
        let names_any = goals.len() + named.len() > 0;
        let considered = |task: &usize| !names_any || named.contains(task);
        let tasks = (0..self.tasks.len()).filter(considered).filter_map(|task| self.done(task));
        let reached =
            goals.iter().filter_map(|goal| self.goals[*goal].filter(|_| !self.gone[*goal]));
        let target = target.unwrap_or(goals.len() + named.len());
        (tasks.chain(reached).filter(|done| in_time(quest, names_any, *done)).count(), target)
    }

    /// Records which quests a processor running now may complete.
    pub(crate) fn note_progress(&mut self) {
        for at in 0..self.quests.len() {
            let (counted, target) = self.counted(&self.quests[at]);
            let quest = &mut self.quests[at];
            quest.may_be_completed |= !quest.is_over && counted >= target;
        }
    }
}

fn in_time(quest: &Quest, names_any: bool, done_ms: u64) -> bool {
    let Quest { draft, created_ms, .. } = quest;
    let start = draft.start_ms.map(|start| created_ms.saturating_add_signed(start));
    let period = draft.period_seconds.map(|long| start.unwrap_or(*created_ms) + long * 1_000);
    let deadline = draft.deadline_ms.map(|long| created_ms + long);
    let from = start.unwrap_or(if names_any { 0 } else { *created_ms });
    (from..=period.unwrap_or(u64::MAX).min(deadline.unwrap_or(u64::MAX))).contains(&done_ms)
}
