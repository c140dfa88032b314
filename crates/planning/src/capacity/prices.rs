//! The prices of request units, read from a table rather than coded.

use serde::Deserialize;

use super::CapacityError;

/// Amazon's published prices, with their region and date.
const PUBLISHED: &str = include_str!("prices.toml");

/// A month as Amazon counts it: 730 hours.
const SECONDS_PER_MONTH: f64 = 730.0 * 3600.0;

/// The on-demand price of requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    pub region: String,
    /// The day from which the prices are valid.
    pub date: String,
    pub currency: String,
    pub read_per_million: f64,
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

    /// Returns Amazon's published prices.
    pub fn published() -> Result<Self, CapacityError> {
        Self::parse(PUBLISHED)
    }

    pub fn monthly_read_cost(&self, units_per_second: f64) -> f64 {
        units_per_second * SECONDS_PER_MONTH / 1e6 * self.read_per_million
    }

    pub fn monthly_write_cost(&self, units_per_second: f64) -> f64 {
        units_per_second * SECONDS_PER_MONTH / 1e6 * self.write_per_million
    }
}
