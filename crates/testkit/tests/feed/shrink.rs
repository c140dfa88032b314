//! Shrinks a failing history.

use crate::reading::Mismatch;
use crate::step::History;

/// Removes pieces while the history still fails, large ones first; returns the failure of the
/// shortest.
pub(crate) fn shortest(
    history: &History,
    fails: impl Fn(&History) -> Option<Mismatch>,
) -> Option<Mismatch> {
    let mut kept: Vec<usize> = (0..count(history)).collect();
    let (mut last, mut size) = (None, kept.len().div_ceil(2).max(1));
    loop {
        let before = kept.len();
        // From the end: steps after the failure are the easiest to remove.
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

/// The number of pieces of a history.
fn count(History { opening, steps, .. }: &History) -> usize {
    opening.promoted.len() + opening.members.len() + opening.follows.len() + steps.len()
}

/// The history with only these pieces, numbered in order.
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
