//! Updates: a list of actions on document paths, applied here and rendered by `dynamo`.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Attributes, Invalid, Item, Number, Path, PathStep, Value};

/// The right-hand side of a `SET`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Value(Value),
    /// The value at a path, as it was before the update.
    Path(Path),
    /// The value at the path if there is one, else the other term.
    IfNotExists(Path, Box<Term>),
    /// The first list followed by the second.
    ListAppend(Box<Term>, Box<Term>),
    Plus(Box<Term>, Box<Term>),
    Minus(Box<Term>, Box<Term>),
}

impl<T: Into<Value>> From<T> for Term {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl From<Path> for Term {
    fn from(path: Path) -> Self {
        Self::Path(path)
    }
}

impl Term {
    /// The value at `path`, or `otherwise` if there is none.
    pub fn if_not_exists(path: impl Into<Path>, otherwise: impl Into<Term>) -> Self {
        Self::IfNotExists(path.into(), Box::new(otherwise.into()))
    }

    pub fn append(self, other: impl Into<Term>) -> Self {
        Self::ListAppend(Box::new(self), Box::new(other.into()))
    }

    pub fn plus(self, other: impl Into<Term>) -> Self {
        Self::Plus(Box::new(self), Box::new(other.into()))
    }

    pub fn minus(self, other: impl Into<Term>) -> Self {
        Self::Minus(Box::new(self), Box::new(other.into()))
    }

    fn operators(&self) -> usize {
        match self {
            Self::Value(_) | Self::Path(_) => 0,
            Self::IfNotExists(_, other) => 1 + other.operators(),
            Self::ListAppend(a, b) | Self::Plus(a, b) | Self::Minus(a, b) => {
                1 + a.operators() + b.operators()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateAction {
    Set(Path, Term),
    Remove(Path),
    /// Adds to a number, or members to a set.
    Add(Path, Value),
    /// Removes members from a set; `DELETE` in DynamoDB.
    Subtract(Path, Value),
}

impl UpdateAction {
    pub const fn path(&self) -> &Path {
        match self {
            Self::Set(path, _)
            | Self::Remove(path)
            | Self::Add(path, _)
            | Self::Subtract(path, _) => path,
        }
    }

    /// Returns the number of operators and functions.
    pub fn operators(&self) -> usize {
        match self {
            Self::Set(_, term) => 1 + term.operators(),
            _ => 1,
        }
    }
}

/// Applies `actions` to `item`. Every term sees the item as it was before.
pub fn apply(
    actions: &[UpdateAction],
    item: &Item,
    key: &dyn fmt::Display,
) -> Result<Item, Invalid> {
    let mut attributes = item.to_attributes();
    // Removals of list elements wait until the end: their indexes are those before the update.
    let mut removals: BTreeMap<String, Vec<&Path>> = BTreeMap::new();
    let mut sets = Vec::new();
    for action in actions {
        match action {
            UpdateAction::Set(path, term) => sets.push((path, evaluate(term, item, key)?)),
            UpdateAction::Remove(path) => {
                removals.entry(path.name().to_owned()).or_default().push(path);
            }
            UpdateAction::Add(path, value) => add(&mut attributes, path, value, key)?,
            UpdateAction::Subtract(path, value) => subtract(&mut attributes, path, value, key)?,
        }
    }
    // Elements past the end of a list are appended by ascending index, regardless of their order.
    sets.sort_by(|(a, _), (b, _)| a.steps().iter().map(rank).cmp(b.steps().iter().map(rank)));
    sets.into_iter().try_for_each(|(path, value)| set(&mut attributes, path, value, key))?;
    for mut paths in removals.into_values() {
        // Higher list indexes first, so that the lower ones still mean the same elements.
        paths.sort_by(|a, b| b.steps().iter().map(rank).cmp(a.steps().iter().map(rank)));
        paths.into_iter().try_for_each(|path| remove(&mut attributes, path, key))?;
    }
    Ok(Item::from(attributes))
}

fn rank(step: &PathStep) -> (usize, &str) {
    match step {
        PathStep::Field(name) => (0, name),
        PathStep::Index(index) => (*index, ""),
    }
}

fn evaluate(term: &Term, item: &Item, key: &dyn fmt::Display) -> Result<Value, Invalid> {
    let read = |path: &Path| item.at(path).map(crate::ValueRef::to_value);
    match term {
        Term::Value(value) => Ok(value.clone()),
        Term::Path(path) => read(path)
            .ok_or_else(|| Invalid::PathMissing { path: path.clone(), key: key.to_string() }),
        Term::IfNotExists(path, otherwise) => match read(path) {
            Some(value) => Ok(value),
            None => evaluate(otherwise, item, key),
        },
        Term::ListAppend(first, second) => {
            let mut joined = list(evaluate(first, item, key)?, key)?;
            joined.extend(list(evaluate(second, item, key)?, key)?);
            Ok(Value::L(joined))
        }
        Term::Plus(left, right) => {
            let left = number(&evaluate(left, item, key)?, key)?;
            Ok(Value::N(left.checked_add(number(&evaluate(right, item, key)?, key)?)?))
        }
        Term::Minus(left, right) => {
            let left = number(&evaluate(left, item, key)?, key)?;
            Ok(Value::N(left.checked_sub(number(&evaluate(right, item, key)?, key)?)?))
        }
    }
}

fn mismatch(
    action: &'static str,
    path: &str,
    expected: &'static str,
    found: &Value,
    key: &dyn fmt::Display,
) -> Invalid {
    Invalid::OperandType {
        action,
        path: path.to_owned(),
        expected,
        found: found.kind().to_string(),
        key: key.to_string(),
    }
}

fn list(value: Value, key: &dyn fmt::Display) -> Result<Vec<Value>, Invalid> {
    match value {
        Value::L(values) => Ok(values),
        other => Err(mismatch("list_append", "an operand", "a list", &other, key)),
    }
}

fn number(value: &Value, key: &dyn fmt::Display) -> Result<Number, Invalid> {
    value.as_number().ok_or_else(|| mismatch("arithmetic", "an operand", "a number", value, key))
}

/// Returns the container of the last step of `path`, which must exist already.
fn parent<'a>(attributes: &'a mut Attributes, path: &Path) -> Option<&'a mut Value> {
    let (_, before) = path.steps().split_last()?;
    before.iter().try_fold(attributes.get_mut(path.name())?, |value, step| match (value, step) {
        (Value::M(map), PathStep::Field(name)) => map.get_mut(name),
        (Value::L(list), PathStep::Index(index)) => list.get_mut(*index),
        _ => None,
    })
}

fn set(
    attributes: &mut Attributes,
    path: &Path,
    value: Value,
    key: &dyn fmt::Display,
) -> Result<(), Invalid> {
    let Some(last) = path.steps().last() else {
        attributes.insert(path.name().to_owned(), value);
        return Ok(());
    };
    match (parent(attributes, path), last) {
        (Some(Value::M(map)), PathStep::Field(name)) => {
            map.insert(name.clone(), value);
        }
        // Past its end a list grows by one element, regardless of the index.
        (Some(Value::L(list)), PathStep::Index(index)) => match list.get_mut(*index) {
            Some(slot) => *slot = value,
            None => list.push(value),
        },
        _ => {
            return Err(Invalid::PathMissing { path: path.clone(), key: key.to_string() });
        }
    }
    Ok(())
}

fn remove(attributes: &mut Attributes, path: &Path, key: &dyn fmt::Display) -> Result<(), Invalid> {
    let Some(last) = path.steps().last() else {
        attributes.remove(path.name());
        return Ok(());
    };
    match (parent(attributes, path), last) {
        (Some(Value::M(map)), PathStep::Field(name)) => {
            map.remove(name);
        }
        (Some(Value::L(list)), PathStep::Index(index)) => {
            if *index < list.len() {
                list.remove(*index);
            }
        }
        _ => {
            return Err(Invalid::PathMissing { path: path.clone(), key: key.to_string() });
        }
    }
    Ok(())
}

fn add(
    attributes: &mut Attributes,
    path: &Path,
    value: &Value,
    key: &dyn fmt::Display,
) -> Result<(), Invalid> {
    let Some(current) = attributes.get_mut(path.name()) else {
        attributes.insert(path.name().to_owned(), value.clone());
        return Ok(());
    };
    match (&mut *current, value) {
        (Value::N(sum), Value::N(more)) => *sum = sum.checked_add(*more)?,
        (Value::Ss(members), Value::Ss(more)) => members.extend(more.iter().cloned()),
        (Value::Ns(members), Value::Ns(more)) => members.extend(more.iter().copied()),
        (Value::Bs(members), Value::Bs(more)) => members.extend(more.iter().cloned()),
        (current, _) => {
            return Err(mismatch(
                "ADD",
                path.name(),
                "a number or a set of one type",
                current,
                key,
            ));
        }
    }
    Ok(())
}

fn subtract(
    attributes: &mut Attributes,
    path: &Path,
    value: &Value,
    key: &dyn fmt::Display,
) -> Result<(), Invalid> {
    let Some(current) = attributes.get_mut(path.name()) else {
        return Ok(());
    };
    let emptied = match (&mut *current, value) {
        (Value::Ss(members), Value::Ss(removed)) => {
            members.retain(|member| !removed.contains(member));
            members.is_empty()
        }
        (Value::Ns(members), Value::Ns(removed)) => {
            members.retain(|member| !removed.contains(member));
            members.is_empty()
        }
        (Value::Bs(members), Value::Bs(removed)) => {
            members.retain(|member| !removed.contains(member));
            members.is_empty()
        }
        (current, _) => {
            return Err(mismatch("DELETE", path.name(), "a set of one type", current, key));
        }
    };
    if emptied {
        attributes.remove(path.name());
    }
    Ok(())
}
