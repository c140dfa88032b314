//! The steps of a quest history.

use proptest::collection::vec;
use proptest::prelude::*;
use roundtable_domain::limits::QUEST_TARGET_MAX;

/// Numbers of goals and tasks; the tasks belong to the goals in turn.
pub(crate) const GOALS: usize = 2;
pub(crate) const TASKS: usize = 5;

#[derive(Clone, Debug)]
pub(crate) struct QuestDraft {
    /// The linked goals and tasks.
    pub(crate) goals: Vec<usize>,
    pub(crate) tasks: Vec<usize>,
    /// The target; `None` for all linked ones.
    pub(crate) target: Option<usize>,
    /// The start of counting, relative to its creation.
    pub(crate) start_ms: Option<i64>,
    pub(crate) period_seconds: Option<u64>,
    /// The deadline, relative to its creation.
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) reward_xp: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum QuestStep {
    Do(usize, bool),
    Remove(usize),
    /// Adds many done tasks to a goal.
    Many(usize, usize),
    Reach(usize, bool),
    GiveUp(usize),
    Set(QuestDraft),
    Cancel(usize),
    Delete(usize),
    Pass(u64),
    /// A process reads the stream and dies after this many await points.
    Crash(usize),
    /// Two processes read the stream while another step runs.
    While(Box<QuestStep>),
    /// Reads the stream to its end and compares everything.
    Settle,
}

fn draft() -> impl Strategy<Value = QuestDraft> {
    let named = (vec(0..GOALS, 0..=GOALS), vec(0..TASKS, 0..=3));
    let time = (
        proptest::option::weighted(0.3, -4_000_i64..4_000),
        proptest::option::weighted(0.3, 1_u64..6),
        proptest::option::weighted(0.4, 500_u64..8_000),
    );
    (0..3_u8, named, 1..4_usize, time, 1..50_u64).prop_map(
        |(kind, (goals, tasks), target, (start_ms, period_seconds, deadline_ms), reward_xp)| {
            let draft = QuestDraft {
                goals: Vec::new(),
                tasks: Vec::new(),
                target: Some(target),
                start_ms: start_ms
                    .filter(|start| deadline_ms.is_none_or(|end| *start <= end.cast_signed())),
                period_seconds,
                deadline_ms,
                reward_xp,
            };
            let nothing = goals.is_empty() && tasks.is_empty();
            match kind {
                0 if !nothing => QuestDraft {
                    goals,
                    tasks,
                    target: None,
                    start_ms: None,
                    period_seconds: None,
                    ..draft
                },
                1 => {
                    let tasks: Vec<usize> = (0..=target).collect();
                    QuestDraft { tasks, ..draft }
                }
                _ => draft,
            }
        },
    )
}

fn step() -> impl Strategy<Value = QuestStep> {
    let by_people = prop_oneof![
        10 => (0..TASKS, any::<bool>()).prop_map(|(task, done)| QuestStep::Do(task, done)),
        1 => (0..TASKS).prop_map(QuestStep::Remove),
        3 => (0..GOALS, any::<bool>()).prop_map(|(goal, done)| QuestStep::Reach(goal, done)),
        1 => (0..GOALS).prop_map(QuestStep::GiveUp),
        6 => draft().prop_map(QuestStep::Set),
        1 => (0..8_usize).prop_map(QuestStep::Cancel),
        1 => (0..8_usize).prop_map(QuestStep::Delete),
    ];
    prop_oneof![
        8 => by_people.clone(),
        2 => by_people.prop_map(|step| QuestStep::While(Box::new(step))),
        2 => (1..3_000_u64).prop_map(QuestStep::Pass),
        2 => (0..120_usize).prop_map(QuestStep::Crash),
        2 => Just(QuestStep::Settle),
    ]
}

/// A quest with a target near the maximum, counting from before its creation.
fn large_draft() -> impl Strategy<Value = QuestDraft> {
    let target = prop_oneof![Just(QUEST_TARGET_MAX), QUEST_TARGET_MAX / 2..=QUEST_TARGET_MAX];
    let start_ms = proptest::option::weighted(0.7, -9_000_i64..0);
    (target, start_ms, 1..50_u64).prop_map(|(target, start_ms, reward_xp)| QuestDraft {
        goals: Vec::new(),
        tasks: Vec::new(),
        target: Some(target),
        start_ms,
        period_seconds: None,
        deadline_ms: None,
        reward_xp,
    })
}

/// A history with more tasks than are read in one page.
pub(crate) fn many_steps() -> impl Strategy<Value = Vec<QuestStep>> {
    let by_people = prop_oneof![
        4 => (0..GOALS, 20..260_usize).prop_map(|(goal, many)| QuestStep::Many(goal, many)),
        6 => (0..TASKS * 20, any::<bool>()).prop_map(|(task, done)| QuestStep::Do(task, done)),
        2 => (0..TASKS * 20).prop_map(QuestStep::Remove),
        1 => (0..GOALS).prop_map(QuestStep::GiveUp),
        4 => large_draft().prop_map(QuestStep::Set),
    ];
    let step = prop_oneof![
        8 => by_people.clone(),
        2 => by_people.prop_map(|step| QuestStep::While(Box::new(step))),
        1 => (1..3_000_u64).prop_map(QuestStep::Pass),
        1 => (0..400_usize).prop_map(QuestStep::Crash),
        1 => Just(QuestStep::Settle),
    ];
    vec(step, 6..16)
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<QuestStep>> {
    vec(step(), 1..30)
}
