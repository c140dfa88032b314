//! `roundtable table lint`: finds weak points of the design.

use std::io::Write;

use clap::Args;
use roundtable_model::{SCHEMA, samples};
use roundtable_planning::lint;

use crate::CommandOutcome;
use crate::error::CommandError;

#[derive(Args, Debug)]
#[command(after_help = "\
What it looks for:
  hot                 many writes meet in one partition; shows the rate at which it needs shards
  unbounded           a partition grows for ever, because some items have no ttl
  filter-after-limit  a query drops items that it has read and paid for
  mutable-key         an index entry moves when a field changes
  mixed-roles         one partition holds what a user did and what was done to them
  type-before-time    no query returns several kinds of one partition in order of time
  unowned             items have no owner and never expire, so no purge removes them
  undeclared-owner    a field of the keys names an owner, but is not declared as one
  partial-owner       a purge does not find all items of an owner
  stale-acceptance    the schema accepts a finding that does not exist

Examples:
  roundtable table lint
  roundtable table lint --open")]
pub(crate) struct LintArgs {
    /// Leaves out accepted findings
    #[arg(long)]
    open: bool,
}

impl LintArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let mut findings = lint::check(SCHEMA, &lint::sizes(&samples::typical()));
        if self.open {
            findings.retain(lint::LintFinding::is_open);
        }
        write!(out, "{}", lint::render(&findings))?;
        let open = findings.iter().any(lint::LintFinding::is_open);
        Ok(if open { CommandOutcome::Findings } else { CommandOutcome::Success })
    }
}
