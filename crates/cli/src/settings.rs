//! How the installation is configured that a command is about: by the same file as the server, of which
//! only the settings of the services matter here.

use std::path::PathBuf;

use clap::Args;
use roundtable_domain::Settings;
use roundtable_server::{Configuration, Layers};

use crate::failure::Failure;

/// How the installation is configured.
#[derive(Args, Debug)]
pub(crate) struct Configured {
    /// The settings of the server, in TOML; what it does not say is as by default
    ///
    /// What makes a post popular is among them: with other settings than the server's every score is
    /// found wrong, and those that are still to be derived become so.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Configured {
    /// The settings.
    pub(crate) fn read(&self) -> Result<Settings, Failure> {
        let Some(path) = &self.config else { return Ok(Settings::default()) };
        Ok(Configuration::settings(Layers::new().file(path)?)?)
    }
}
