//! Reads the numbers of a rates file together with their keys, which errors name.

use roundtable_model::shape::PatternShape;
use toml::Value;

use super::CapacityError;
use super::nearest::nearest;

/// The largest accepted rate or count: more is a mistake, and sums stay exact below it.
const NUMBER_MAX: f64 = 1e9;

/// The longest text that an error quotes.
const FOUND_CHARS_MAX: usize = 40;

/// A reader of the settings under one key of the file.
pub(super) struct SettingReader<'a> {
    /// The path of the key, as errors show it.
    pub(super) at: &'a str,
}

impl SettingReader<'_> {
    /// Reads a rate written as a plain number.
    pub(super) fn rate(&self, value: &Value) -> Result<f64, CapacityError> {
        let expected = "calls per second: a number, or a table with a `rate`";
        let number = as_number(value).ok_or_else(|| self.invalid("", expected, value))?;
        within(number, NUMBER_MAX)
            .ok_or_else(|| self.invalid("", "calls per second: zero or more, at most 1e9", value))
    }

    /// Reads a required number.
    pub(super) fn number(&self, name: &str, value: Option<&Value>) -> Result<f64, CapacityError> {
        let expected = "a number of zero or more, at most 1e9";
        let Some(value) = value else {
            let key = self.key(name);
            return Err(CapacityError::Value { key, expected, found: String::from("nothing") });
        };
        let number = as_number(value).and_then(|number| within(number, NUMBER_MAX));
        number.ok_or_else(|| self.invalid(name, expected, value))
    }

    /// Reads a share from 0 to 1.
    pub(super) fn share(&self, name: &str, value: &Value) -> Result<f64, CapacityError> {
        let number = as_number(value).and_then(|number| within(number, 1.0));
        number.ok_or_else(|| self.invalid(name, "a share from 0 to 1", value))
    }

    /// Reads the share of found items. A filter that no item passes would never fill a page.
    pub(super) fn found_share(
        &self,
        pattern: &PatternShape,
        value: &Value,
    ) -> Result<f64, CapacityError> {
        let share = self.share("found", value)?;
        if pattern.filter.is_some() && share < 0.001 {
            return Err(self.invalid("found", "a share from 0.001 to 1", value));
        }
        Ok(share)
    }

    /// Reads a count of at least one.
    pub(super) fn count(&self, name: &str, value: &Value) -> Result<u32, CapacityError> {
        let whole = value.as_integer().and_then(|number| u32::try_from(number).ok());
        let whole = whole.filter(|number| (1..=1_000_000).contains(number));
        whole.ok_or_else(|| self.invalid(name, "a whole number from 1 to 1,000,000", value))
    }

    pub(super) fn boolean(&self, name: &str, value: &Value) -> Result<bool, CapacityError> {
        value.as_bool().ok_or_else(|| self.invalid(name, "true or false", value))
    }

    /// Returns the error for an unknown setting.
    pub(super) fn unknown(
        &self,
        name: &str,
        names: impl Iterator<Item = &'static str>,
    ) -> CapacityError {
        let nearest = nearest(name, names);
        CapacityError::Unknown { key: self.key(name), what: "setting here", nearest }
    }

    fn invalid(&self, name: &str, expected: &'static str, value: &Value) -> CapacityError {
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
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn within(number: f64, max: f64) -> Option<f64> {
    (number.is_finite() && (0.0..=max).contains(&number)).then_some(number)
}
