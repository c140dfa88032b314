//! `roundtable table …`: what can be derived from the schema, one subcommand in each file.

mod capacity;
pub(crate) mod create;
mod doc;
mod lint;

use std::io::Write;

use clap::Subcommand;
use roundtable_model::derived::{cloudformation, terraform, workbench};
use roundtable_model::{SCHEMA, samples};

use crate::Outcome;
use crate::failure::Failure;
use crate::names::Names;

/// What can be done about the tables.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints the design: entities, keys, access patterns, indexes, and how to add an entity
    ///
    /// It is Markdown. The committed copy is docs/TABLE.md, and CI checks that it is current.
    Doc(doc::Doc),
    /// Looks for weak points of the design, and tells the rates at which they matter
    ///
    /// What is as it should be is accepted in the schema, with a reason. Anything else is status 1, and so
    /// is an acceptance of something that is not there.
    Lint(lint::Lint),
    /// Works out read and write units of questions and mutations, and the price of a month
    ///
    /// Sizes are those of typical items, rounded as DynamoDB rounds. Storage is not in it.
    Capacity(capacity::Capacity),
    /// Makes the tables on any store, and shows them as the store describes them
    ///
    /// A table that is there as it should be is left alone, so this can be run again. One that is there
    /// and differs is an error, and is left alone, too.
    ///
    /// On DynamoDB it does not switch on point-in-time recovery and deletion protection: the output of
    /// `terraform` and `cloudformation` does.
    Create(create::Create),
    /// Prints the tables as Terraform resources
    #[command(after_help = "Put the output beside your provider's configuration:\n  \
                            roundtable table terraform > tables.tf")]
    Terraform(Names),
    /// Prints the tables as a CloudFormation template
    #[command(after_help = "Then, for instance:\n  \
        roundtable table cloudformation > tables.yaml\n  \
        aws cloudformation deploy --stack-name roundtable --template-file tables.yaml")]
    Cloudformation(Names),
    /// Prints the tables as a data model for NoSQL Workbench, with a sample of every entity
    #[command(after_help = "Import the output under \"Data modeler\":\n  \
                            roundtable table workbench > roundtable.json")]
    Workbench,
}

/// Carries out a command; what it has to say goes to `out`.
pub(crate) fn run(command: Command, out: &mut impl Write) -> Result<Outcome, Failure> {
    match command {
        Command::Doc(doc) => return doc.run(out),
        Command::Lint(lint) => return lint.run(out),
        Command::Capacity(capacity) => capacity.run(out)?,
        Command::Create(create) => create.run(out)?,
        Command::Terraform(names) => {
            write!(out, "{}", terraform::render(&names.definitions()))?;
        }
        Command::Cloudformation(names) => {
            write!(out, "{}", cloudformation::render(&names.definitions()))?;
        }
        Command::Workbench => {
            write!(out, "{}", workbench::render(SCHEMA, &samples::typical()))?;
        }
    }
    Ok(Outcome::Well)
}
