//! How a command reaches an installation: through the socket of the server that has the store open, or
//! else by opening it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use roundtable_domain::Settings;
use roundtable_engine::Options;
use roundtable_server::{Answer, Office, Order, ask};

use crate::failure::Failure;
use crate::names::Names;
use crate::place::{Opened, Place};
use crate::settings::Configured;

/// Which installation.
#[derive(Args, Debug)]
pub(crate) struct Reach {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) names: Names,
    #[command(flatten)]
    configured: Configured,
}

/// Opened for one command: no sweeping, no trimming.
pub(crate) fn briefly() -> Options {
    Options { upkeep_interval: Duration::from_hours(24), ..Options::default() }
}

/// The directory of an embedded store, which must be there.
pub(crate) fn existing(place: &Place) -> Result<Option<&Path>, Failure> {
    match place.directory() {
        Some(path) if !fs::exists(path).map_err(Failure::file(path))? => {
            Err(Failure::NoStore { path: path.to_owned() })
        }
        directory => Ok(directory),
    }
}

impl Reach {
    /// The settings, with the names that the tables have here.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        let settings = self.configured.read()?;
        let tables = self.names.prefixed(&settings.tables);
        Ok(Settings { tables, ..settings })
    }

    /// Has an order carried out.
    pub(crate) async fn carry_out(self, order: Order) -> Result<Answer, Failure> {
        self.place.check()?;
        let data = existing(&self.place)?.map(Path::to_owned);
        if let Some(data) = &data
            && let Some(answer) = ask(data, &order)?
        {
            return Ok(answer);
        }
        let office = self.open(data).await?;
        office.carry_out(order).await.map_err(Failure::Refused)
    }

    async fn open(self, data: Option<PathBuf>) -> Result<Office, Failure> {
        let settings = self.settings()?;
        let Opened { store, engine } = self.place.open_as(briefly()).await?;
        // Nothing is made here that is not there.
        for name in [&settings.tables.core, &settings.tables.logins, &settings.tables.ops] {
            store.table(name).await?;
        }
        Ok(Office::open(store, settings, engine.zip(data)).await?)
    }
}
