//! An upper bound for the length of a request's expressions as text. Only the `dynamo` backend renders
//! them, but the limit holds for every backend, or a move to DynamoDB would break working requests.

use super::CheckResult;
use crate::limits::{self, Limit};
use crate::update::UpdateAction;
use crate::{Condition, Invalid, Operand, Path, PathStep, Term};

/// Most bytes the backend adds to an expression: the condition that hides expired items, or the keys
/// that a projection leaves out.
const ADDED_BYTES: usize = 64;
/// Most placeholders it adds to a request: for those, and for the key of a query.
const ADDED_PLACEHOLDERS: usize = 16;

/// The length of an expression: bytes of plain text, and number of placeholders with repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExpressionLength {
    plain_bytes: usize,
    placeholders: usize,
}

/// Rejects a request with an expression that is too long. All its expressions share one numbering of
/// placeholders: the more there are, the longer each one is.
pub(super) fn check_lengths(
    texts: &[ExpressionLength],
    subject: &dyn Fn() -> String,
) -> CheckResult {
    let placeholders: usize = texts.iter().map(|text| text.placeholders).sum();
    let width = 1 + digits(placeholders + ADDED_PLACEHOLDERS);
    let longest = texts.iter().map(|text| text.plain_bytes + text.placeholders * width).max();
    let (actual, max) = (longest.unwrap_or(0) + ADDED_BYTES, limits::EXPRESSION_BYTES_MAX);
    if actual <= max {
        return Ok(());
    }
    Err(Invalid::OverLimit { limit: Limit::ExpressionBytes, actual, max, subject: subject() })
}

impl ExpressionLength {
    pub(super) fn of(condition: &Condition) -> Self {
        match condition {
            Condition::Compare(left, _, right) => plain(" <= ") + operand(left) + operand(right),
            Condition::Between(first, low, high) => {
                plain(" BETWEEN  AND ") + operand(first) + operand(low) + operand(high)
            }
            Condition::In(first, others) => {
                plain(" IN ()") + operand(first) + joined(others.iter().map(operand), ", ")
            }
            Condition::Exists(at) => plain("attribute_exists()") + path(at),
            Condition::NotExists(at) => plain("attribute_not_exists()") + path(at),
            Condition::IsA(at, _) => plain("attribute_type(, )") + path(at) + PLACEHOLDER,
            Condition::BeginsWith(at, other) => {
                plain("begins_with(, )") + path(at) + operand(other)
            }
            Condition::Contains(at, other) => plain("contains(, )") + path(at) + operand(other),
            Condition::All(inner) => joined(inner.iter().map(enclosed), " AND "),
            Condition::Any(inner) => joined(inner.iter().map(Self::of), " OR "),
            Condition::Not(inner) => plain("NOT ()") + Self::of(inner),
        }
    }

    pub(super) fn of_actions(actions: &[UpdateAction]) -> Self {
        let each = actions.iter().map(|action| match action {
            UpdateAction::Set(at, value) => plain(" = ") + path(at) + term(value),
            UpdateAction::Remove(at) => path(at),
            UpdateAction::Add(at, _) | UpdateAction::Subtract(at, _) => {
                plain(" ") + path(at) + PLACEHOLDER
            }
        });
        plain("SET  REMOVE  ADD  DELETE ") + joined(each, ", ")
    }

    pub(super) fn of_paths(paths: &[Path]) -> Self {
        joined(paths.iter().map(path), ", ")
    }
}

impl std::ops::Add for ExpressionLength {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            plain_bytes: self.plain_bytes + other.plain_bytes,
            placeholders: self.placeholders + other.placeholders,
        }
    }
}

const PLACEHOLDER: ExpressionLength = ExpressionLength { plain_bytes: 0, placeholders: 1 };

const fn plain(text: &str) -> ExpressionLength {
    ExpressionLength { plain_bytes: text.len(), placeholders: 0 }
}

fn joined(texts: impl Iterator<Item = ExpressionLength>, by: &str) -> ExpressionLength {
    texts.fold(ExpressionLength::default(), |all, text| all + text + plain(by))
}

/// The length of a condition within an AND, where alternatives need parentheses.
fn enclosed(condition: &Condition) -> ExpressionLength {
    match condition {
        Condition::Any(_) | Condition::All(_) => plain("()") + ExpressionLength::of(condition),
        _ => ExpressionLength::of(condition),
    }
}

fn path(path: &Path) -> ExpressionLength {
    path.steps().iter().fold(PLACEHOLDER, |text, step| match step {
        PathStep::Field(_) => text + plain(".") + PLACEHOLDER,
        PathStep::Index(index) => {
            text + ExpressionLength { plain_bytes: 2 + digits(*index), placeholders: 0 }
        }
    })
}

fn operand(operand: &Operand) -> ExpressionLength {
    match operand {
        Operand::Path(at) => path(at),
        Operand::Value(_) => PLACEHOLDER,
        Operand::Size(at) => plain("size()") + path(at),
    }
}

fn term(of: &Term) -> ExpressionLength {
    match of {
        Term::Value(_) => PLACEHOLDER,
        Term::Path(at) => path(at),
        Term::IfNotExists(at, other) => plain("if_not_exists(, )") + path(at) + term(other),
        Term::ListAppend(first, second) => plain("list_append(, )") + term(first) + term(second),
        Term::Plus(left, right) | Term::Minus(left, right) => {
            plain(" + ") + term(left) + term(right)
        }
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attribute, exists};

    fn bytes(text: ExpressionLength) -> usize {
        text.plain_bytes + text.placeholders * 2
    }

    #[test]
    fn the_bound_is_no_shorter_than_the_rendered_text() {
        let condition = attribute("a").eq(1).or(exists(Path::new("b").index(12).field("c")));
        let shown = "#0 = :0 OR attribute_exists(#1[12].#2)";
        let bound = bytes(ExpressionLength::of(&condition));
        assert!((shown.len()..shown.len() + 8).contains(&bound), "{bound}");
        let actions = [UpdateAction::Set("a".into(), Term::if_not_exists("a", 0).plus(1))];
        let shown = "SET #0 = if_not_exists(#0, :0) + :1";
        assert!(bytes(ExpressionLength::of_actions(&actions)) >= shown.len());
        assert!(bytes(ExpressionLength::of_paths(&["a".into(), "b".into()])) >= "#0, #1".len());
    }

    #[test]
    fn placeholders_grow_with_their_number() {
        let many = ExpressionLength { plain_bytes: 0, placeholders: 900 };
        assert!(check_lengths(&[many], &String::new).is_ok());
        assert!(check_lengths(&[many, many], &String::new).is_err(), "five bytes each");
        assert!(check_lengths(&[ExpressionLength::default()], &String::new).is_ok());
    }
}
