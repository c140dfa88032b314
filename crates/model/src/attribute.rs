//! How a field's value becomes an attribute of an item, and back. What does not fit is refused with a
//! [`Misfit`], never guessed at.

mod kinds;
mod plain;
#[cfg(test)]
mod sample;
mod text;

use std::fmt::{self, Write};

use roundtable_table::{ItemBuilder, Slot, Value, ValueRef};

pub use self::kinds::{Expiry, Json, Percentage, Secret};
#[cfg(test)]
pub(crate) use self::sample::{Sample, round_trips, sample_of, sample_text, seeded};
pub(crate) use self::text::{Text, deserialize_text, read_text, text_like};

/// A value that can be an attribute.
pub trait Attribute: Sized {
    /// What it holds, for people: `text`, `time`, `list of UserId`.
    const KIND: &'static str;
    /// Whether it may be absent.
    const OPTIONAL: bool = false;

    /// Puts the attribute into its place, or leaves that where it is to be absent.
    fn fill(&self, slot: Slot<'_>);

    /// Reads the attribute; `None` where it is absent.
    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, Misfit>;

    /// The attribute on its own; `None` where it is to be absent.
    fn to_value(&self) -> Option<Value> {
        const NAME: &str = "value";
        let mut item = ItemBuilder::new();
        self.fill(item.slot(NAME));
        item.build().get(NAME).map(ValueRef::to_value)
    }
}

/// Why a value is not what a field, a key part or an argument must be: what was expected, and what
/// was found instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct Misfit {
    /// What would have been right.
    pub expected: &'static str,
    /// What was there, shortened.
    pub found: String,
}

/// Characters of `found`: enough to recognise a value, too few to fill a log with.
const FOUND_CHARS_MAX: usize = 80;

impl Misfit {
    /// A misfit; what was found is shortened, and its control characters are escaped.
    pub fn new(expected: &'static str, found: impl fmt::Display) -> Self {
        let mut shown = Shown { text: String::new(), chars_left: FOUND_CHARS_MAX };
        // Fails only once the text is full: what follows is not worth formatting.
        if write!(shown, "{found}").is_err() {
            shown.text.push('…');
        }
        Self { expected, found: shown.text }
    }

    /// A misfit that quotes a text, with a word on what is wrong with it.
    pub fn in_text(expected: &'static str, wrong: impl fmt::Display, text: &str) -> Self {
        Self::new(expected, format_args!("{wrong} in \"{text}\""))
    }

    /// A misfit of an attribute that holds another kind of value, or none.
    pub fn of_value(expected: &'static str, value: Option<ValueRef<'_>>) -> Self {
        match value {
            None => Self::new(expected, "nothing"),
            Some(ValueRef::S(text)) => Self::new(expected, format_args!("the text \"{text}\"")),
            Some(ValueRef::N(number)) => Self::new(expected, number),
            Some(ValueRef::Bool(truth)) => Self::new(expected, truth),
            Some(other) => Self::of_kind(expected, Some(other)),
        }
    }

    /// As [`Misfit::of_value`], but without the value: for what must not be seen.
    pub fn of_kind(expected: &'static str, value: Option<ValueRef<'_>>) -> Self {
        match value {
            None => Self::new(expected, "nothing"),
            Some(value) => Self::new(expected, format_args!("a value of type {}", value.kind())),
        }
    }
}

/// A text that escapes control characters and ends where it is long enough.
struct Shown {
    text: String,
    chars_left: usize,
}

impl Write for Shown {
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

/// Whether a character controls how text is shown instead of being shown: no key part holds one, and
/// no error prints one. The two separators break lines as the control characters do.
pub(crate) fn is_control(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use roundtable_table::item;

    use super::*;

    #[test]
    fn a_misfit_says_what_was_expected_and_what_was_found() {
        let misfit = Misfit::new("a day", "\"hello\"");
        assert_eq!(misfit.to_string(), "expected a day, found \"hello\"");
        let misfit = Misfit::in_text("an id", "`#`", "a#b");
        assert_eq!(misfit.to_string(), "expected an id, found `#` in \"a#b\"");
    }

    #[test]
    fn what_was_found_is_shortened_and_escaped() {
        let misfit = Misfit::new("less", "x".repeat(1_000_000));
        assert_eq!(misfit.found, format!("{}…", "x".repeat(FOUND_CHARS_MAX)));
        let misfit = Misfit::new("less", "é".repeat(FOUND_CHARS_MAX));
        assert_eq!(misfit.found, "é".repeat(FOUND_CHARS_MAX));
        let misfit = Misfit::new("calm", "a\u{1b}[31m\n\u{85}\u{2028}b");
        assert_eq!(misfit.found, "a\\u{1b}[31m\\n\\u{85}\\u{2028}b");
    }

    #[test]
    fn values_are_described_in_words() {
        let item = item! {
            "text" => "hm", "number" => 5, "truth" => true, "list" => Value::list(["a"]),
        };
        let found = |name| Misfit::of_value("x", item.get(name)).found;
        assert_eq!(found("text"), "the text \"hm\"");
        assert_eq!(found("number"), "5");
        assert_eq!(found("truth"), "true");
        assert_eq!(found("list"), "a value of type L");
        assert_eq!(found("absent"), "nothing");
        assert_eq!(Misfit::of_kind("x", item.get("text")).found, "a value of type S");
    }
}
