//! R41: the capacity plan, computed by hand. Examples of access patterns assert the sizes they depend
//! on, so that a changed sample fails there and not in the arithmetic; those of mutations depend on
//! `mutations.toml`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use roundtable_planning::capacity::{CapacityPlan, MutationCost, Prices, RequestRates, plan};

mod contract;
mod plans;
mod reads;
mod refusals;
mod writes;

/// Asserts the size of typical items.
macro_rules! sizes {
    ($($sample:ident = $bytes:literal),* $(,)?) => {
        $(assert_eq!(samples::$sample().item().size(), $bytes, stringify!($sample));)*
    };
}
use sizes;

fn close(found: f64, worked_out: f64) {
    assert!((found - worked_out).abs() < 1e-6, "{found}, worked out as {worked_out}");
}

fn planned(rates: &str) -> CapacityPlan {
    let rates = RequestRates::parse(rates).unwrap();
    plan(&rates[0], &Prices::published().unwrap()).unwrap()
}

/// Returns the read units of one call.
fn read(rate: &str) -> f64 {
    planned(&format!("[reads]\n{rate}")).reads[0].units
}

fn write(rate: &str) -> MutationCost {
    planned(&format!("[writes]\n{rate}")).writes[0].clone()
}
