//! What can happen to quests.

use proptest::collection::vec;
use proptest::prelude::*;
use roundtable_domain::limits::QUEST_TARGET_MAX;

/// How many goals and tasks there are; the tasks belong to the goals in turn.
pub(crate) const GOALS: usize = 2;
pub(crate) const TASKS: usize = 5;

/// A quest to be set.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// Which goals and tasks it names.
    pub(crate) goals: Vec<usize>,
    pub(crate) tasks: Vec<usize>,
    /// How many tasks; `None` for all that it names.
    pub(crate) target: Option<usize>,
    /// How long before or after its creation tasks begin to count.
    pub(crate) start_ms: Option<i64>,
    pub(crate) period_seconds: Option<u64>,
    /// How long after its creation it is over.
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) reward_xp: u64,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// A task is done or un-done.
    Do(usize, bool),
    /// A task is taken away for good.
    Remove(usize),
    /// Many tasks are added to a goal, done already.
    Many(usize, usize),
    /// A goal is reached, or taken up again.
    Reach(usize, bool),
    /// A goal is given up, with its tasks.
    GiveUp(usize),
    Set(Wish),
    Cancel(usize),
    Delete(usize),
    Pass(u64),
    /// The stream is read by a process that dies after so many steps.
    Crash(usize),
    /// The stream is read by two processes while something happens.
    While(Box<Deed>),
    /// The stream is read to its end, and everything compared.
    Settle,
}

fn wish() -> impl Strategy<Value = Wish> {
    let named = (vec(0..GOALS, 0..=GOALS), vec(0..TASKS, 0..=3));
    let time = (
        proptest::option::weighted(0.3, -4_000_i64..4_000),
        proptest::option::weighted(0.3, 1_u64..6),
        proptest::option::weighted(0.4, 500_u64..8_000),
    );
    (0..3_u8, named, 1..4_usize, time, 1..50_u64).prop_map(
        |(kind, (goals, tasks), target, (start_ms, period_seconds, deadline_ms), reward_xp)| {
            let wish = Wish {
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
                0 if !nothing => Wish {
                    goals,
                    tasks,
                    target: None,
                    start_ms: None,
                    period_seconds: None,
                    ..wish
                },
                1 => {
                    let tasks: Vec<usize> = (0..=target).collect();
                    Wish { tasks, ..wish }
                }
                _ => wish,
            }
        },
    )
}

fn deed() -> impl Strategy<Value = Deed> {
    let by_people = prop_oneof![
        10 => (0..TASKS, any::<bool>()).prop_map(|(task, done)| Deed::Do(task, done)),
        1 => (0..TASKS).prop_map(Deed::Remove),
        3 => (0..GOALS, any::<bool>()).prop_map(|(goal, done)| Deed::Reach(goal, done)),
        1 => (0..GOALS).prop_map(Deed::GiveUp),
        6 => wish().prop_map(Deed::Set),
        1 => (0..8_usize).prop_map(Deed::Cancel),
        1 => (0..8_usize).prop_map(Deed::Delete),
    ];
    prop_oneof![
        8 => by_people.clone(),
        2 => by_people.prop_map(|deed| Deed::While(Box::new(deed))),
        2 => (1..3_000_u64).prop_map(Deed::Pass),
        2 => (0..120_usize).prop_map(Deed::Crash),
        2 => Just(Deed::Settle),
    ]
}

/// A quest for as many tasks as one can ask for, or a few less, from before it was made on.
fn large_wish() -> impl Strategy<Value = Wish> {
    let target = prop_oneof![Just(QUEST_TARGET_MAX), QUEST_TARGET_MAX / 2..=QUEST_TARGET_MAX];
    let start_ms = proptest::option::weighted(0.7, -9_000_i64..0);
    (target, start_ms, 1..50_u64).prop_map(|(target, start_ms, reward_xp)| Wish {
        goals: Vec::new(),
        tasks: Vec::new(),
        target: Some(target),
        start_ms,
        period_seconds: None,
        deadline_ms: None,
        reward_xp,
    })
}

/// The life of somebody who does a lot: more tasks than are read in one go.
pub(crate) fn many_deeds() -> impl Strategy<Value = Vec<Deed>> {
    let by_people = prop_oneof![
        4 => (0..GOALS, 20..260_usize).prop_map(|(goal, many)| Deed::Many(goal, many)),
        6 => (0..TASKS * 20, any::<bool>()).prop_map(|(task, done)| Deed::Do(task, done)),
        2 => (0..TASKS * 20).prop_map(Deed::Remove),
        1 => (0..GOALS).prop_map(Deed::GiveUp),
        4 => large_wish().prop_map(Deed::Set),
    ];
    let deed = prop_oneof![
        8 => by_people.clone(),
        2 => by_people.prop_map(|deed| Deed::While(Box::new(deed))),
        1 => (1..3_000_u64).prop_map(Deed::Pass),
        1 => (0..400_usize).prop_map(Deed::Crash),
        1 => Just(Deed::Settle),
    ];
    vec(deed, 6..16)
}

/// Some life.
pub(crate) fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    vec(deed(), 1..30)
}
