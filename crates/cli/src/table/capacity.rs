//! `roundtable table capacity`: what the tables cost on DynamoDB.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_model::capacity::{self, CapacityError, Prices, Rates};

use crate::failure::Failure;

/// What to plan with.
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
pub(crate) struct Capacity {
    /// How often things are asked and done; without it, the design documents' own rates
    #[arg(long, value_name = "FILE")]
    rates: Option<PathBuf>,
    /// What units cost; without it, the published prices that this program carries
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Instead: what each question and each mutation costs by itself
    #[arg(long, conflicts_with_all = ["rates", "prices"])]
    units: bool,
}

impl Capacity {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        if self.units {
            let catalogue = capacity::catalogue().map_err(carried)?;
            return Ok(write!(out, "{catalogue}")?);
        }
        let rates = match &self.rates {
            None => Rates::documents().map_err(carried)?,
            Some(path) => read(path, Rates::parse)?,
        };
        let prices = match &self.prices {
            None => Prices::published().map_err(carried)?,
            Some(path) => read(path, Prices::parse)?,
        };
        for (at, rates) in rates.iter().enumerate() {
            let plan = capacity::plan(rates, &prices).map_err(carried)?;
            let gap = if at == 0 { "" } else { "\n" };
            write!(out, "{gap}{plan}")?;
        }
        Ok(())
    }
}

fn read<T>(path: &Path, parse: fn(&str) -> Result<T, CapacityError>) -> Result<T, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    let source_name = path.display().to_string();
    parse(&text).map_err(|error| Failure::Capacity { source_name, error: Box::new(error) })
}

/// What is wrong with figures that this program carries.
fn carried(error: CapacityError) -> Failure {
    let source_name = String::from("working out the capacity");
    Failure::Capacity { source_name, error: Box::new(error) }
}
