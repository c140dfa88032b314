//! How the installation is configured that a command is about. Reads the file, and judges nothing in it
//! but whether it can be read.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use roundtable_domain::Settings;

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
        let text = fs::read_to_string(path).map_err(Failure::file(path))?;
        toml::from_str(&text).map_err(|error| {
            let (path, error) = (path.clone(), Box::new(error));
            Failure::Settings { path, error }
        })
    }
}
