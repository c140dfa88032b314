//! R41: the capacity plan, worked out by hand. Each example states the sizes it rests on, so that a
//! sample that changes fails there and not in the arithmetic.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use roundtable_model::capacity::{Plan, Prices, Rates, WriteLine, plan};

#[path = "capacity/contract.rs"]
mod contract;
#[path = "capacity/plans.rs"]
mod plans;
#[path = "capacity/reads.rs"]
mod reads;
#[path = "capacity/refusals.rs"]
mod refusals;
#[path = "capacity/writes.rs"]
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

fn planned(rates: &str) -> Plan {
    let rates = Rates::parse(rates).unwrap();
    plan(&rates[0], &Prices::published().unwrap()).unwrap()
}

/// The read units of one call.
fn read(rate: &str) -> f64 {
    planned(&format!("[reads]\n{rate}")).reads[0].units
}

fn write(rate: &str) -> WriteLine {
    planned(&format!("[writes]\n{rate}")).writes[0].clone()
}
