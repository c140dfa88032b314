//! `roundtable table lint`: the weak points of the design.

use std::io::Write;

use clap::Args;
use roundtable_model::derived::lint;
use roundtable_model::{SCHEMA, samples};

use crate::Outcome;
use crate::failure::Failure;

/// What to show.
#[derive(Args, Debug)]
#[command(after_help = "\
What it looks for:
  hot                 writes of many meet in one partition; tells the rate at which it needs shards
  unbounded           a partition gathers items for ever, and some have no ttl
  filter-after-limit  a question drops what it has read and paid for
  mutable-key         an index entry moves when a field changes
  mixed-roles         one partition holds what somebody did and what was done to them
  type-before-time    no query gives several kinds of one partition in the order of time
  stale-acceptance    the schema accepts a finding that is not there

Examples:
  roundtable table lint
  roundtable table lint --open")]
pub(crate) struct Lint {
    /// Leaves out what is accepted
    #[arg(long)]
    open: bool,
}

impl Lint {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let mut findings = lint::check(SCHEMA, &lint::sizes(&samples::typical()));
        if self.open {
            findings.retain(lint::Finding::is_open);
        }
        write!(out, "{}", lint::render(&findings))?;
        let open = findings.iter().any(lint::Finding::is_open);
        Ok(if open { Outcome::Found } else { Outcome::Well })
    }
}
