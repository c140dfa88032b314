//! `@skip` and `@include`.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::Name;
use apollo_compiler::collections::IndexSet;
use apollo_compiler::executable::{DirectiveList, Operation, Selection, SelectionSet, Value};

use super::Variables;
use crate::JsonMap;

/// The condition under which fields are part of the answer: all terms of any alternative hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition(Vec<Vec<Term>>);

/// A variable, and the value it must have.
type Term = (Name, bool);

/// The number of a condition in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConditionId(usize);

impl ConditionId {
    pub(crate) const ALWAYS: Self = Self(0);
    pub(crate) const NEVER: Self = Self(1);

    pub(crate) fn holds(self, variables: &Variables) -> bool {
        self == Self::ALWAYS || variables.conditions.get(self.0).is_some_and(|holds| *holds)
    }
}

/// All conditions of a plan, each once, so that each is evaluated once for a request.
#[derive(Debug)]
pub(crate) struct Conditions(IndexSet<Condition>);

impl Conditions {
    pub(super) fn new() -> Self {
        Self([Condition::always(), Condition::never()].into_iter().collect())
    }

    pub(super) fn id(&mut self, condition: Condition) -> ConditionId {
        if condition.is_always() {
            return ConditionId::ALWAYS;
        }
        ConditionId(self.0.insert_full(condition).0)
    }

    /// Returns the condition that holds if either of the two does.
    pub(super) fn either(&mut self, one: ConditionId, other: ConditionId) -> ConditionId {
        if one == other {
            return one;
        }
        let condition = self.0.get_index(one.0).zip(self.0.get_index(other.0));
        let condition = condition.map(|(one, other)| {
            let mut either = one.clone();
            either.or(other);
            either
        });
        condition.map_or(ConditionId::NEVER, |condition| self.id(condition))
    }

    /// Returns for each condition whether it holds.
    pub(super) fn evaluate(&self, variables: &JsonMap) -> Box<[bool]> {
        self.0.iter().map(|condition| condition.holds(variables)).collect()
    }
}

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
            match if_argument(directives, directive) {
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

    fn holds(&self, variables: &JsonMap) -> bool {
        let has = |(name, expected): &Term| {
            variables.get(name.as_str()).and_then(crate::JsonValue::as_bool) == Some(*expected)
        };
        self.0.iter().any(|alternative| alternative.iter().all(has))
    }
}

fn if_argument<'a>(directives: &'a DirectiveList, directive: &str) -> Option<&'a Value> {
    Some(directives.get(directive)?.specified_argument_by_name("if")?)
}

/// Returns the variables of an operation that conditions use, and that may be null: the directives need
/// true or false (6.4.1, "Coercing Field Arguments"). Fragments count as used, and introspection counts too.
pub(super) fn nullable_variables(
    document: &ExecutableDocument,
    operation: &Operation,
) -> Vec<Name> {
    let nullable = operation.variables.iter().filter(|variable| !variable.ty.is_non_null());
    let mut nullable: Vec<Name> = nullable.map(|variable| variable.name.clone()).collect();
    if nullable.is_empty() {
        return nullable;
    }
    let mut used = IndexSet::default();
    collect_variables(&operation.selection_set, &mut used);
    for fragment in document.fragments.values() {
        collect_variables(&fragment.selection_set, &mut used);
    }
    nullable.retain(|name| used.contains(name));
    nullable
}

/// Collects the variables in conditions of a selection set, without the fragments that it spreads.
fn collect_variables<'a>(set: &'a SelectionSet, used: &mut IndexSet<&'a Name>) {
    for selection in &set.selections {
        for directive in ["skip", "include"] {
            if let Some(Value::Variable(name)) = if_argument(selection.directives(), directive) {
                used.insert(name);
            }
        }
        match selection {
            Selection::Field(field) => collect_variables(&field.selection_set, used),
            Selection::InlineFragment(inline) => collect_variables(&inline.selection_set, used),
            Selection::FragmentSpread(_) => {}
        }
    }
}
