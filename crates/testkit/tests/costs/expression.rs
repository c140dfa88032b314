//! Numbers that depend on counts: `1 + 2 tags + any feeds`.

use std::fmt;

/// A count that varies from call to call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) name: &'static str,
    /// The value that the capacity plan assumes unless told otherwise.
    pub(crate) usual: f64,
    /// The values at which the mutation is recorded, beginning with that of all other recordings.
    pub(crate) values: &'static [u32],
}

/// Something that each call does or does not.
pub(crate) const fn share(name: &'static str, usual: f64) -> Count {
    Count { name, usual, values: &[0, 1] }
}

/// A number whose first may cost more than each further one.
pub(crate) const fn number(name: &'static str, usual: f64) -> Count {
    Count { name, usual, values: &[0, 1, 2] }
}

/// A number that is never zero.
pub(crate) const fn at_least_one(name: &'static str, usual: f64) -> Count {
    Count { name, usual, values: &[1, 2] }
}

/// A constant, and two factors for each count: of its value, and of there being any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expression {
    constant: f64,
    terms: Vec<(f64, String)>,
}

impl Expression {
    pub(crate) fn constant(constant: f64) -> Self {
        Self { constant, terms: Vec::new() }
    }

    /// Adds the terms of a count, given what was recorded at each of its values.
    pub(crate) fn with(mut self, count: &Count, recorded: &[f64]) -> Self {
        let (factor, step) = match *recorded {
            [none, one] => (one - none, 0.0),
            [none, one, two] => (two - one, one - none - (two - one)),
            _ => panic!("{} is recorded at two or three values", count.name),
        };
        self.constant -= factor * f64::from(count.values[0]);
        self.add(factor, count.name.into());
        self.add(step, format!("any {}", count.name));
        self
    }

    fn add(&mut self, factor: f64, term: String) {
        if factor != 0.0 {
            self.terms.push((factor, term));
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.constant != 0.0 || self.terms.is_empty() {
            write!(f, "{}", self.constant)?;
        }
        for (at, (factor, term)) in self.terms.iter().enumerate() {
            match (at == 0 && self.constant == 0.0, *factor < 0.0) {
                (true, true) => write!(f, "-")?,
                (true, false) => {}
                (false, true) => write!(f, " - ")?,
                (false, false) => write!(f, " + ")?,
            }
            let factor = factor.abs().to_string();
            if factor != "1" {
                write!(f, "{factor} ")?;
            }
            write!(f, "{term}")?;
        }
        Ok(())
    }
}
