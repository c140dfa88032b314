//! `roundtable table create`: creates the tables and describes them.

pub(crate) mod describe;

use std::io::Write;

use clap::Args;
use roundtable_table::{Error, Store, TableDefinition};

use self::describe::{differences, write_description};
use crate::error::CommandError;
use crate::installation::{InstallationArgs, one_shot_options};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  roundtable table create --data data
  roundtable table create --store dynamodb
  roundtable table create --store dynamodb --endpoint http://127.0.0.1:8000")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    installation: InstallationArgs,
}

impl CreateArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        let installation = self.installation.resolve()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(CommandError::Start)?;
        runtime.block_on(async {
            let store = installation.open(one_shot_options()).await?.store;
            for (_, table) in installation.tables() {
                let name = table.name.clone();
                let state = create(&store, table).await?;
                writeln!(out, "{name}: {state}")?;
                // Describes what exists, not what was requested.
                write_description(out, store.table(&name).await?.definition())?;
            }
            Ok(())
        })
    }
}

/// Creates a table unless it exists; returns which.
async fn create(store: &Store, wanted: TableDefinition) -> Result<&'static str, CommandError> {
    let name = wanted.name.clone();
    let state = match store.table(&name).await {
        Ok(_) => "exists",
        Err(Error::TableNotFound { .. }) => "created",
        Err(error) => return Err(error.into()),
    };
    match store.create_table(wanted.clone()).await {
        Ok(_) => Ok(state),
        Err(Error::TableExists { table }) => {
            let found = store.table(&table).await?;
            let differences = differences(found.definition(), &wanted);
            Err(CommandError::TableMismatch { table, differences })
        }
        Err(error) => Err(error.into()),
    }
}
