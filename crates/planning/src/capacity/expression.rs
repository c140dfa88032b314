//! Numbers that depend on counts: `1 + 2 tags - 0.5 any feeds`.

use std::fmt;

use serde::Deserialize;

use super::mutations::CountValues;

/// A sum of a constant and of multiples of counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct CountExpression {
    text: String,
    constant: f64,
    terms: Vec<CountTerm>,
}

#[derive(Clone, Debug)]
struct CountTerm {
    factor: f64,
    count: String,
    /// Counts whether there are any, and not how many.
    any: bool,
}

impl CountExpression {
    /// Returns the value; never less than zero.
    pub fn value(&self, counts: &CountValues) -> f64 {
        let term = |term: &CountTerm| {
            let count = counts.get(term.count.as_str()).copied().unwrap_or_default();
            term.factor * if term.any { count.min(1.0) } else { count }
        };
        (self.constant + self.terms.iter().map(term).sum::<f64>()).max(0.0)
    }

    /// Returns whether the value is the same for all counts.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the names of the counts it depends on.
    pub fn counts(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.count.as_str())
    }
}

impl fmt::Display for CountExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for CountExpression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (mut constant, mut terms) = (0.0, Vec::new());
        let signed = text.replace(" - ", " + -");
        for term in signed.split(" + ") {
            let (sign, term) = match term.strip_prefix('-') {
                Some(rest) => (-1.0, rest),
                None => (1.0, term),
            };
            let mut words = term.split(' ').peekable();
            let number =
                words.next_if(|word| word.starts_with(|first: char| first.is_ascii_digit()));
            let factor = number.map_or(Ok(1.0), str::parse::<f64>);
            let factor = sign * factor.map_err(|error| format!("{text:?}: {error}"))?;
            let any = words.next_if_eq(&"any").is_some();
            match (words.next(), words.next()) {
                (Some(count), None) if is_name(count) => {
                    terms.push(CountTerm { factor, count: count.to_owned(), any });
                }
                (None, None) if number.is_some() && !any => constant += factor,
                _ => return Err(format!("{text:?}: {term:?} is not a number or a count")),
            }
        }
        Ok(Self { text, constant, terms })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let counts = CountValues::from([("tags", 3.0), ("share", 0.5)]);
        CountExpression::try_from(text.to_owned()).unwrap().value(&counts)
    }

    #[test]
    fn a_sum_of_counts_has_a_value() {
        for (text, expected) in [
            ("0", 0.0),
            ("2.5", 2.5),
            ("tags", 3.0),
            ("1 + 2 tags", 7.0),
            ("7 - 2 tags + share", 1.5),
            ("any tags + any share", 1.5),
            ("-tags + 4", 1.0),
            ("1 - tags", 0.0),
            ("unknown", 0.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-9, "{text}: {}", value(text));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "1 +", "two tags", "any", "1 2", "1x"] {
            assert!(CountExpression::try_from(text.to_owned()).is_err(), "{text:?}");
        }
    }
}
