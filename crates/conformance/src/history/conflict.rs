//! Reduces a history without an order to the few calls that contradict each other.
//!
//! In two steps. First the history is cut at the earliest answer that no order explains. Then the
//! outcomes of one group of calls after the other are made unknown; if there is still no order,
//! those answers did not matter. The calls whose answers are still needed contradict each other.

use std::fmt;

use super::call::{Action, Answer, Call};
use super::model::KEYS_MAX;
use super::search::{Verdict, search};

/// The configuration limit of the search in a whole history; ordinary ones need a few hundred.
const CONFIGURATIONS_MAX: usize = 400_000;

/// The configuration limit of one reduction step. Unknown outcomes multiply states; a step that
/// exceeds the limit is skipped, which makes the report a little longer.
const NARROWING_CONFIGURATIONS_MAX: usize = 4_000;

/// The reason why a history has no order.
#[derive(Clone, Debug)]
pub enum Conflict {
    /// The answers of some calls contradict each other.
    NoOrder {
        /// These calls, by start time.
        core: Vec<Call>,
        /// Concurrent writes of the same keys.
        around: Vec<Call>,
    },
    /// The search was too large; record shorter histories.
    GaveUp { calls: usize },
}

/// Finds an order of `calls`, or the calls that contradict each other.
pub fn explain(calls: &[Call]) -> Result<(), Conflict> {
    for part in independent(calls) {
        match search(&part, CONFIGURATIONS_MAX) {
            Verdict::Ordered => {}
            Verdict::NoOrder => return Err(narrow(&part)),
            Verdict::GaveUp => return Err(Conflict::GaveUp { calls: part.len() }),
        }
    }
    Ok(())
}

/// Calls that touch one key each can be ordered key by key: linearizability is local. A call that
/// touches several keys ties all of them together.
fn independent(calls: &[Call]) -> Vec<Vec<Call>> {
    if calls.iter().any(|call| call.action.keys().nth(1).is_some()) {
        return vec![calls.to_vec()];
    }
    let of_key = |key| calls.iter().filter(move |call| touches(call, key)).cloned().collect();
    (0..KEYS_MAX).map(of_key).collect()
}

fn touches(call: &Call, key: usize) -> bool {
    call.action.keys().any(|touched| touched == key)
}

fn narrow(history: &[Call]) -> Conflict {
    let calls = first_conflict(history);
    let still = |forgotten: &[bool]| {
        search(&weaken(&calls, forgotten), NARROWING_CONFIGURATIONS_MAX) == Verdict::NoOrder
    };
    // A call without an answer has nothing to forget.
    let mut forgotten: Vec<bool> = calls.iter().map(|call| call.answered.is_none()).collect();
    let mut forget = |group: &dyn Fn(usize, &Call) -> bool| {
        let tried: Vec<bool> = calls
            .iter()
            .zip(&forgotten)
            .enumerate()
            .map(|(at, (call, already))| *already || group(at, call))
            .collect();
        if tried != forgotten && still(&tried) {
            forgotten = tried;
        }
    };
    for key in 0..KEYS_MAX {
        forget(&|_, call| call.action.keys().all(|touched| touched == key));
    }
    let mut size = calls.len().next_power_of_two() / 2;
    while size > 0 {
        for start in (0..calls.len()).step_by(size) {
            forget(&|at, _| (start..start + size).contains(&at));
        }
        size /= 2;
    }
    let core: Vec<Call> =
        calls.iter().zip(&forgotten).filter(|(_, gone)| !**gone).map(|(c, _)| c.clone()).collect();
    let around = surroundings(history, &core);
    Conflict::NoOrder { core, around }
}

/// The history up to the earliest answer that has no explanation: what holds of a history holds of
/// every beginning of it, so the place can be found by halving.
fn first_conflict(calls: &[Call]) -> Vec<Call> {
    let mut answers: Vec<u64> = calls.iter().filter_map(|call| call.answered).collect();
    answers.sort_unstable();
    let explained = |end: &u64| search(&cut(calls, *end), CONFIGURATIONS_MAX) != Verdict::NoOrder;
    let at = answers.partition_point(explained);
    answers.get(at).map_or_else(|| calls.to_vec(), |end| cut(calls, *end))
}

/// The calls as known at the time `end`.
fn cut(calls: &[Call], end: u64) -> Vec<Call> {
    let asked = calls.iter().filter(|call| call.asked < end);
    asked
        .map(|call| match call.answered {
            Some(answered) if answered <= end => call.clone(),
            _ => Call { answered: None, answer: Answer::Unknown, ..call.clone() },
        })
        .collect()
}

/// The calls with some outcomes made unknown, without those that then affect no answer.
fn weaken(calls: &[Call], forgotten: &[bool]) -> Vec<Call> {
    let known = calls.iter().zip(forgotten).filter(|(_, gone)| !**gone).map(|(call, _)| call);
    let shown: Vec<usize> = known.flat_map(|call| call.action.keys()).collect();
    let weakened = calls.iter().zip(forgotten).filter_map(|(call, gone)| {
        if !gone {
            return Some(call.clone());
        }
        let edits = call.action.edits().iter().filter(|edit| shown.contains(&edit.key));
        let action = Action::Transact(edits.copied().collect());
        let matters = !action.edits().is_empty();
        matters.then(|| Call { action, answer: Answer::Unknown, ..call.clone() })
    });
    weakened.collect()
}

/// Concurrent writes of the core's keys, apart from the core itself.
fn surroundings(calls: &[Call], core: &[Call]) -> Vec<Call> {
    let from = core.iter().map(|call| call.asked).min().unwrap_or(0);
    let to = core.iter().filter_map(|call| call.answered).max().unwrap_or(u64::MAX);
    let keys: Vec<usize> = core.iter().flat_map(|call| call.action.keys()).collect();
    let near = |call: &&Call| {
        let under_way = call.asked <= to && call.answered.is_none_or(|answered| answered >= from);
        let same_key = call.action.edits().iter().any(|edit| keys.contains(&edit.key));
        under_way && same_key && !core.contains(call)
    };
    calls.iter().filter(near).cloned().collect()
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp { calls } => {
                write!(f, "the search over {calls} calls was too large; record shorter histories")
            }
            Self::NoOrder { core, around } => {
                writeln!(f, "no order explains the answers marked *:")?;
                let mut lines: Vec<(&Call, char)> = core.iter().map(|call| (call, '*')).collect();
                lines.extend(around.iter().map(|call| (call, ' ')));
                lines.sort_by_key(|(call, _)| call.asked);
                lines.into_iter().try_for_each(|(call, mark)| writeln!(f, "  {mark} {call}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::{Edit, Effect, Image};
    use super::*;

    #[test]
    fn a_lost_write_is_explained_in_two_lines() {
        let put = |key, stamp| {
            Action::Write(Edit { key, precondition: None, effect: Effect::Put(stamp) })
        };
        let image = |stamp| Some(Image { stamp: Some(stamp), count: None });
        let plan = [
            (put(0, 1), Answer::Done(vec![None])),
            (put(1, 2), Answer::Done(vec![None])),
            (Action::Get(0), Answer::Read(vec![image(1)])),
            (put(0, 3), Answer::Done(vec![image(1)])),
            (Action::Get(1), Answer::Read(vec![image(2)])),
            (Action::Get(0), Answer::Read(vec![image(1)])),
            (Action::Get(0), Answer::Read(vec![image(1)])),
        ];
        let calls: Vec<Call> = plan
            .into_iter()
            .zip(0..)
            .map(|((action, answer), at)| {
                let (asked, answered) = (10 * at, Some(10 * at + 5));
                Call { task: 0, asked, answered, action, answer }
            })
            .collect();
        let explanation = explain(&calls).unwrap_err().to_string();
        let expected = [
            "no order explains the answers marked *:",
            "  *    30 to 35    task 0: put k0 #3 -> done, was #1",
            "  *    50 to 55    task 0: get k0 -> saw #1",
            "",
        ];
        assert_eq!(explanation, expected.join("\n"));
    }
}
