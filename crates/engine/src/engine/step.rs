//! Steps of an engine without threads: a simulation decides what runs next.

use super::Engine;
use crate::checkpoint::CheckpointStep;
use crate::request::WriterRequest;
use crate::{checkpoint, upkeep};

/// The work of one of the engine's threads between two waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineStep {
    /// Commits the queued requests as one group.
    Write,
    /// Applies the oldest frozen run to the tree.
    Checkpoint,
    /// Prepares the log's next file, trims old ones, sweeps.
    Upkeep,
    /// Freezes the active run, as after a time without writes.
    Freeze,
}

impl Engine {
    /// Does the step of an engine that was opened with
    /// [`Options::is_stepped`](crate::Options::is_stepped), and returns whether it did something. Errors
    /// stop writes, or the step is to be repeated, as on a thread.
    pub fn step(&self, step: EngineStep) -> bool {
        let shared = &self.0.shared;
        match step {
            EngineStep::Write => self.0.requests.as_ref().is_some_and(|queue| queue.step()),
            EngineStep::Checkpoint => checkpoint::step(shared) == CheckpointStep::Applied,
            EngineStep::Upkeep => upkeep::pass(shared, &self.0.weak_requests()).is_empty(),
            EngineStep::Freeze => {
                let requests = self.0.weak_requests();
                upkeep::send_request(&requests, WriterRequest::Freeze).is_ok()
            }
        }
    }
}
