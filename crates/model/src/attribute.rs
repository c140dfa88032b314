//! Conversion between field values and item attributes. A value that does not fit is refused with
//! an [`InvalidValue`], never coerced.

mod kinds;
mod primitives;
#[cfg(test)]
mod sample;
mod text;

use std::fmt::{self, Write};

use roundtable_table::{ItemBuilder, Value, ValueRef, ValueSlot};

pub use self::kinds::{Expiry, Json, Percentage, Secret};
#[cfg(test)]
pub(crate) use self::sample::{Sample, round_trips, sample_of, sample_text, seeded};
pub(crate) use self::text::{TextValue, deserialize_text, read_text, text_like};

/// A value that can be stored as an attribute.
pub trait Attribute: Sized {
    /// The kind of value, for error messages and documentation: `text`, `time`, `list of UserId`.
    const KIND: &'static str;
    const OPTIONAL: bool = false;

    /// Writes the attribute into `slot`; an absent value leaves the slot empty.
    fn fill(&self, slot: ValueSlot<'_>);

    /// Reads the attribute; `None` means that it is absent.
    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue>;

    /// Returns the attribute on its own; `None` if it is to be absent.
    fn to_value(&self) -> Option<Value> {
        const NAME: &str = "value";
        let mut item = ItemBuilder::new();
        self.fill(item.slot(NAME));
        item.build().get(NAME).map(ValueRef::to_value)
    }
}

/// The error for a value that a field, a key part or an argument does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct InvalidValue {
    pub expected: &'static str,
    /// The value that was found, truncated.
    pub found: String,
}

/// The longest `found`: enough to recognize a value, too short to flood a log.
const FOUND_CHARS_MAX: usize = 80;

impl InvalidValue {
    /// Returns an error with `found` truncated and its control characters escaped.
    pub fn new(expected: &'static str, found: impl fmt::Display) -> Self {
        let mut truncated = TruncatedText { text: String::new(), chars_left: FOUND_CHARS_MAX };
        // Fails only once the text is full; the rest need not be formatted.
        if write!(truncated, "{found}").is_err() {
            truncated.text.push('…');
        }
        Self { expected, found: truncated.text }
    }

    /// Returns an error that quotes a text and names the problem with it.
    pub fn in_text(expected: &'static str, wrong: impl fmt::Display, text: &str) -> Self {
        Self::new(expected, format_args!("{wrong} in \"{text}\""))
    }

    /// Returns an error for an attribute of another kind, or an absent one.
    pub fn of_value(expected: &'static str, value: Option<ValueRef<'_>>) -> Self {
        match value {
            None => Self::new(expected, "nothing"),
            Some(ValueRef::S(text)) => Self::new(expected, format_args!("the text \"{text}\"")),
            Some(ValueRef::N(number)) => Self::new(expected, number),
            Some(ValueRef::Bool(truth)) => Self::new(expected, truth),
            Some(other) => Self::of_kind(expected, Some(other)),
        }
    }

    /// Like [`InvalidValue::of_value`], but without the value, which may be secret.
    pub fn of_kind(expected: &'static str, value: Option<ValueRef<'_>>) -> Self {
        match value {
            None => Self::new(expected, "nothing"),
            Some(value) => Self::new(expected, format_args!("a value of type {}", value.kind())),
        }
    }
}

/// A writer that escapes control characters and fails once it is full.
struct TruncatedText {
    text: String,
    chars_left: usize,
}

impl Write for TruncatedText {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for char in more.chars() {
            self.chars_left = self.chars_left.checked_sub(1).ok_or(fmt::Error)?;
            if is_control(char) {
                self.text.extend(char.escape_default());
            } else {
                self.text.push(char);
            }
        }
        Ok(())
    }
}

/// Returns whether a character controls how text is displayed: no key part holds one, and no error
/// prints one. The two separators break lines as control characters do.
pub(crate) fn is_control(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use roundtable_table::item;

    use super::*;

    #[test]
    fn an_error_names_the_expected_and_the_found_value() {
        let error = InvalidValue::new("a day", "\"hello\"");
        assert_eq!(error.to_string(), "expected a day, found \"hello\"");
        let error = InvalidValue::in_text("an id", "`#`", "a#b");
        assert_eq!(error.to_string(), "expected an id, found `#` in \"a#b\"");
    }

    #[test]
    fn the_found_value_is_truncated_and_escaped() {
        let found = |text: String| InvalidValue::new("less", text).found;
        assert_eq!(found("x".repeat(1_000_000)), format!("{}…", "x".repeat(FOUND_CHARS_MAX)));
        assert_eq!(found("é".repeat(FOUND_CHARS_MAX)), "é".repeat(FOUND_CHARS_MAX));
        let text = "a\u{1b}[31m\n\u{85}\u{2028}b".to_owned();
        assert_eq!(found(text), "a\\u{1b}[31m\\n\\u{85}\\u{2028}b");
    }

    #[test]
    fn values_are_described_in_words() {
        let item = item! {
            "text" => "hm", "number" => 5, "truth" => true, "list" => Value::list(["a"]),
        };
        let found = |name| InvalidValue::of_value("x", item.get(name)).found;
        assert_eq!(found("text"), "the text \"hm\"");
        assert_eq!(found("number"), "5");
        assert_eq!(found("truth"), "true");
        assert_eq!(found("list"), "a value of type L");
        assert_eq!(found("absent"), "nothing");
        assert_eq!(InvalidValue::of_kind("x", item.get("text")).found, "a value of type S");
    }
}
