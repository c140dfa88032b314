//! One contract suite, run against every backend.

mod bench;
pub mod history;
mod list;
mod reference;
mod run;
mod suite;

pub use bench::Bench;
pub use reference::Reference;
pub use run::{Case, Departure, Setup, report, run};
pub use suite::CASES;
