//! `roundtable table …`: everything derived from the schema, one subcommand per file.

mod capacity;
pub(crate) mod create;
mod doc;
mod lint;

use std::io::Write;

use clap::Subcommand;
use roundtable_model::{SCHEMA, samples};
use roundtable_planning::{cloudformation, terraform, workbench};

use crate::CommandOutcome;
use crate::error::CommandError;
use crate::table_name_args::TableNameArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum TableSubcommand {
    /// Prints the design: entities, keys, access patterns, indexes, and how to add an entity
    ///
    /// The output is Markdown. docs/TABLE.md is the committed copy, and CI checks that it is current.
    Doc(doc::DocArgs),
    /// Finds weak points of the design, and the rates at which they matter
    ///
    /// Intended ones are accepted in the schema, with a reason. Any other finding exits with status 1,
    /// and so does an acceptance without a finding.
    Lint(lint::LintArgs),
    /// Computes read and write units of queries and mutations, and the monthly price
    ///
    /// Sizes are those of typical items, rounded as DynamoDB rounds. Storage is not included.
    Capacity(capacity::CapacityArgs),
    /// Creates the tables on any store, and describes them as the store does
    ///
    /// Existing tables that match are left alone, so this can be run again. An existing table that
    /// differs is an error, and is left alone, too.
    ///
    /// On DynamoDB this does not enable point-in-time recovery and deletion protection: the output of
    /// `terraform` and `cloudformation` does.
    Create(create::CreateArgs),
    /// Prints the tables as Terraform resources
    #[command(after_help = "Put the output beside your provider's configuration:\n  \
                            roundtable table terraform > tables.tf")]
    Terraform(TableNameArgs),
    /// Prints the tables as a CloudFormation template
    #[command(after_help = "Then, for instance:\n  \
        roundtable table cloudformation > tables.yaml\n  \
        aws cloudformation deploy --stack-name roundtable --template-file tables.yaml")]
    Cloudformation(TableNameArgs),
    /// Prints the tables as a data model for NoSQL Workbench, with a sample of every entity
    #[command(after_help = "Import the output under \"Data modeler\":\n  \
                            roundtable table workbench > roundtable.json")]
    Workbench,
}

pub(crate) fn run(
    command: TableSubcommand,
    out: &mut impl Write,
) -> Result<CommandOutcome, CommandError> {
    match command {
        TableSubcommand::Doc(doc) => return doc.run(out),
        TableSubcommand::Lint(lint) => return lint.run(out),
        TableSubcommand::Capacity(capacity) => capacity.run(out)?,
        TableSubcommand::Create(create) => create.run(out)?,
        TableSubcommand::Terraform(names) => {
            write!(out, "{}", terraform::render(&names.definitions()))?;
        }
        TableSubcommand::Cloudformation(names) => {
            write!(out, "{}", cloudformation::render(&names.definitions()))?;
        }
        TableSubcommand::Workbench => {
            write!(out, "{}", workbench::render(SCHEMA, &samples::typical()))?;
        }
    }
    Ok(CommandOutcome::Success)
}
