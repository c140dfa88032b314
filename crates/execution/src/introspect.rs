//! Fields about the schema, which `apollo-compiler` answers.

use apollo_compiler::introspection;
use apollo_compiler::response::{GraphQLError, ResponseDataPathSegment};

use crate::error::{FieldError, ListedError, Location, PathStep, RequestError};
use crate::plan::{Field, Plan, Variables};
use crate::{JsonMap, JsonValue, Schema};

/// The answers to the fields about the schema.
#[derive(Debug, Default)]
pub(crate) struct AboutSchema {
    data: JsonMap,
    errors: Vec<GraphQLError>,
    /// Why there is no answer at all, which cannot happen: the request has been checked.
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

    /// Returns the errors of a field and of those below it.
    pub(crate) fn errors(&self, field: &Field) -> impl Iterator<Item = ListedError<'_>> {
        let is_inside = |error: &&GraphQLError| match error.path.first() {
            Some(ResponseDataPathSegment::Field(key)) => *key == field.name,
            _ => false,
        };
        self.errors.iter().filter(is_inside).map(listed)
    }
}

fn listed(error: &GraphQLError) -> ListedError<'_> {
    let path = error.path.iter().map(|segment| match segment {
        ResponseDataPathSegment::Field(key) => PathStep::Key(key.as_str()),
        ResponseDataPathSegment::ListIndex(index) => PathStep::Index(*index),
    });
    let path: Vec<PathStep<'_>> = path.collect();
    let location = error.locations.first();
    let location = location.map(|at| Location { line: at.line, column: at.column });
    let error = FieldError { code: RequestError::BAD_REQUEST, message: error.message.clone() };
    ListedError::new(&error, &path, location)
}
