//! Variables: checked against their types, and converted as the specification says (6.1.2). An error names
//! the place of the value.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::Operation;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;

use super::Plan;
use super::arguments::constant;
use crate::error::RequestError;
use crate::input::InputError;
use crate::{JsonMap, JsonValue, Schema};

/// Characters of a client's value in an error message.
const SHOWN_CHARS_MAX: usize = 40;
/// The bound of whole numbers that every floating-point number near them represents.
const SAFE_INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// The variables of a request, as their types demand.
#[derive(Debug)]
pub struct Variables {
    pub(crate) values: Valid<JsonMap>,
    /// The conditions of the plan that hold.
    pub(super) conditions: Box<[bool]>,
}

impl Plan {
    /// Checks and converts the variables of a request.
    pub(crate) fn variables(
        &self,
        schema: &Schema,
        given: &JsonMap,
    ) -> Result<Variables, RequestError> {
        let values = coerce_all(schema, &self.operation, given)?;
        for name in &self.condition_variables {
            if !values.get(name.as_str()).is_some_and(JsonValue::is_boolean) {
                return Err(RequestError::new(format!(
                    "${name}: expected true or false for @skip and @include, found null"
                )));
            }
        }
        let conditions = self.conditions.evaluate(&values);
        Ok(Variables { values: Valid::assume_valid(values), conditions })
    }
}

fn coerce_all(
    schema: &Schema,
    operation: &Operation,
    given: &JsonMap,
) -> Result<JsonMap, RequestError> {
    let mut values = JsonMap::with_capacity(operation.variables.len());
    for variable in &operation.variables {
        let name = variable.name.as_str();
        let value = match (given.get(name), &variable.default_value) {
            (Some(value), _) => coerce(schema, &variable.ty, value),
            (None, Some(default)) => Ok(constant(default)),
            (None, None) if variable.ty.is_non_null() => Err(missing(&variable.ty)),
            (None, None) => continue,
        };
        values.insert(name, value.map_err(|error| error.inside(&format!("${name}")))?);
    }
    Ok(values)
}

fn coerce(schema: &Schema, ty: &Type, value: &JsonValue) -> Result<JsonValue, InputError> {
    if value.is_null() {
        return if ty.is_non_null() { Err(unexpected(ty, value)) } else { Ok(JsonValue::Null) };
    }
    let name = match ty {
        Type::List(inner) | Type::NonNullList(inner) => {
            // A single value counts as a list of one.
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let items = items.iter().enumerate().map(|(index, item)| {
                coerce(schema, inner, item).map_err(|error| error.inside(&index.to_string()))
            });
            return items.collect::<Result<_, _>>().map(JsonValue::Array);
        }
        Type::Named(name) | Type::NonNullNamed(name) => name,
    };
    let fits = match schema.types.types.get(name) {
        Some(ExtendedType::InputObject(_)) => return coerce_object(schema, ty, value),
        Some(ExtendedType::Enum(ty)) => {
            value.as_str().is_some_and(|value| ty.values.contains_key(value))
        }
        // Custom scalars are checked where they are read.
        _ => match name.as_str() {
            "Int" => value.as_i64().is_some_and(|value| i32::try_from(value).is_ok()),
            "Float" => value
                .as_f64()
                .is_some_and(|number| value.is_f64() || number.abs() < SAFE_INTEGER_MAX),
            "String" => value.is_string(),
            "Boolean" => value.is_boolean(),
            "ID" => value.is_string() || value.is_i64(),
            _ => true,
        },
    };
    if fits { Ok(value.clone()) } else { Err(unexpected(ty, value)) }
}

fn coerce_object(schema: &Schema, ty: &Type, value: &JsonValue) -> Result<JsonValue, InputError> {
    let definition = schema.types.get_input_object(ty.inner_named_type());
    let (object, definition) =
        value.as_object().zip(definition).ok_or_else(|| unexpected(ty, value))?;
    let is_unknown = |key: &str| !definition.fields.contains_key(key);
    if let Some(key) = object.keys().find(|key| is_unknown(key.as_str())) {
        let problem = format!("{} has no such field", definition.name);
        return Err(InputError::new(problem).inside(&shortened(key.as_str())));
    }
    let mut fields = JsonMap::with_capacity(object.len());
    for (name, field) in &definition.fields {
        let value = match (object.get(name.as_str()), &field.default_value) {
            (Some(value), _) => coerce(schema, &field.ty, value),
            (None, Some(default)) => Ok(constant(default)),
            (None, None) if field.ty.is_non_null() => Err(missing(&field.ty)),
            (None, None) => continue,
        };
        fields.insert(name.as_str(), value.map_err(|error| error.inside(name))?);
    }
    Ok(JsonValue::Object(fields))
}

fn missing(ty: &Type) -> InputError {
    InputError::new(format!("expected a value of type {ty}, found none"))
}

fn unexpected(ty: &Type, value: &JsonValue) -> InputError {
    let found = match value {
        JsonValue::Array(_) => String::from("a list"),
        JsonValue::Object(_) => String::from("an object"),
        JsonValue::String(text) => format!("{:?}", shortened(text.as_str())),
        value => value.to_string(),
    };
    InputError::new(format!("expected a value of type {ty}, found {found}"))
}

/// Returns the beginning of a text, since messages must stay short whatever clients send.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
