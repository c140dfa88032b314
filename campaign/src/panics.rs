//! Records panics of this thread instead of printing them.

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use std::sync::Once;

thread_local! {
    /// The panics of this thread while a log is open; `None` if none is.
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// The panics of this thread since it was started.
#[derive(Debug)]
pub(crate) struct PanicLog(());

impl PanicLog {
    pub(crate) fn start() -> Self {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !record(info) {
                    before(info);
                }
            }));
        });
        PANICS.set(Some(Vec::new()));
        Self(())
    }

    /// Returns the first panic, if there was one.
    #[expect(clippy::unused_self, reason = "panics are recorded only while there is a log")]
    pub(crate) fn first(&self) -> Option<String> {
        PANICS.with_borrow(|panics| panics.as_ref()?.first().cloned())
    }
}

impl Drop for PanicLog {
    fn drop(&mut self) {
        PANICS.set(None);
    }
}

/// Returns whether a log is open on this thread.
fn record(info: &PanicHookInfo<'_>) -> bool {
    PANICS.with_borrow_mut(|panics| {
        let Some(panics) = panics else { return false };
        let place = info.location().map_or_else(String::new, ToString::to_string);
        let message = info.payload_as_str().unwrap_or("no message");
        panics.push(format!("{place}: {message}"));
        true
    })
}
