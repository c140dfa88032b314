//! The health of an engine, for operators.

use crate::archive;
use crate::shared::SharedState;

/// The state of an engine that operators must know of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineHealth {
    /// True if ordinary writes are taken.
    pub takes_writes: bool,
    /// Everything that is wrong, with what to do about it.
    pub problems: Vec<String>,
    /// What does not keep the engine from serving, but needs an operator.
    pub warnings: Vec<String>,
    /// Each thread, and whether it is running.
    pub threads: Vec<(&'static str, bool)>,
}

impl EngineHealth {
    pub(crate) fn of(shared: &SharedState) -> Self {
        let (stopped, paused) = (shared.stopped(), shared.pauses.reasons());
        let takes_writes = stopped.is_none() && paused.is_empty();
        let threads = shared.threads.list();
        let stopped =
            stopped.map(|reason| format!("writes have stopped: {reason}: restart this process"));
        // The threads try again; one that has ended does not.
        let has_ended = threads.iter().any(|(_, panic)| panic.is_some());
        let advice = if has_ended { "" } else { "; they resume by themselves" };
        let paused = paused
            .into_iter()
            .map(|reason| format!("writes are refused for now: {reason}{advice}"));
        let ended = threads.iter().filter_map(|(thread, panic)| {
            let (name, text) = (thread.name(), panic.as_ref()?);
            Some(format!("the engine's {name} thread has panicked ({text}): restart this process"))
        });
        let damaged = shared.damage.get().map(|damage| format!("{damage}: restore from a backup"));
        Self {
            takes_writes,
            problems: stopped.into_iter().chain(paused).chain(ended).chain(damaged).collect(),
            warnings: archive::warning(shared).into_iter().collect(),
            threads: threads
                .iter()
                .map(|(thread, panic)| (thread.name(), panic.is_none()))
                .collect(),
        }
    }
}
