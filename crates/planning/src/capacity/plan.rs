//! Request rates times units: the units per second and the cost per month, beside an estimate.

use std::fmt;

use super::columns::Columns;
use super::rates::{CapacityEstimate, ReadRate, RequestRates};
use super::units::format_money;
use super::{CapacityError, Prices};

/// The capacity and cost of a set of rates.
#[derive(Clone, Debug)]
pub struct CapacityPlan {
    pub name: String,
    pub estimate: Option<CapacityEstimate>,
    pub reads: Vec<ReadCost>,
    pub writes: Vec<MutationCost>,
    pub prices: Prices,
}

/// The cost of an access pattern.
#[derive(Clone, Debug)]
pub struct ReadCost {
    pub pattern: &'static str,
    /// The read in words: `Query GSI1, 20 Post of 1220 B`.
    pub description: String,
    pub units: f64,
    pub per_second: f64,
}

/// The cost of a mutation.
#[derive(Clone, Debug)]
pub struct MutationCost {
    pub mutation: &'static str,
    /// The write units of its own writes.
    pub own: f64,
    /// The write units of the stream processors' writes.
    pub derived: f64,
    /// The read units of the mutation and the stream processors.
    pub reads: f64,
    pub per_second: f64,
}

impl ReadCost {
    pub(super) fn of(rate: &ReadRate) -> Result<Self, CapacityError> {
        Ok(Self {
            pattern: rate.pattern.name,
            description: rate.description()?,
            units: rate.units()?,
            per_second: rate.per_second,
        })
    }

    pub fn units_per_second(&self) -> f64 {
        self.units * self.per_second
    }
}

impl MutationCost {
    pub fn read_units_per_second(&self) -> f64 {
        self.reads * self.per_second
    }

    /// Returns the write units of one call, including derived writes.
    pub fn units(&self) -> f64 {
        self.own + self.derived
    }

    pub fn units_per_second(&self) -> f64 {
        self.units() * self.per_second
    }
}

/// Computes the capacity and cost of `rates` at `prices`.
pub fn plan(rates: &RequestRates, prices: &Prices) -> Result<CapacityPlan, CapacityError> {
    let reads = rates.reads.iter().map(ReadCost::of).collect::<Result<_, _>>()?;
    let writes = rates.writes.iter().map(|rate| MutationCost {
        mutation: &rate.mutation.name,
        own: rate.mutation.own_units(&rate.counts),
        derived: rate.mutation.derived_units(&rate.counts),
        reads: rate.mutation.read_units(&rate.counts),
        per_second: rate.per_second,
    });
    Ok(CapacityPlan {
        name: rates.name.clone(),
        estimate: rates.estimate,
        reads,
        writes: writes.collect(),
        prices: prices.clone(),
    })
}

impl CapacityPlan {
    /// Returns the total read units per second, including those of mutations.
    pub fn read_units(&self) -> f64 {
        let reads = self.reads.iter().map(ReadCost::units_per_second).sum::<f64>();
        reads + self.mutation_read_units()
    }

    fn mutation_read_units(&self) -> f64 {
        self.writes.iter().map(MutationCost::read_units_per_second).sum()
    }

    /// Returns the total write units per second.
    pub fn write_units(&self) -> f64 {
        self.writes.iter().map(MutationCost::units_per_second).sum()
    }

    pub fn monthly_cost(&self) -> f64 {
        self.monthly_read_cost() + self.monthly_write_cost()
    }

    pub fn monthly_read_cost(&self) -> f64 {
        self.prices.monthly_read_cost(self.read_units())
    }

    pub fn monthly_write_cost(&self) -> f64 {
        self.prices.monthly_write_cost(self.write_units())
    }
}

impl fmt::Display for CapacityPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.name)?;
        let titles = ["read", "how", "units/call", "calls/s", "units/s"];
        let mut reads = Columns::new(2, &titles);
        for line in &self.reads {
            let ReadCost { pattern, description: how, units, per_second } = line;
            let figures = [*units, *per_second, line.units_per_second()];
            reads.row(&[pattern, how], &figures.map(Some));
        }
        if !self.writes.is_empty() {
            let units = self.mutation_read_units();
            reads.row(&["by mutations", ""], &[None, None, Some(units)]);
        }
        reads.row(&["total", ""], &[None, None, Some(self.read_units())]);
        if let Some(estimate) = self.estimate {
            reads.row(&["estimated", ""], &[None, None, Some(estimate.read)]);
        }
        writeln!(f, "{reads}")?;
        let titles = ["write", "own/call", "derived/call", "reads/call", "calls/s", "units/s"];
        let mut writes = Columns::new(1, &titles);
        for line in &self.writes {
            let MutationCost { own, derived, reads, per_second, .. } = line;
            let figures = [*own, *derived, *reads, *per_second, line.units_per_second()];
            writes.row(&[line.mutation], &figures.map(Some));
        }
        writes.row(&["total"], &[None, None, None, None, Some(self.write_units())]);
        if let Some(estimate) = self.estimate {
            writes.row(&["estimated"], &[None, None, None, None, Some(estimate.write)]);
        }
        writeln!(f, "{writes}")?;
        let (reads, writes) =
            (format_money(self.monthly_read_cost()), format_money(self.monthly_write_cost()));
        let prices = &self.prices;
        writeln!(
            f,
            "a month of 730 hours: {reads} for reads + {writes} for writes = {} {}",
            format_money(self.monthly_cost()),
            prices.currency,
        )?;
        writeln!(
            f,
            "on demand in {} since {}: {} a million read units, {} a million write units",
            prices.region, prices.date, prices.read_per_million, prices.write_per_million,
        )
    }
}
