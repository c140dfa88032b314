//! How a command reaches an installation: through the socket of the server that has the store open, or
//! else by opening it.

use std::fs;
use std::path::Path;

use clap::Args;
use roundtable_domain::Settings;
use roundtable_engine::Options;
use roundtable_model::SCHEMA;
use roundtable_server::{
    Answer, Configuration, Office, Opened, Order, StoreKind, StoreSettings, ask, open_store,
};
use roundtable_table::TableDefinition;

use crate::failure::Failure;
use crate::names::Names;
use crate::place::Place;
use crate::settings::Configured;

/// Which installation, by flags, variables and a file.
#[derive(Args, Debug)]
pub(crate) struct Reach {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    configured: Configured,
}

/// Which installation.
#[derive(Debug)]
pub(crate) struct Installation {
    /// Where everything is kept.
    pub(crate) store: StoreSettings,
    /// How the services behave, with the names that the tables have here.
    pub(crate) settings: Settings,
}

/// Opened for one command: no sweeping, no trimming.
pub(crate) fn briefly() -> Options {
    Options { tidies: false, ..Options::default() }
}

impl Reach {
    /// What all of it comes to.
    pub(crate) fn installation(&self) -> Result<Installation, Failure> {
        let layers = self.place.over(self.configured.layers()?)?;
        let (store, settings) = Configuration::installation(layers)?;
        self.place.check(store.kind)?;
        let tables = self.names.prefixed(&settings.tables);
        Ok(Installation { store, settings: Settings { tables, ..settings } })
    }
}

impl Installation {
    /// The directory of an embedded store.
    pub(crate) fn directory(&self) -> Option<&Path> {
        (self.store.kind == StoreKind::Embedded).then_some(self.store.data.as_path())
    }

    /// The directory of an embedded store, which must be there.
    pub(crate) fn existing(&self) -> Result<Option<&Path>, Failure> {
        match self.directory() {
            Some(path) if !fs::exists(path).map_err(Failure::file(path))? => {
                Err(Failure::NoStore { path: path.to_owned() })
            }
            directory => Ok(directory),
        }
    }

    /// The tables by their names in the schema, and as they are here.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&'static str, TableDefinition)> {
        let tables = &self.settings.tables;
        let names = [&tables.core, &tables.logins, &tables.ops];
        SCHEMA.iter().zip(names).map(|(shape, name)| (shape.name, shape.definition(name)))
    }

    /// Opens the store; an embedded one with these options, and makes its directory if need be.
    pub(crate) async fn open(&self, options: Options) -> Result<Opened, Failure> {
        Ok(open_store(&self.store, options).await?)
    }

    /// Has an order carried out.
    pub(crate) async fn carry_out(self, order: Order) -> Result<Answer, Failure> {
        if let Some(data) = self.existing()?
            && let Some(answer) = ask(data, &order)?
        {
            return Ok(answer);
        }
        let Opened { store, engine } = self.open(briefly()).await?;
        // Nothing is made here that is not there.
        for (_, table) in self.tables() {
            store.table(&table.name).await?;
        }
        let data = self.directory().map(Path::to_owned);
        let office = Office::open(store, self.settings, engine.zip(data)).await?;
        office.carry_out(order).await.map_err(Failure::Refused)
    }
}
