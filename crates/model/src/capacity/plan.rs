//! Rates times units: what a second takes, what a month costs, beside what somebody estimated.

use std::fmt;

use super::columns::Columns;
use super::rates::{Estimate, Rates, ReadRate};
use super::units::money;
use super::{CapacityError, Prices};

/// What rates come to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Whose rates they are.
    pub name: String,
    /// What somebody has estimated for them.
    pub estimate: Option<Estimate>,
    /// What each question takes.
    pub reads: Vec<ReadLine>,
    /// What each mutation takes.
    pub writes: Vec<WriteLine>,
    /// What it is priced by.
    pub prices: Prices,
}

/// What an access pattern takes.
#[derive(Clone, Debug)]
pub struct ReadLine {
    /// The pattern.
    pub pattern: &'static str,
    /// How it reads.
    pub how: String,
    /// Read units of one call.
    pub units: f64,
    /// Calls per second.
    pub per_second: f64,
}

/// What a mutation takes.
#[derive(Clone, Debug)]
pub struct WriteLine {
    /// The mutation.
    pub mutation: &'static str,
    /// Write units of its own transaction.
    pub own: f64,
    /// Write units of what the stream processors add.
    pub derived: f64,
    /// Calls per second.
    pub per_second: f64,
}

impl ReadLine {
    pub(super) fn of(rate: &ReadRate) -> Result<Self, CapacityError> {
        Ok(Self {
            pattern: rate.pattern.name,
            how: rate.how()?,
            units: rate.units()?,
            per_second: rate.per_second,
        })
    }

    /// Read units per second.
    pub fn units_per_second(&self) -> f64 {
        self.units * self.per_second
    }
}

impl WriteLine {
    /// Write units of one call, with what follows from it.
    pub fn units(&self) -> f64 {
        self.own + self.derived
    }

    /// Write units per second.
    pub fn units_per_second(&self) -> f64 {
        self.units() * self.per_second
    }
}

/// Works out what `rates` come to at `prices`.
pub fn plan(rates: &Rates, prices: &Prices) -> Result<Plan, CapacityError> {
    let reads = rates.reads.iter().map(ReadLine::of).collect::<Result<_, _>>()?;
    let writes = rates.writes.iter().map(|rate| {
        Ok(WriteLine {
            mutation: rate.mutation.name,
            own: rate.mutation.own_units(&rate.counts)?,
            derived: rate.mutation.derived_units(&rate.counts)?,
            per_second: rate.per_second,
        })
    });
    Ok(Plan {
        name: rates.name.clone(),
        estimate: rates.estimate,
        reads,
        writes: writes.collect::<Result<_, CapacityError>>()?,
        prices: prices.clone(),
    })
}

impl Plan {
    /// Read units per second, in total.
    pub fn read_units(&self) -> f64 {
        self.reads.iter().map(ReadLine::units_per_second).sum()
    }

    /// Write units per second, in total.
    pub fn write_units(&self) -> f64 {
        self.writes.iter().map(WriteLine::units_per_second).sum()
    }

    /// What a month of it costs.
    pub fn month(&self) -> f64 {
        self.month_of_reads() + self.month_of_writes()
    }

    /// What a month of reading costs.
    pub fn month_of_reads(&self) -> f64 {
        self.prices.month_of_reads(self.read_units())
    }

    /// What a month of writing costs.
    pub fn month_of_writes(&self) -> f64 {
        self.prices.month_of_writes(self.write_units())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.name)?;
        let titles = ["read", "how", "units/call", "calls/s", "units/s"];
        let mut reads = Columns::new(2, &titles);
        for line in &self.reads {
            let ReadLine { pattern, how, units, per_second } = line;
            let figures = [*units, *per_second, line.units_per_second()];
            reads.row(&[pattern, how], &figures.map(Some));
        }
        reads.row(&["total", ""], &[None, None, Some(self.read_units())]);
        if let Some(estimate) = self.estimate {
            reads.row(&["estimated", ""], &[None, None, Some(estimate.read)]);
        }
        writeln!(f, "{reads}")?;
        let titles = ["write", "own/call", "derived/call", "calls/s", "units/s"];
        let mut writes = Columns::new(1, &titles);
        for line in &self.writes {
            let figures = [line.own, line.derived, line.per_second, line.units_per_second()];
            writes.row(&[line.mutation], &figures.map(Some));
        }
        writes.row(&["total"], &[None, None, None, Some(self.write_units())]);
        if let Some(estimate) = self.estimate {
            writes.row(&["estimated"], &[None, None, None, Some(estimate.write)]);
        }
        writeln!(f, "{writes}")?;
        let (reads, writes) = (money(self.month_of_reads()), money(self.month_of_writes()));
        let prices = &self.prices;
        writeln!(
            f,
            "a month of 730 hours: {reads} for reads + {writes} for writes = {} {}",
            money(self.month()),
            prices.currency,
        )?;
        writeln!(
            f,
            "on demand in {} since {}: {} a million read units, {} a million write units",
            prices.region, prices.date, prices.read_per_million, prices.write_per_million,
        )
    }
}
