//! The search for an order, after Wing and Gong, with Lowe's cache of visited configurations.
//!
//! A configuration is the set of calls that have happened and the resulting state. A call may
//! happen next if it started before the end of every call that has not happened yet. The order is
//! found when all answered calls have happened. Two paths to the same configuration have the same
//! future, so each is visited once; without the cache the search is exponential in the length of
//! the history, with it only in the number of concurrent calls.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::call::{Answer, Call};
use super::model::State;

/// The maximum number of calls in a search.
pub const CALLS_MAX: usize = WORDS * 64;

const WORDS: usize = 6;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ordered,
    NoOrder,
    /// There were more calls or configurations than allowed.
    GaveUp,
}

/// Searches for an order of `calls` from an empty table, in up to `configurations_max`
/// configurations.
pub fn search(calls: &[Call], configurations_max: usize) -> Verdict {
    let mut calls: Vec<&Call> = calls.iter().collect();
    calls.sort_by_key(|call| call.asked);
    if calls.len() > CALLS_MAX {
        return Verdict::GaveUp;
    }
    let mut must = CallSet::default();
    for (at, call) in calls.iter().enumerate() {
        if call.answered.is_some() {
            must.insert(at);
        }
    }
    let mut seen = HashSet::new();
    let mut open = vec![Configuration::default()];
    let mut next = Vec::new();
    while let Some(configuration) = open.pop() {
        if configuration.happened.contains_all(&must) {
            return Verdict::Ordered;
        }
        if seen.len() >= configurations_max {
            return Verdict::GaveUp;
        }
        configuration.expand(&calls, &mut next);
        open.extend(next.drain(..).map(|(_, after)| after).filter(|after| seen.insert(*after)));
    }
    Verdict::NoOrder
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Configuration {
    happened: CallSet,
    state: State,
}

impl Configuration {
    /// Adds the possible next configurations with their deadlines; the most urgent last, because
    /// the search takes from the end.
    fn expand(&self, calls: &[&Call], next: &mut Vec<(u64, Self)>) {
        let mut first_answer = u64::MAX;
        for (at, call) in calls.iter().enumerate() {
            if call.asked > first_answer {
                break;
            }
            if self.happened.contains(at) {
                continue;
            }
            let answered = call.answered.unwrap_or(u64::MAX);
            first_answer = first_answer.min(answered);
            let happened = self.happened.with(at);
            let after = self.state.step(call).filter(|state| {
                // An unanswered call need not happen, so it only happens if it changes the state.
                call.answered.is_some() || *state != self.state
            });
            next.extend(after.map(|state| (answered, Self { happened, state })));
            let no_effect = call.answered.is_some() && call.answer == Answer::Unknown;
            if no_effect && after != Some(self.state) {
                next.push((answered, Self { happened, state: self.state }));
            }
        }
        next.sort_by_key(|(answered, _)| Reverse(*answered));
    }
}

/// A set of calls by their index in the history.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct CallSet([u64; WORDS]);

impl CallSet {
    fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn with(mut self, at: usize) -> Self {
        self.insert(at);
        self
    }

    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn contains_all(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| theirs & !mine == 0)
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    use super::super::call::{Action, Edit, Effect, Image, Precondition, Seen};
    use super::*;

    const BUDGET: usize = 10_000;

    fn put(stamp: u64) -> Action {
        Action::Write(Edit { key: 0, precondition: None, effect: Effect::Put(stamp) })
    }

    fn claim(stamp: u64) -> Action {
        let precondition = Some(Precondition::Absent);
        Action::Write(Edit { key: 0, precondition, effect: Effect::Put(stamp) })
    }

    #[expect(clippy::unnecessary_wraps, reason = "reads as what a caller saw")]
    fn image(stamp: u64) -> Seen {
        Some(Image { stamp: Some(stamp), count: None })
    }

    fn call(asked: u64, answered: u64, action: Action, answer: Answer) -> Call {
        Call { task: 0, asked, answered: Some(answered), action, answer }
    }

    fn silent(asked: u64, action: Action) -> Call {
        Call { task: 0, asked, answered: None, action, answer: Answer::Unknown }
    }

    fn saw(asked: u64, answered: u64, seen: Seen) -> Call {
        call(asked, answered, Action::Get(0), Answer::Read(vec![seen]))
    }

    #[test]
    fn overlapping_calls_may_happen_in_either_order() {
        let write = call(1, 6, put(7), Answer::Done(vec![None]));
        assert_eq!(search(&[write.clone(), saw(2, 5, None)], BUDGET), Verdict::Ordered);
        assert_eq!(search(&[write.clone(), saw(2, 5, image(7))], BUDGET), Verdict::Ordered);
        let back_and_forth = [write, saw(2, 3, image(7)), saw(4, 5, None)];
        assert_eq!(search(&back_and_forth, BUDGET), Verdict::NoOrder);
    }

    #[test]
    fn a_read_after_the_answer_sees_the_write() {
        let write = call(1, 2, put(7), Answer::Done(vec![None]));
        assert_eq!(search(&[write, saw(3, 4, None)], BUDGET), Verdict::NoOrder);
    }

    #[test]
    fn only_one_of_two_claims_wins() {
        let both = [
            call(1, 3, claim(7), Answer::Done(vec![None])),
            call(2, 4, claim(8), Answer::Done(vec![None])),
        ];
        assert_eq!(search(&both, BUDGET), Verdict::NoOrder);
        let one = [
            call(1, 3, claim(7), Answer::Refused(vec![Some(image(8))])),
            call(2, 4, claim(8), Answer::Done(vec![None])),
        ];
        assert_eq!(search(&one, BUDGET), Verdict::Ordered);
    }

    #[test]
    fn an_unanswered_write_happens_late_or_never_but_not_twice() {
        let late = [silent(1, put(7)), saw(2, 3, None), saw(4, 5, image(7))];
        assert_eq!(search(&late, BUDGET), Verdict::Ordered);
        let never = [silent(1, put(7)), saw(2, 3, None)];
        assert_eq!(search(&never, BUDGET), Verdict::Ordered);
        let overwritten = call(4, 5, put(8), Answer::Done(vec![image(7)]));
        let twice = [silent(1, put(7)), saw(2, 3, image(7)), overwritten, saw(6, 7, image(7))];
        assert_eq!(search(&twice, BUDGET), Verdict::NoOrder);
        let early = [saw(1, 2, image(7)), silent(3, put(7))];
        assert_eq!(search(&early, BUDGET), Verdict::NoOrder);
    }

    #[test]
    fn an_answered_call_of_forgotten_outcome_happens_in_its_time_or_never() {
        let forgotten = call(1, 3, put(7), Answer::Unknown);
        let seen = [forgotten.clone(), saw(2, 5, image(7))];
        assert_eq!(search(&seen, BUDGET), Verdict::Ordered);
        assert_eq!(search(&[forgotten.clone(), saw(4, 5, None)], BUDGET), Verdict::Ordered);
        let too_late = [forgotten, saw(4, 5, None), saw(6, 7, image(7))];
        assert_eq!(search(&too_late, BUDGET), Verdict::NoOrder);
    }

    #[test]
    fn a_transaction_is_seen_whole() {
        let edit = |key, stamp| Edit { key, precondition: None, effect: Effect::Put(stamp) };
        let both = Action::Transact(vec![edit(0, 7), edit(1, 8)]);
        let write = call(1, 6, both, Answer::Done(Vec::new()));
        let look = |seen| call(2, 5, Action::GetTogether(vec![0, 1]), Answer::Read(seen));
        for whole in [vec![None, None], vec![image(7), image(8)]] {
            assert_eq!(search(&[write.clone(), look(whole)], BUDGET), Verdict::Ordered);
        }
        for half in [vec![None, image(8)], vec![image(7), None]] {
            assert_eq!(search(&[write.clone(), look(half)], BUDGET), Verdict::NoOrder);
        }
    }

    #[test]
    fn too_large_a_search_gives_up() {
        let calls: Vec<Call> =
            (0..8).map(|at| call(at, at + 100, put(at), Answer::Unknown)).collect();
        assert_eq!(search(&calls, 3), Verdict::GaveUp);
        let many = vec![saw(1, 2, None); CALLS_MAX + 1];
        assert_eq!(search(&many, BUDGET), Verdict::GaveUp);
    }

    /// The literal definition: some order of all answered calls and some of the others.
    fn has_order(left: &[&Call], state: State) -> bool {
        if left.iter().all(|call| call.answered.is_none()) {
            return true;
        }
        (0..left.len()).any(|at| {
            let mut rest = left.to_vec();
            let call = rest.remove(at);
            let first = rest.iter().all(|other| other.answered.is_none_or(|end| end > call.asked));
            let effect = state.step(call).is_some_and(|after| has_order(&rest, after));
            let no_effect = || call.answer == Answer::Unknown && has_order(&rest, state);
            first && (effect || no_effect())
        })
    }

    /// Five calls at random times with random answers, some of which are consistent.
    fn random_calls(rng: &mut SmallRng) -> Vec<Call> {
        let mut moments: Vec<u64> = (0..10).collect();
        let mut random_call = |stamp| {
            let mut moment = || moments.swap_remove(rng.random_range(0..moments.len()));
            let (a, b) = (moment(), moment());
            let (asked, answered) = (a.min(b), a.max(b));
            let seen = Some(rng.random_range(0..4)).filter(|stamp| *stamp > 0).and_then(image);
            match rng.random_range(0..10) {
                0..4 => saw(asked, answered, seen),
                4..6 if seen.is_none() => {
                    call(asked, answered, put(stamp), Answer::Done(vec![seen]))
                }
                4..6 => call(asked, answered, claim(stamp), Answer::Refused(vec![Some(seen)])),
                6..8 => call(asked, answered, put(stamp), Answer::Unknown),
                _ => silent(asked, put(stamp)),
            }
        };
        (1..=5).map(&mut random_call).collect()
    }

    #[test]
    fn the_search_agrees_with_the_definition() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut ordered = 0;
        for _ in 0..5_000 {
            let calls = random_calls(&mut rng);
            let expected = has_order(&calls.iter().collect::<Vec<_>>(), State::default());
            let found = search(&calls, BUDGET);
            assert_eq!(found == Verdict::Ordered, expected, "{found:?} {calls:#?}");
            ordered += usize::from(expected);
        }
        assert!((500..4_500).contains(&ordered), "{ordered} of 5000 tell nothing");
    }
}
