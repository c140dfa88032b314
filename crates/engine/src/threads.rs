//! The threads of an engine. A panic of one is reported at once instead of leaving its work undone in silence.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use roundtable_table::{Error, Result};

use crate::shared::SharedState;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EngineThread {
    Writer,
    Checkpoint,
    Upkeep,
}

impl EngineThread {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Writer => "writer",
            Self::Checkpoint => "checkpoint",
            Self::Upkeep => "upkeep",
        }
    }
}

/// The threads that were started, and the panic that ended each.
#[derive(Debug, Default)]
pub(crate) struct ThreadStates(Mutex<BTreeMap<EngineThread, Option<String>>>);

impl ThreadStates {
    pub(crate) fn list(&self) -> BTreeMap<EngineThread, Option<String>> {
        self.0.lock().clone()
    }
}

/// Starts a thread, whose panic is noted and stops writes that need it.
pub(crate) fn start(
    shared: &Arc<SharedState>,
    thread: EngineThread,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>> {
    shared.threads.0.lock().insert(thread, None);
    let state = Arc::clone(shared);
    let supervised = move || {
        let Err(panic) = catch_unwind(AssertUnwindSafe(run)) else { return };
        let (name, text) = (thread.name(), panic_text(&*panic));
        tracing::error!(thread = name, text, "an engine thread panicked: restart this process");
        // Without upkeep, writes go on: nothing is trimmed, archived or swept.
        if thread != EngineThread::Upkeep {
            state.stop(format!("the {name} thread panicked ({text})"));
        }
        state.threads.0.lock().insert(thread, Some(text.to_owned()));
    };
    let named = std::thread::Builder::new().name(format!("roundtable-{}", thread.name()));
    named.spawn(supervised).map_err(|error| Error::Io {
        action: format!("cannot start the {} thread", thread.name()),
        detail: error.to_string(),
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}
