//! A failing history without everything that it fails without.

use crate::reading::Mismatch;
use crate::step::History;

/// Leaves out what can be left out, piece by piece, as long as it still fails; how the shortest does.
pub(crate) fn shortest(
    mut history: History,
    fails: impl Fn(&History) -> Option<Mismatch>,
) -> Option<Mismatch> {
    let mut last = None;
    loop {
        let mut shorter = candidates(&history).into_iter().rev();
        let found = shorter.find_map(|history| fails(&history).map(|mismatch| (history, mismatch)));
        let Some((next, mismatch)) = found else { return last };
        (history, last) = (next, Some(mismatch));
    }
}

/// The history without each of its pieces.
fn candidates(history: &History) -> Vec<History> {
    let mut all = Vec::new();
    let mut leave_out = |count: usize, without: fn(&mut History, usize)| {
        for at in 0..count {
            let mut shorter = history.clone();
            without(&mut shorter, at);
            all.push(shorter);
        }
    };
    let opening = &history.opening;
    leave_out(opening.promoted.len(), |it, at| {
        it.opening.promoted.remove(at);
    });
    leave_out(opening.members.len(), |it, at| {
        it.opening.members.remove(at);
    });
    leave_out(opening.follows.len(), |it, at| {
        it.opening.follows.remove(at);
    });
    leave_out(history.steps.len(), |it, at| drop(it.steps.remove(at)));
    all
}
