//! `@skip` and `@include`.

use apollo_compiler::Name;
use apollo_compiler::executable::{DirectiveList, Value};

use super::Variables;

/// The condition of a field: it is part of the answer if all terms of any alternative hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition(Vec<Vec<Term>>);

/// A variable, and the value it must have.
type Term = (Name, bool);

impl Condition {
    /// Of a field that is always part of the answer.
    pub(crate) fn always() -> Self {
        Self(vec![Vec::new()])
    }

    /// Of a field of which no use has been found.
    pub(crate) const fn never() -> Self {
        Self(Vec::new())
    }

    /// Returns whether no variables can make it hold.
    pub(crate) const fn is_never(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_always(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }

    /// Returns the condition of a field that also has these directives.
    pub(crate) fn and_directives(&self, directives: &DirectiveList) -> Self {
        let mut condition = self.clone();
        for (directive, expected) in [("skip", false), ("include", true)] {
            let directive = directives.get(directive);
            let value = directive.and_then(|found| found.specified_argument_by_name("if"));
            match value.map(|value| &**value) {
                Some(Value::Boolean(value)) if *value != expected => return Self::never(),
                Some(Value::Variable(name)) => condition.and_term(name, expected),
                _ => {}
            }
        }
        condition
    }

    fn and_term(&mut self, name: &Name, expected: bool) {
        for alternative in &mut self.0 {
            if !alternative.iter().any(|(known, value)| known == name && *value == expected) {
                alternative.push((name.clone(), expected));
            }
        }
    }

    pub(crate) fn or(&mut self, other: &Self) {
        if self.is_always() {
            return;
        }
        if other.is_always() {
            *self = Self::always();
            return;
        }
        for alternative in &other.0 {
            if !self.0.contains(alternative) {
                self.0.push(alternative.clone());
            }
        }
    }

    pub(crate) fn holds(&self, variables: &Variables) -> bool {
        let has = |(name, expected): &Term| {
            variables.0.get(name.as_str()).and_then(crate::JsonValue::as_bool) == Some(*expected)
        };
        self.0.iter().any(|alternative| alternative.iter().all(has))
    }
}
