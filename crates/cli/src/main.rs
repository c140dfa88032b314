//! `roundtable`: the only binary. It parses the command line, calls the code that does the work, and
//! exits with 0 for success, 1 for findings, differences or failures, 2 for a wrong command line.
//!
//! It does no work of its own and holds no domain rules.

mod admin;
mod backup;
mod completions;
mod config_args;
mod demo;
mod error;
mod installation;
mod progress;
mod schema;
mod serve;
mod store_args;
mod table;
mod table_name_args;
mod transfer;
mod verify;
mod xray;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::CommandError;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A social backend on one table.
#[derive(Debug, Parser)]
#[command(name = "roundtable", version, arg_required_else_help = true)]
#[command(after_help = "\
To try it with sample users, posts and logins:
  roundtable demo

To start for real, with everything in the directory `data`, and to make a registered user an admin:
  roundtable serve
  roundtable admin grant ana admin

Every command explains more with --help.

Exit status: 0 success, 1 something was found, differs or failed, 2 the command line is wrong.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server until it is stopped
    ///
    /// Without flags it listens on this machine alone and stores everything in the directory `data`.
    Serve(serve::ServeArgs),
    /// Builds and serves a sample town, with users and logins to try
    Demo(demo::DemoArgs),
    /// Prints the GraphQL schema of the API
    #[command(after_help = "For tools that generate code from it:\n  \
                            roundtable schema > schema.graphql")]
    Schema,
    /// Shows, checks and creates the tables: design, weak points, cost, definitions
    #[command(subcommand)]
    Table(table::TableSubcommand),
    /// Checks the store for consistency: counters, unique names, indexes, stream, checksums
    ///
    /// No other process may write meanwhile. An embedded store must not be open elsewhere: stop the
    /// server first. Pending changes are processed before the check, unless --no-drain is given.
    Verify(verify::VerifyArgs),
    /// Copies an embedded store while it is in use
    Backup(backup::BackupArgs),
    /// Creates a data directory from a backup, as of any time that the backup covers
    Restore(backup::RestoreArgs),
    /// Exports all tables as lines of DynamoDB JSON
    Export(transfer::ExportArgs),
    /// Imports all tables from lines of DynamoDB JSON
    Import(transfer::ImportArgs),
    /// Runs a query against a server and shows its cost: operations, units, price
    Xray(xray::XrayArgs),
    /// Administers an installation without an account: roles, dead letters, fan-out
    ///
    /// A running server is reached through a socket in its data directory, which only the server's own
    /// user can open. Without a server, and on DynamoDB, the command works on the store itself.
    #[command(subcommand)]
    Admin(admin::AdminSubcommand),
    /// Prints a completion script for a shell
    Completions(completions::CompletionsArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandOutcome {
    Success,
    /// The command found problems, and has printed them.
    Findings,
}

fn main() -> ExitCode {
    roundtable_server::keep_freed_memory();
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let result = match cli.command {
        Command::Serve(serve) => serve.run(),
        Command::Demo(demo) => demo.run(&mut out),
        Command::Schema => schema::run(&mut out),
        Command::Table(command) => table::run(command, &mut out),
        Command::Verify(verify) => verify.run(&mut out),
        Command::Backup(backup) => backup.run(&mut out),
        Command::Restore(restore) => restore.run(&mut out),
        Command::Export(export) => export.run(&mut out),
        Command::Import(import) => import.run(&mut out),
        Command::Xray(xray) => xray.run(&mut out),
        Command::Admin(command) => admin::run(command, &mut out),
        Command::Completions(completions) => completions.run(&mut out),
    };
    let result = result.and_then(|outcome| {
        out.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(CommandOutcome::Success) => ExitCode::SUCCESS,
        Ok(CommandOutcome::Findings) => ExitCode::FAILURE,
        // The reader has closed the pipe, as in `roundtable table doc
        //  head`.
        Err(CommandError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(CommandError::Usage(error)) => error.exit(),
        Err(error) => {
            // Earlier output comes before the error.
            let _ = out.flush();
            // If standard error is closed too, the exit status has to do.
            let _ = writeln!(io::stderr(), "roundtable: {error}");
            ExitCode::FAILURE
        }
    }
}
