//! A failing history without everything that it fails without.

use crate::reading::Mismatch;
use crate::step::History;

/// Leaves out what can be left out, large pieces first, as long as it still fails; how the shortest
/// does.
pub(crate) fn shortest(
    history: &History,
    fails: impl Fn(&History) -> Option<Mismatch>,
) -> Option<Mismatch> {
    let mut kept: Vec<usize> = (0..count(history)).collect();
    let (mut last, mut size) = (None, kept.len().div_ceil(2).max(1));
    loop {
        let before = kept.len();
        // From the end: what happens after the failure is the easiest to do without.
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            let mut fewer = kept.clone();
            fewer.drain(start..end);
            if let Some(mismatch) = fails(&only(history, &fewer)) {
                (kept, last) = (fewer, Some(mismatch));
            }
            end = start;
        }
        if size == 1 && kept.len() == before {
            return last;
        }
        size = size.div_ceil(2).max(1);
    }
}

/// Of how many pieces a history is.
fn count(History { opening, steps, .. }: &History) -> usize {
    opening.promoted.len() + opening.members.len() + opening.follows.len() + steps.len()
}

/// The history with these pieces only, numbered in the order in which they happen.
fn only(history: &History, kept: &[usize]) -> History {
    let mut number = 0;
    let mut is_kept = || {
        number += 1;
        kept.binary_search(&(number - 1)).is_ok()
    };
    let mut less = history.clone();
    less.opening.follows.retain(|_| is_kept());
    less.opening.members.retain(|_| is_kept());
    less.opening.promoted.retain(|_| is_kept());
    less.steps.retain(|_| is_kept());
    less
}
