//! The installation that a command works on, through the socket of a running server or by opening the
//! store.

use std::fs;
use std::path::Path;

use clap::Args;
use roundtable_domain::Settings;
use roundtable_engine::Options;
use roundtable_model::SCHEMA;
use roundtable_server::{
    AdminCommand, AdminReply, AdminService, Configuration, OpenStore, SearchSettings, StoreKind,
    StoreSettings, open_store, send_command,
};
use roundtable_table::TableDefinition;

use crate::config_args::ConfigArgs;
use crate::error::CommandError;
use crate::store_args::StoreArgs;
use crate::table_name_args::TableNameArgs;

#[derive(Args, Debug)]
pub(crate) struct InstallationArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    table_names: TableNameArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) store: StoreSettings,
    pub(crate) search: SearchSettings,
    /// With the table names of this installation.
    pub(crate) settings: Settings,
}

/// Options for a single command: no expiry sweeps and no trimming of the log.
pub(crate) fn one_shot_options() -> Options {
    Options { cleans_up: false, ..Options::default() }
}

impl InstallationArgs {
    pub(crate) fn resolve(&self) -> Result<Installation, CommandError> {
        let layers = self.store.apply_to(self.config.layers()?)?;
        let (store, search, settings) = Configuration::installation(layers)?;
        self.store.check(store.kind)?;
        let tables = self.table_names.prefixed(&settings.tables);
        Ok(Installation { store, search, settings: Settings { tables, ..settings } })
    }
}

impl Installation {
    /// The directory of an embedded store.
    pub(crate) fn directory(&self) -> Option<&Path> {
        (self.store.kind == StoreKind::Embedded).then_some(self.store.data.as_path())
    }

    /// The directory of an embedded store, which must exist.
    pub(crate) fn existing(&self) -> Result<Option<&Path>, CommandError> {
        match self.directory() {
            Some(path) if !fs::exists(path).map_err(CommandError::file(path))? => {
                Err(CommandError::NoStore { path: path.to_owned() })
            }
            directory => Ok(directory),
        }
    }

    /// The tables by their names in the schema, with their definitions here.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&'static str, TableDefinition)> {
        let tables = &self.settings.tables;
        let names = [&tables.core, &tables.logins, &tables.ops];
        SCHEMA.iter().zip(names).map(|(shape, name)| (shape.name, shape.definition(name)))
    }

    /// Opens the store; an embedded one with these options, creating its directory if needed.
    pub(crate) async fn open(&self, options: Options) -> Result<OpenStore, CommandError> {
        Ok(open_store(&self.store, options).await?)
    }

    /// Executes a command through the running server, or on the store itself.
    pub(crate) async fn execute(self, command: AdminCommand) -> Result<AdminReply, CommandError> {
        if let Some(data) = self.existing()?
            && let Some(reply) = send_command(data, &command)?
        {
            return Ok(reply);
        }
        let OpenStore { store, engine } = self.open(one_shot_options()).await?;
        // Fails if a table is missing instead of creating it.
        for (_, table) in self.tables() {
            store.table(&table.name).await?;
        }
        let data = self.directory().map(Path::to_owned);
        let admin = AdminService::open(store, self.settings, engine.zip(data)).await?;
        admin.execute(command).await.map_err(CommandError::Refused)
    }
}
