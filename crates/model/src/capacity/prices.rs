//! What a request unit costs: a price table that is read, never known.

use serde::Deserialize;

use super::CapacityError;

/// The published figures this crate carries, with their region and day.
const PUBLISHED: &str = include_str!("prices.toml");

/// A month as Amazon counts it: 730 hours.
const SECONDS_PER_MONTH: f64 = 730.0 * 3600.0;

/// The on-demand price of requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Where it holds.
    pub region: String,
    /// From which day on.
    pub date: String,
    /// In which currency.
    pub currency: String,
    /// A million read request units.
    pub read_per_million: f64,
    /// A million write request units.
    pub write_per_million: f64,
}

impl Prices {
    /// Reads a price table in TOML.
    pub fn parse(text: &str) -> Result<Self, CapacityError> {
        let prices: Self = toml::from_str(text)?;
        for (key, price) in [
            ("read_per_million", prices.read_per_million),
            ("write_per_million", prices.write_per_million),
        ] {
            if !price.is_finite() || price < 0.0 {
                return Err(CapacityError::Value {
                    key: key.to_owned(),
                    expected: "a price of zero or more",
                    found: price.to_string(),
                });
            }
        }
        Ok(prices)
    }

    /// Amazon's published figures.
    pub fn published() -> Result<Self, CapacityError> {
        Self::parse(PUBLISHED)
    }

    /// What so many read units a second cost in a month.
    pub fn month_of_reads(&self, units_per_second: f64) -> f64 {
        units_per_second * SECONDS_PER_MONTH / 1e6 * self.read_per_million
    }

    /// What so many write units a second cost in a month.
    pub fn month_of_writes(&self, units_per_second: f64) -> f64 {
        units_per_second * SECONDS_PER_MONTH / 1e6 * self.write_per_million
    }
}
