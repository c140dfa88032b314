//! How long the expressions of a request are as text, at most. The text itself is the `dynamo`
//! backend's; a limit that depended on the backend would show on the day of the move.

use super::Checked;
use crate::limits::{self, Limit};
use crate::update::Action;
use crate::{Condition, Invalid, Operand, Path, Step, Term};

/// What the backend adds to an expression, at most: the words that hide expired items, or the keys
/// that a projection leaves out.
const ADDED_BYTES: usize = 64;
/// Placeholders it adds to a request: for those, and for the key of a query.
const ADDED_PLACEHOLDERS: usize = 16;

/// An expression: its words, and the placeholders between them, each time they occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    words: usize,
    placeholders: usize,
}

/// Refuses expressions of one request of which one is too long. They share their placeholders, and
/// the more there are, the longer is each.
pub(super) fn check_texts(texts: &[Text], subject: &dyn Fn() -> String) -> Checked {
    let placeholders: usize = texts.iter().map(|text| text.placeholders).sum();
    let width = 1 + digits(placeholders + ADDED_PLACEHOLDERS);
    let longest = texts.iter().map(|text| text.words + text.placeholders * width).max();
    let (actual, max) = (longest.unwrap_or(0) + ADDED_BYTES, limits::EXPRESSION_BYTES_MAX);
    if actual <= max {
        return Ok(());
    }
    Err(Invalid::OverLimit { limit: Limit::ExpressionBytes, actual, max, subject: subject() })
}

impl Text {
    pub(super) fn of(condition: &Condition) -> Self {
        match condition {
            Condition::Compare(left, _, right) => words(" <= ") + operand(left) + operand(right),
            Condition::Between(first, low, high) => {
                words(" BETWEEN  AND ") + operand(first) + operand(low) + operand(high)
            }
            Condition::In(first, others) => {
                words(" IN ()") + operand(first) + joined(others.iter().map(operand), ", ")
            }
            Condition::Exists(at) => words("attribute_exists()") + path(at),
            Condition::NotExists(at) => words("attribute_not_exists()") + path(at),
            Condition::IsA(at, _) => words("attribute_type(, )") + path(at) + PLACEHOLDER,
            Condition::BeginsWith(at, other) => {
                words("begins_with(, )") + path(at) + operand(other)
            }
            Condition::Contains(at, other) => words("contains(, )") + path(at) + operand(other),
            Condition::All(inner) => joined(inner.iter().map(enclosed), " AND "),
            Condition::Any(inner) => joined(inner.iter().map(Self::of), " OR "),
            Condition::Not(inner) => words("NOT ()") + Self::of(inner),
        }
    }

    pub(super) fn of_actions(actions: &[Action]) -> Self {
        let each = actions.iter().map(|action| match action {
            Action::Set(at, value) => words(" = ") + path(at) + term(value),
            Action::Remove(at) => path(at),
            Action::Add(at, _) | Action::Subtract(at, _) => words(" ") + path(at) + PLACEHOLDER,
        });
        words("SET  REMOVE  ADD  DELETE ") + joined(each, ", ")
    }

    pub(super) fn of_paths(paths: &[Path]) -> Self {
        joined(paths.iter().map(path), ", ")
    }
}

impl std::ops::Add for Text {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            placeholders: self.placeholders + other.placeholders,
        }
    }
}

const PLACEHOLDER: Text = Text { words: 0, placeholders: 1 };

const fn words(text: &str) -> Text {
    Text { words: text.len(), placeholders: 0 }
}

fn joined(texts: impl Iterator<Item = Text>, by: &str) -> Text {
    texts.fold(Text::default(), |all, text| all + text + words(by))
}

/// A condition joined to others by AND: alternatives need parentheses there.
fn enclosed(condition: &Condition) -> Text {
    match condition {
        Condition::Any(_) | Condition::All(_) => words("()") + Text::of(condition),
        _ => Text::of(condition),
    }
}

fn path(path: &Path) -> Text {
    path.steps().iter().fold(PLACEHOLDER, |text, step| match step {
        Step::Field(_) => text + words(".") + PLACEHOLDER,
        Step::Index(index) => text + Text { words: 2 + digits(*index), placeholders: 0 },
    })
}

fn operand(operand: &Operand) -> Text {
    match operand {
        Operand::Path(at) => path(at),
        Operand::Value(_) => PLACEHOLDER,
        Operand::Size(at) => words("size()") + path(at),
    }
}

fn term(of: &Term) -> Text {
    match of {
        Term::Value(_) => PLACEHOLDER,
        Term::Path(at) => path(at),
        Term::IfNotExists(at, other) => words("if_not_exists(, )") + path(at) + term(other),
        Term::ListAppend(first, second) => words("list_append(, )") + term(first) + term(second),
        Term::Plus(left, right) | Term::Minus(left, right) => {
            words(" + ") + term(left) + term(right)
        }
    }
}

/// Decimal digits, at least one.
fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attribute, exists};

    fn bytes(text: Text) -> usize {
        text.words + text.placeholders * 2
    }

    #[test]
    fn a_text_is_no_shorter_than_it_will_be() {
        let condition = attribute("a").eq(1).or(exists(Path::new("b").index(12).field("c")));
        let shown = "#0 = :0 OR attribute_exists(#1[12].#2)";
        let bound = bytes(Text::of(&condition));
        assert!((shown.len()..shown.len() + 8).contains(&bound), "{bound}");
        let actions = [Action::Set("a".into(), Term::if_not_exists("a", 0).plus(1))];
        let shown = "SET #0 = if_not_exists(#0, :0) + :1";
        assert!(bytes(Text::of_actions(&actions)) >= shown.len());
        assert!(bytes(Text::of_paths(&["a".into(), "b".into()])) >= "#0, #1".len());
    }

    #[test]
    fn placeholders_grow_with_their_number() {
        let many = Text { words: 0, placeholders: 900 };
        assert!(check_texts(&[many], &String::new).is_ok());
        assert!(check_texts(&[many, many], &String::new).is_err(), "five bytes each");
        assert!(check_texts(&[Text::default()], &String::new).is_ok());
    }
}
