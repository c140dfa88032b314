//! `roundtable completions`: completion scripts for shells.

use std::io::Write;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::error::CommandError;
use crate::{Cli, CommandOutcome};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  roundtable completions bash > /etc/bash_completion.d/roundtable
  roundtable completions zsh > ~/.zfunc/_roundtable
  roundtable completions fish > ~/.config/fish/completions/roundtable.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "roundtable", &mut script);
        out.write_all(&script)?;
        Ok(CommandOutcome::Success)
    }
}
