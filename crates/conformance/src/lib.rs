//! One contract suite, run against every backend.

mod bench;
pub mod history;
mod list;
mod reference;
mod run;
mod suite;

pub use bench::TestBench;
pub use reference::Reference;
pub use run::{Case, KnownDeviation, Setup, report, run};
pub use suite::CASES;
