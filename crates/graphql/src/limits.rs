//! Limits on the size and cost of one request.

mod cost;
mod root_fields;
mod tokens;

use async_graphql::Variables;
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::registry::Registry;
use roundtable_domain::Code;

use self::cost::OperationMeasure;
use crate::ApiError;
use crate::schema::{Schema, SchemaBuilder};

/// The limits of one request; a request beyond any of them is TOO_COMPLEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Nested fields.
    pub depth_max: usize,
    /// All fields; those in a list count once per item of a page.
    pub cost_max: u64,
    pub aliases_max: usize,
    pub tokens_max: usize,
    pub directives_max: usize,
    /// Requests in one HTTP body.
    pub batch_max: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self {
            depth_max: 15,
            cost_max: 20_000,
            aliases_max: 50,
            tokens_max: 5_000,
            directives_max: 50,
            batch_max: 10,
        }
    }
}

/// Nested fields and fragments: as many as async-graphql accepts.
const NESTED_MAX: usize = 32;

impl QueryLimits {
    /// Builds a schema that enforces these limits.
    pub fn apply(self, schema: SchemaBuilder) -> Schema {
        // Suggesting a name for an unknown one compares it with all names, which takes long.
        Schema::new(schema.limit_recursive_depth(NESTED_MAX).disable_suggestions(), self)
    }

    pub fn check_batch(&self, requests: usize) -> Result<(), ApiError> {
        check_max("requests in one body", requests, self.batch_max)
    }

    /// Checks the text of a document before it is parsed.
    pub(crate) fn check_text(&self, document: &str) -> Result<(), ApiError> {
        let counts = tokens::count(document);
        check_max("tokens", counts.tokens, self.tokens_max)?;
        check_max("bytes in a name", counts.longest_name, tokens::NAME_BYTES_MAX)?;
        check_max("nested brackets", counts.nested, tokens::NESTED_MAX)
    }

    /// Checks a parsed document.
    pub(crate) fn check(
        &self,
        types: &Registry,
        document: &ExecutableDocument,
        variables: &Variables,
    ) -> Result<(), ApiError> {
        let measures = cost::measure(types, document, variables);
        measures.iter().try_for_each(|measure| self.check_measure(measure))?;
        root_fields::check(document)
    }

    fn check_measure(&self, measure: &OperationMeasure) -> Result<(), ApiError> {
        check_max("nested fields", measure.depth, self.depth_max)?;
        check_max("nested fields and fragments", measure.nested, NESTED_MAX)?;
        check_max("nested introspection lists", measure.type_lists, cost::TYPE_LISTS_MAX)?;
        let introspection = measure.introspection_cost;
        check_max("introspection fields", introspection, cost::INTROSPECTION_COST_MAX)?;
        check_max("aliases", measure.aliases, self.aliases_max)?;
        check_max("directives", measure.directives, self.directives_max)?;
        check_max("fields (fields in lists count per item)", measure.cost, self.cost_max)
    }
}

fn check_max<N: Copy + PartialOrd + std::fmt::Display>(
    what: &str,
    actual: N,
    max: N,
) -> Result<(), ApiError> {
    if actual <= max {
        return Ok(());
    }
    let message = format!("the request is too complex: expected at most {max} {what}");
    Err(ApiError::new(Code::TooComplex, message))
}
