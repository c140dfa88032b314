//! Numbers of a TOML of rates: each read with its key, so that a refusal names it.

use toml::Value;

use super::CapacityError;
use super::nearest::nearest;
use crate::shape::PatternShape;

/// The largest rate or count taken: more is a slip, and sums stay exact below it.
const NUMBER_MAX: f64 = 1e9;

/// How much of a text a refusal quotes.
const FOUND_CHARS_MAX: usize = 40;

/// The place in the file that values are read from.
pub(super) struct Settings<'a> {
    /// Its path, as a refusal shows it.
    pub(super) at: &'a str,
}

impl Settings<'_> {
    /// A rate written as a plain number.
    pub(super) fn rate(&self, value: &Value) -> Result<f64, CapacityError> {
        let expected = "calls per second: a number, or a table with a `rate`";
        let number = plain(value).ok_or_else(|| self.refused("", expected, value))?;
        within(number, NUMBER_MAX)
            .ok_or_else(|| self.refused("", "calls per second: zero or more, at most 1e9", value))
    }

    /// A number that must be there.
    pub(super) fn number(&self, name: &str, value: Option<&Value>) -> Result<f64, CapacityError> {
        let expected = "a number of zero or more, at most 1e9";
        let Some(value) = value else {
            let key = self.key(name);
            return Err(CapacityError::Value { key, expected, found: String::from("nothing") });
        };
        let number = plain(value).and_then(|number| within(number, NUMBER_MAX));
        number.ok_or_else(|| self.refused(name, expected, value))
    }

    /// A part of a whole.
    pub(super) fn share(&self, name: &str, value: &Value) -> Result<f64, CapacityError> {
        let number = plain(value).and_then(|number| within(number, 1.0));
        number.ok_or_else(|| self.refused(name, "a share from 0 to 1", value))
    }

    /// The share that is found. A filter that nothing passes would never fill a page.
    pub(super) fn found(
        &self,
        pattern: &PatternShape,
        value: &Value,
    ) -> Result<f64, CapacityError> {
        let share = self.share("found", value)?;
        if pattern.filter.is_some() && share < 0.001 {
            return Err(self.refused("found", "a share from 0.001 to 1", value));
        }
        Ok(share)
    }

    /// How many of something there are: at least one.
    pub(super) fn count(&self, name: &str, value: &Value) -> Result<u32, CapacityError> {
        let whole = value.as_integer().and_then(|number| u32::try_from(number).ok());
        let whole = whole.filter(|number| (1..=1_000_000).contains(number));
        whole.ok_or_else(|| self.refused(name, "a whole number from 1 to 1,000,000", value))
    }

    /// Yes or no.
    pub(super) fn truth(&self, name: &str, value: &Value) -> Result<bool, CapacityError> {
        value.as_bool().ok_or_else(|| self.refused(name, "true or false", value))
    }

    /// The refusal of a setting that has no meaning here.
    pub(super) fn unknown(
        &self,
        name: &str,
        names: impl Iterator<Item = &'static str>,
    ) -> CapacityError {
        let nearest = nearest(name, names);
        CapacityError::Unknown { key: self.key(name), what: "setting here", nearest }
    }

    fn refused(&self, name: &str, expected: &'static str, value: &Value) -> CapacityError {
        let found = match value {
            Value::String(text) if text.chars().count() > FOUND_CHARS_MAX => {
                format!("\"{}…\"", text.chars().take(FOUND_CHARS_MAX).collect::<String>())
            }
            Value::String(text) => format!("\"{text}\""),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            other => format!("a value of type {}", other.type_str()),
        };
        CapacityError::Value { key: self.key(name), expected, found }
    }

    fn key(&self, name: &str) -> String {
        let dot = if name.is_empty() || self.at.ends_with(' ') { "" } else { "." };
        format!("{}{dot}{name}", self.at)
    }
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^52 it is refused as too large anyway")]
fn plain(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn within(number: f64, max: f64) -> Option<f64> {
    (number.is_finite() && (0.0..=max).contains(&number)).then_some(number)
}
