//! Arguments of a plan: constants, variables, and values that contain variables.

use std::collections::HashMap;
use std::ptr;

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::executable::{Field, Value};
use apollo_compiler::{Name, Node};

use super::{Edge, Variables};
use crate::input::Arguments;
use crate::{JsonMap, JsonValue};

/// An argument as the document gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentPlan {
    /// Neither given nor defined by the schema.
    Absent,
    Constant(JsonValue),
    /// A variable, and the schema's default if it is not given.
    Variable(Name, Option<JsonValue>),
    List(Vec<ArgumentPlan>),
    Object(Vec<(Name, ArgumentPlan)>),
}

/// The constants of a document by their places in it. A fragment can bring one into many places of a
/// plan, and its text must not be copied for each of them.
#[derive(Debug, Default)]
pub(super) struct Constants(HashMap<*const Value, JsonValue>);

impl Constants {
    fn get(&mut self, value: &Node<Value>) -> JsonValue {
        self.0.entry(ptr::from_ref(&**value)).or_insert_with(|| constant(value)).clone()
    }
}

impl ArgumentPlan {
    /// Returns the plans of all arguments that the schema lists for a field.
    pub(super) fn all(
        definition: &FieldDefinition,
        field: &Field,
        constants: &mut Constants,
    ) -> Vec<Self> {
        let arguments = definition.arguments.iter().map(|argument| {
            let default = argument.default_value.as_ref().map(|value| constant(value));
            let given = field.arguments.iter().find(|given| given.name == argument.name);
            match given.map(|given| Self::of(&given.value, constants)) {
                None => default.map_or(Self::Absent, Self::Constant),
                Some(Self::Variable(name, _)) => Self::Variable(name, default),
                Some(given) => given,
            }
        });
        arguments.collect()
    }

    fn of(value: &Node<Value>, constants: &mut Constants) -> Self {
        if !has_variable(value) {
            return Self::Constant(constants.get(value));
        }
        match &**value {
            Value::Variable(name) => Self::Variable(name.clone(), None),
            Value::List(values) => {
                Self::List(values.iter().map(|value| Self::of(value, constants)).collect())
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| (name.clone(), Self::of(value, constants)));
                Self::Object(fields.collect())
            }
            _ => Self::Constant(constants.get(value)),
        }
    }

    /// Returns the value for these variables, unless it has to be put together.
    pub(super) fn known<'a>(&'a self, variables: &'a Variables) -> Option<&'a JsonValue> {
        match self {
            Self::Constant(value) => Some(value),
            Self::Variable(name, default) => {
                variables.values.get(name.as_str()).or(default.as_ref())
            }
            Self::Absent | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Returns the length of a list.
    pub(super) fn items(&self, variables: &Variables) -> Option<usize> {
        match self {
            Self::List(values) => Some(values.len()),
            value => value.known(variables)?.as_array().map(Vec::len),
        }
    }

    /// Returns the value for these variables; `None` if it is not given.
    fn value(&self, variables: &Variables) -> Option<JsonValue> {
        match self {
            Self::Absent | Self::Constant(_) | Self::Variable(..) => self.known(variables).cloned(),
            Self::List(values) => {
                let values = values.iter();
                let values = values.map(|value| value.value(variables).unwrap_or(JsonValue::Null));
                Some(JsonValue::Array(values.collect()))
            }
            Self::Object(fields) => {
                let fields = fields.iter().filter_map(|(name, value)| {
                    Some((name.as_str().into(), value.value(variables)?))
                });
                Some(JsonValue::Object(fields.collect::<JsonMap>()))
            }
        }
    }
}

impl Arguments {
    pub(crate) fn of(edge: &Edge, variables: &Variables) -> Self {
        Self(edge.arguments.iter().map(|plan| plan.value(variables)).collect())
    }
}

fn has_variable(value: &Value) -> bool {
    match value {
        Value::Variable(_) => true,
        Value::List(values) => values.iter().any(|value| has_variable(value)),
        Value::Object(fields) => fields.iter().any(|(_, value)| has_variable(value)),
        _ => false,
    }
}

/// Returns a value without variables.
pub(super) fn constant(value: &Value) -> JsonValue {
    match value {
        Value::Null | Value::Variable(_) => JsonValue::Null,
        Value::Enum(name) => name.as_str().into(),
        Value::String(text) => text.as_str().into(),
        Value::Boolean(value) => (*value).into(),
        // A number that does not fit is left as a text, which no number accepts.
        Value::Int(number) => number.as_str().parse::<i64>().map_or_else(
            |_| number.try_to_f64().map_or_else(|_| number.as_str().into(), JsonValue::from),
            JsonValue::from,
        ),
        Value::Float(number) => {
            number.try_to_f64().map_or_else(|_| number.as_str().into(), JsonValue::from)
        }
        Value::List(values) => {
            JsonValue::Array(values.iter().map(|value| constant(value)).collect())
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.as_str().into(), constant(value)));
            JsonValue::Object(fields.collect::<JsonMap>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ArgumentPlan;
    use crate::schema::{PageSizes, Schema};
    use crate::{Documents, QueryLimits};

    #[test]
    fn a_text_that_a_fragment_brings_into_many_places_is_kept_once() {
        let sdl = "type Query { a(id: Int): A } type A { b(text: String): A }";
        let schema = Schema::parse(sdl, PageSizes::default()).unwrap();
        let document = r#"{ a(id: 1) { ...F } b: a(id: 2) { ...F } } fragment F on A { b(text: "long") { __typename } }"#;
        let prepared = Documents::new(schema, QueryLimits::default()).prepare(document.into());
        let texts: Vec<_> = (prepared.unwrap().plan.root.edges.iter())
            .flat_map(|edge| &edge.nodes)
            .flat_map(|node| &node.edges)
            .map(|edge| match edge.arguments.as_slice() {
                [ArgumentPlan::Constant(text)] => text.as_str().unwrap().as_ptr(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(matches!(texts.as_slice(), [one, other] if one == other), "{texts:?}");
    }
}
