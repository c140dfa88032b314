//! `roundtable table create`: makes the tables, and shows them as the store describes them.

pub(crate) mod describe;

use std::io::Write;

use clap::Args;
use roundtable_table::{Error, Store, TableDefinition};

use self::describe::{differences, write_description};
use crate::failure::Failure;
use crate::reach::{Reach, briefly};

/// Where to make the tables, and what to call them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  roundtable table create --data data
  roundtable table create --store dynamodb
  roundtable table create --store dynamodb --endpoint http://127.0.0.1:8000")]
pub(crate) struct Create {
    #[command(flatten)]
    reach: Reach,
}

impl Create {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let installation = self.reach.installation()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::Start)?;
        runtime.block_on(async {
            let store = installation.open(briefly()).await?.store;
            for (_, table) in installation.tables() {
                let name = table.name.clone();
                let news = make(&store, table).await?;
                writeln!(out, "{name}: {news}")?;
                // Not what was asked for, but what is there.
                write_description(out, store.table(&name).await?.definition())?;
            }
            Ok(())
        })
    }
}

/// Makes a table unless it is there; says which.
async fn make(store: &Store, wanted: TableDefinition) -> Result<&'static str, Failure> {
    let name = wanted.name.clone();
    let news = match store.table(&name).await {
        Ok(_) => "was there",
        Err(Error::TableMissing { .. }) => "made",
        Err(error) => return Err(error.into()),
    };
    match store.create_table(wanted.clone()).await {
        Ok(_) => Ok(news),
        Err(Error::TableExists { table }) => {
            let found = store.table(&table).await?;
            let differences = differences(found.definition(), &wanted);
            Err(Failure::OtherTable { table, differences })
        }
        Err(error) => Err(error.into()),
    }
}
