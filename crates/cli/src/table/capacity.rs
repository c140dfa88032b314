//! `roundtable table capacity`: the cost of the tables on DynamoDB.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_planning::capacity::{self, CapacityError, Prices, RequestRates};

use crate::error::CommandError;

#[derive(Args, Debug)]
#[command(after_help = "\
Rates are calls a second, by the names of access patterns and mutations, in TOML:
  [reads]
  posts_by = 120
  [writes]
  createPost = 4

Examples:
  roundtable table capacity --units
  roundtable table capacity --rates rates.toml")]
pub(crate) struct CapacityArgs {
    /// Calls a second, in TOML [default: the rates of the design documents]
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// Prices of units, in TOML [default: the published prices built into this program]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Prints the units of each query and mutation instead
    #[arg(long, conflicts_with_all = ["rates", "prices"])]
    units: bool,
}

impl CapacityArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        if self.units {
            let catalogue = capacity::catalogue().map_err(built_in_error)?;
            return Ok(write!(out, "{catalogue}")?);
        }
        let rates = match &self.rates {
            None => RequestRates::documents().map_err(built_in_error)?,
            Some(path) => read(path, RequestRates::parse)?,
        };
        let prices = match &self.prices {
            None => Prices::published().map_err(built_in_error)?,
            Some(path) => read(path, Prices::parse)?,
        };
        for (at, rates) in rates.iter().enumerate() {
            let plan = capacity::plan(rates, &prices).map_err(built_in_error)?;
            let gap = if at == 0 { "" } else { "\n" };
            write!(out, "{gap}{plan}")?;
        }
        Ok(())
    }
}

fn read<T>(path: &Path, parse: fn(&str) -> Result<T, CapacityError>) -> Result<T, CommandError> {
    let text = fs::read_to_string(path).map_err(CommandError::file(path))?;
    let source_name = path.display().to_string();
    parse(&text).map_err(|error| CommandError::Capacity { source_name, error: Box::new(error) })
}

/// An error in the figures built into this program.
fn built_in_error(error: CapacityError) -> CommandError {
    let source_name = String::from("working out the capacity");
    CommandError::Capacity { source_name, error: Box::new(error) }
}
