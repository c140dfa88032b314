//! How far somebody has come with a goal: how many of its tasks are done.

use blake3::Hasher;
use roundtable_model::{GoalId, Percentage};

use crate::{Failure, Ground};

/// Tasks read in one go.
const TASKS_AT_ONCE: usize = 500;
/// Shares are compared as numbers whose last digits are rounded.
const ROUNDED: f64 = 1e-9;

/// The tasks of a goal, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    tasks: u32,
    done: u32,
    /// Which tasks these were, and in which version.
    of: [u8; 32],
}

impl Progress {
    /// Counts the tasks, which may change while they are read.
    pub(super) async fn of(ground: &Ground, goal: &GoalId) -> Result<Self, Failure> {
        let (mut tasks, mut done, mut seen) = (0, 0, Hasher::new());
        let mut after = None;
        loop {
            let listing = ground.core().tasks(goal).strong().limit(TASKS_AT_ONCE);
            let page = listing.after(after.take()).page().await?;
            for task in &page.items {
                tasks += 1;
                done += u32::from(task.done);
                seen.update(task.id.to_string().as_bytes());
                seen.update(&task.version.to_be_bytes());
            }
            after = page.next;
            if after.is_none() {
                return Ok(Self { tasks, done, of: *seen.finalize().as_bytes() });
            }
        }
    }

    /// Whether the share of done tasks reaches a percentage. Where there is nothing to do, nothing is
    /// reached.
    pub(super) fn reaches(&self, percentage: Percentage) -> bool {
        let (tasks, done) = (f64::from(self.tasks), f64::from(self.done));
        self.tasks > 0 && done * 100.0 + ROUNDED >= percentage.value() * tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(done: u32, tasks: u32, percentage: f64) -> bool {
        let progress = Progress { tasks, done, of: [0; 32] };
        progress.reaches(Percentage::new(percentage).unwrap())
    }

    #[test]
    fn a_share_is_reached_when_exactly_so_many_are_done() {
        assert!(reaches(1, 2, 50.0) && !reaches(1, 2, 50.1));
        assert!(reaches(1, 3, 33.3) && !reaches(1, 3, 33.4));
        assert!(reaches(3, 3, 100.0) && !reaches(2, 3, 100.0));
        // 14.2 is no binary fraction.
        assert!(reaches(71, 500, 14.2) && !reaches(70, 500, 14.2));
    }

    #[test]
    fn where_there_is_nothing_to_do_nothing_is_reached() {
        assert!(!reaches(0, 0, 0.0) && reaches(0, 1, 0.0));
    }
}
