//! How the installation is configured that a command is about: by the same file and variables as the
//! server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use roundtable_server::Layers;

use crate::failure::Failure;

/// How the installation is configured.
#[derive(Args, Debug)]
pub(crate) struct Configured {
    /// The settings of the server, in TOML; what it does not say is as by default
    ///
    /// Variables of the environment (ROUNDTABLE_STORE__DATA, …) are over it, and flags over those.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Configured {
    /// The file, and the environment over it.
    pub(crate) fn layers(&self) -> Result<Layers, Failure> {
        let mut layers = Layers::new();
        if let Some(file) = &self.config {
            layers = layers.file(file)?;
        }
        let environment = std::env::vars_os();
        let readable = environment
            .filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)));
        Ok(layers.environment(readable)?)
    }
}

/// A choice, as it is typed.
pub(crate) fn named(choice: impl ValueEnum + Copy) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
