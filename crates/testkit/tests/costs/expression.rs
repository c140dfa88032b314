//! Numbers that depend on counts: `1 + 2 tags`.

use std::collections::BTreeMap;
use std::fmt;

/// A constant, and a factor for each count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expression {
    constant: f64,
    factors: BTreeMap<&'static str, f64>,
}

impl Expression {
    /// Derives the expression from its value with all counts zero, and its value with each count
    /// one.
    pub(crate) fn fit(base: f64, with_one: impl Iterator<Item = (&'static str, f64)>) -> Self {
        let factors = with_one.map(|(count, value)| (count, value - base));
        let factors = factors.filter(|(_, factor)| *factor != 0.0).collect();
        Self { constant: base, factors }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.constant == 0.0 && self.factors.is_empty()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        if self.constant != 0.0 || self.factors.is_empty() {
            write!(f, "{}", self.constant)?;
            first = false;
        }
        for (count, factor) in &self.factors {
            match (first, *factor < 0.0) {
                (true, true) => write!(f, "-")?,
                (true, false) => {}
                (false, true) => write!(f, " - ")?,
                (false, false) => write!(f, " + ")?,
            }
            first = false;
            if factor.abs() != 1.0 {
                write!(f, "{} ", factor.abs())?;
            }
            write!(f, "{count}")?;
        }
        Ok(())
    }
}
