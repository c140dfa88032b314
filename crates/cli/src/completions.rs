//! `roundtable completions`: what a shell needs to complete command lines.

use std::io::Write;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::{Cli, Outcome};

/// For which shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  roundtable completions bash > /etc/bash_completion.d/roundtable
  roundtable completions zsh > ~/.zfunc/_roundtable
  roundtable completions fish > ~/.config/fish/completions/roundtable.fish")]
pub(crate) struct Completions {
    /// Which
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "roundtable", &mut script);
        out.write_all(&script)?;
        Ok(Outcome::Well)
    }
}
