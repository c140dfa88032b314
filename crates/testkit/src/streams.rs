//! The stream processors of a town.

use roundtable_streams::{Runner, RunnerBuilder};

use crate::Town;

impl Town {
    /// Runs all processors to the end of the stream, and all jobs that are due. What fails becomes
    /// a dead letter.
    pub async fn settle(&self) {
        self.runner().drain().await.unwrap();
    }

    /// Creates a runner, for its metrics and dead letters. Runners share only what is stored.
    pub fn runner(&self) -> Runner {
        RunnerBuilder::with_all_processors_undelayed(self.context())
            .with_media_store(self.media_store().clone())
            .build()
    }
}
