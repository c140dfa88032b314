//! What quests are, read naively: no streams, no steps, no counters.

use std::collections::BTreeSet;

use crate::deeds::{GOALS, TASKS, Wish};

/// A quest and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Quest {
    pub(crate) wish: Wish,
    pub(crate) created_ms: u64,
    /// Whether there was a moment, while it was active, at which enough was done.
    pub(crate) may_be_completed: bool,
    /// Known to be over, so that nothing counts any more.
    pub(crate) is_over: bool,
}

/// A task, by its goal and when it was done.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) goal: usize,
    pub(crate) done_ms: Option<u64>,
}

/// Everything that counts, by when it was done.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) now_ms: u64,
    pub(crate) tasks: Vec<Task>,
    pub(crate) goals: [Option<u64>; GOALS],
    /// The goals that were given up.
    pub(crate) gone: [bool; GOALS],
    pub(crate) quests: Vec<Quest>,
}

impl World {
    /// The world at its beginning.
    pub(crate) fn at(now_ms: u64) -> Self {
        let task = |number| Task { goal: number % GOALS, done_ms: None };
        Self { now_ms, tasks: (0..TASKS).map(task).collect(), ..Self::default() }
    }

    /// When something was done, by somebody whose goal is still there.
    fn done(&self, task: usize) -> Option<u64> {
        let Task { goal, done_ms } = &self.tasks[task];
        done_ms.filter(|_| !self.gone[*goal])
    }

    /// How many things count for a quest now, and how many must.
    pub(crate) fn counted(&self, quest: &Quest) -> (usize, usize) {
        let Wish { goals, tasks, target, .. } = &quest.wish;
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

    /// Somebody may look now: whoever finds enough has a reason to call a quest completed.
    pub(crate) fn look(&mut self) {
        for at in 0..self.quests.len() {
            let (counted, target) = self.counted(&self.quests[at]);
            let quest = &mut self.quests[at];
            quest.may_be_completed |= !quest.is_over && counted >= target;
        }
    }
}

fn in_time(quest: &Quest, names_any: bool, done_ms: u64) -> bool {
    let Quest { wish, created_ms, .. } = quest;
    let start = wish.start_ms.map(|start| created_ms.saturating_add_signed(start));
    let period = wish.period_seconds.map(|long| start.unwrap_or(*created_ms) + long * 1_000);
    let deadline = wish.deadline_ms.map(|long| created_ms + long);
    let from = start.unwrap_or(if names_any { 0 } else { *created_ms });
    (from..=period.unwrap_or(u64::MAX).min(deadline.unwrap_or(u64::MAX))).contains(&done_ms)
}
