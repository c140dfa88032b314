//! `roundtable`: the only binary. It reads the command line, calls what does the work, and tells how it
//! went: 0 when all is well, 1 when something was found, differs or failed, 2 when it was called wrongly.
//!
//! It does no work of its own and keeps no rules.

mod failure;
mod names;
mod place;
mod progress;
mod settings;
mod table;
mod verify;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A social backend on one table.
#[derive(Debug, Parser)]
#[command(name = "roundtable", version, arg_required_else_help = true)]
#[command(after_help = "Exit status: 0 all is well, 1 something was found, differs or failed, \
                        2 the command line is wrong.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The tables: their design, its weak points, their cost, and how they are made
    #[command(subcommand)]
    Table(table::Command),
    /// Checks that the store holds what it must: counters, unique names, indexes, stream, checksums
    ///
    /// The store must be quiet. An embedded one must not be open elsewhere: stop the server first. What a
    /// server had not come to is done before the look, unless told otherwise.
    Verify(verify::Verify),
}

/// How a command went, when it could be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All is well.
    Well,
    /// It found something that somebody has to look at, and said so.
    Found,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match cli.command {
        Command::Table(command) => table::run(command, &mut out),
        Command::Verify(verify) => verify.run(&mut out),
    };
    let done = done.and_then(|outcome| {
        out.flush()?;
        Ok(outcome)
    });
    match done {
        Ok(Outcome::Well) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::FAILURE,
        // Whoever read has seen enough: `roundtable table doc | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(Failure::Usage(error)) => error.exit(),
        Err(failure) => {
            // What was done before it comes first.
            let _ = out.flush();
            // With nowhere to complain to, the status has to do.
            let _ = writeln!(io::stderr(), "roundtable: {failure}");
            ExitCode::FAILURE
        }
    }
}
