//! The progress of a goal: the share of its tasks that are done.

use blake3::Hasher;
use roundtable_model::{GoalId, Percentage};

use crate::{Context, ServiceError};

const TASKS_PER_PAGE: usize = 500;
/// Tolerance for rounding errors when shares are compared.
const ROUNDING_TOLERANCE: f64 = 1e-9;

/// Counts of a goal's tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskProgress {
    tasks: u32,
    done: u32,
    /// A hash of the task ids and versions.
    fingerprint: [u8; 32],
}

impl TaskProgress {
    /// Counts the tasks page by page; they may change during the reads.
    pub(super) async fn of(context: &Context, goal: &GoalId) -> Result<Self, ServiceError> {
        let (mut tasks, mut done, mut hasher) = (0, 0, Hasher::new());
        let mut after = None;
        loop {
            let listing = context.core().tasks(goal).strong().limit(TASKS_PER_PAGE);
            let page = listing.after(after.take()).page().await?;
            for task in &page.items {
                tasks += 1;
                done += u32::from(task.done);
                hasher.update(task.id.to_string().as_bytes());
                hasher.update(&task.version.to_be_bytes());
            }
            after = page.next;
            if after.is_none() {
                return Ok(Self { tasks, done, fingerprint: *hasher.finalize().as_bytes() });
            }
        }
    }

    /// Returns whether the share of done tasks reaches a percentage. A goal without tasks reaches
    /// nothing.
    pub(super) fn reaches(&self, percentage: Percentage) -> bool {
        let (tasks, done) = (f64::from(self.tasks), f64::from(self.done));
        self.tasks > 0 && done * 100.0 + ROUNDING_TOLERANCE >= percentage.value() * tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(done: u32, tasks: u32, percentage: f64) -> bool {
        let progress = TaskProgress { tasks, done, fingerprint: [0; 32] };
        progress.reaches(Percentage::new(percentage).unwrap())
    }

    #[test]
    fn a_share_is_reached_exactly() {
        assert!(reaches(1, 2, 50.0) && !reaches(1, 2, 50.1));
        assert!(reaches(1, 3, 33.3) && !reaches(1, 3, 33.4));
        assert!(reaches(3, 3, 100.0) && !reaches(2, 3, 100.0));
        // 14.2 is not a binary fraction.
        assert!(reaches(71, 500, 14.2) && !reaches(70, 500, 14.2));
    }

    #[test]
    fn a_goal_without_tasks_reaches_nothing() {
        assert!(!reaches(0, 0, 0.0) && reaches(0, 1, 0.0));
    }
}
