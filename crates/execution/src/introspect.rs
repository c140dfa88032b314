//! Fields about the schema, which `apollo-compiler` answers.

use apollo_compiler::introspection;
use apollo_compiler::response::{GraphQLError, ResponseDataPathSegment};

use crate::error::{ErrorList, FieldError, Location, PathStep, RequestError};
use crate::plan::{Field, Plan, Variables};
use crate::{JsonMap, JsonValue, Schema};

/// The answers to the fields about the schema.
#[derive(Debug, Default)]
pub(crate) struct AboutSchema {
    data: JsonMap,
    errors: Vec<GraphQLError>,
    /// The reason that there is no answer at all, which cannot happen: the request has been checked.
    failure: Option<String>,
}

impl AboutSchema {
    pub(crate) fn of(schema: &Schema, plan: &Plan, variables: &Variables) -> Self {
        let Some(document) = &plan.document else { return Self::default() };
        let answer = introspection::partial_execute(
            &schema.types,
            &schema.implementers,
            document,
            &plan.operation,
            &variables.values,
        );
        match answer {
            Ok(answer) => {
                Self { data: answer.data.unwrap_or_default(), errors: answer.errors, failure: None }
            }
            Err(error) => Self { failure: Some(error.message().to_string()), ..Self::default() },
        }
    }

    pub(crate) fn failure(&self) -> Option<FieldError> {
        self.failure.as_deref().map(FieldError::internal)
    }

    /// Returns the value of a field; `None` if it is null.
    pub(crate) fn value(&self, field: &Field) -> Option<&JsonValue> {
        self.data.get(field.name.as_str()).filter(|value| !value.is_null())
    }

    /// Lists the errors of a field and of those below it. Returns whether there are any.
    pub(crate) fn list_errors(&self, field: &Field, to: &mut ErrorList) -> bool {
        let is_inside = |error: &&GraphQLError| match error.path.first() {
            Some(ResponseDataPathSegment::Field(key)) => *key == field.name,
            _ => false,
        };
        let before = to.bytes();
        self.errors.iter().filter(is_inside).for_each(|error| list_error(error, to));
        to.bytes() > before
    }
}

fn list_error(error: &GraphQLError, to: &mut ErrorList) {
    let path = error.path.iter().map(|segment| match segment {
        ResponseDataPathSegment::Field(key) => PathStep::Key(key.as_str()),
        ResponseDataPathSegment::ListIndex(index) => PathStep::Index(*index),
    });
    let path: Vec<PathStep<'_>> = path.collect();
    let location = error.locations.first();
    let location = location.map(|at| Location { line: at.line, column: at.column });
    let error = FieldError { code: RequestError::BAD_REQUEST, message: error.message.clone() };
    to.add(&error, &path, location);
}
