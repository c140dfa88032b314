//! How far a check has come, for whoever waits.

use std::fmt;

/// Is told how far a check has come. Called from several threads at once.
pub trait Progress: Send + Sync + fmt::Debug + 'static {
    /// Something else is done now: `total` of it, where that is known.
    fn stage(&self, what: &str, total: Option<u64>);

    /// So many more are done.
    fn advance(&self, count: u64);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) {}
}
