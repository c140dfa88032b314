//! `roundtable`: the only binary. It reads the command line, calls what does the work, and tells how it
//! went: 0 when all is well, 1 when something was found, differs or failed, 2 when it was called wrongly.
//!
//! It does no work of its own and keeps no rules.

mod admin;
mod backup;
mod completions;
mod demo;
mod failure;
mod names;
mod place;
mod progress;
mod reach;
mod schema;
mod serve;
mod settings;
mod table;
mod transfer;
mod verify;
mod xray;

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A social backend on one table.
#[derive(Debug, Parser)]
#[command(name = "roundtable", version, arg_required_else_help = true)]
#[command(after_help = "\
To look around first, with people, posts and logins that are made up:
  roundtable demo

To begin in earnest, with everything in the directory `data`, and to make somebody who signed up an admin:
  roundtable serve
  roundtable admin grant ana admin

Every command tells more with --help.

Exit status: 0 all is well, 1 something was found, differs or failed, 2 the command line is wrong.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server, until it is told to stop
    ///
    /// Without any flags: on this machine alone, with everything in the directory `data`.
    Serve(serve::Serve),
    /// Serves a fresh sample town, with people in it and logins to try
    Demo(demo::Demo),
    /// Prints what can be asked of the server, as a GraphQL schema
    #[command(after_help = "For tools that make code of it:\n  \
                            roundtable schema > schema.graphql")]
    Schema,
    /// The tables: their design, its weak points, their cost, and how they are made
    #[command(subcommand)]
    Table(table::Command),
    /// Checks that the store holds what it must: counters, unique names, indexes, stream, checksums
    ///
    /// The store must be quiet. An embedded one must not be open elsewhere: stop the server first. What a
    /// server had not come to is done before the look, unless told otherwise.
    Verify(verify::Verify),
    /// Copies an embedded store, while it is in use
    Backup(backup::Backup),
    /// Makes a data directory out of a copy, as it was at any time that the copy covers
    Restore(backup::RestoreTo),
    /// Writes all tables down as lines of DynamoDB's JSON
    Export(transfer::Export),
    /// Reads all tables in again, from lines of DynamoDB's JSON
    Import(transfer::Import),
    /// Runs a query against a server, and tells what it cost: operations, units, price
    Xray(xray::Xray),
    /// Gives roles, looks after dead letters, promotes: without an account, by whoever runs this
    ///
    /// A running server is reached through a socket in its data directory, which only its own user can
    /// open. Otherwise, and on DynamoDB, it is done on the store itself.
    #[command(subcommand)]
    Admin(admin::Command),
    /// Prints what a shell needs to complete these commands
    Completions(completions::Completions),
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
    roundtable_server::keep_freed_memory();
    let cli = Cli::parse();
    let mut out = BufWriter::new(io::stdout().lock());
    let done = match cli.command {
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
