//! What can happen to quests.

use proptest::collection::vec;
use proptest::prelude::*;

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
    /// A goal is reached, or taken up again.
    Reach(usize, bool),
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

/// Some life.
pub(crate) fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    vec(deed(), 1..30)
}
