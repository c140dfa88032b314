//! Flags for the server's configuration, which commands share with the server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use roundtable_server::Layers;

use crate::error::CommandError;

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// The server's configuration file, in TOML
    ///
    /// Environment variables (ROUNDTABLE_STORE__DATA, …) override it, and flags override both.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    /// The file, overridden by the environment.
    pub(crate) fn layers(&self) -> Result<Layers, CommandError> {
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

/// A choice as it is typed.
pub(crate) fn choice_name(choice: impl ValueEnum + Copy) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
