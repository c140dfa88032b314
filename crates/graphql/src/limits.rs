//! How much one request may ask for.

mod cost;
mod roots;
mod tokens;

use async_graphql::Variables;
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::registry::Registry;
use roundtable_domain::Code;

use self::cost::Measure;
use crate::Refused;
use crate::served::{Builder, Schema};

/// How much one request may ask for; whatever asks for more is TOO_COMPLEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fields within fields.
    pub depth_max: usize,
    /// Fields altogether, those in lists as often as a page has items.
    pub cost_max: u64,
    /// Fields under a name of the client's choice.
    pub aliases_max: usize,
    /// Words and signs of a document.
    pub tokens_max: usize,
    /// Directives of a document.
    pub directives_max: usize,
    /// Requests in one.
    pub batch_max: usize,
}

impl Default for Limits {
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

/// Fields and fragments within each other: what the library bears.
const NESTED_MAX: usize = 32;

impl Limits {
    /// A schema that keeps to them.
    pub fn on(self, schema: Builder) -> Schema {
        // What was meant by a name that does not exist takes long to find among all that do.
        Schema::new(schema.limit_recursive_depth(NESTED_MAX).disable_suggestions(), self)
    }

    /// Refuses too many requests in one.
    pub fn check_batch(&self, requests: usize) -> Result<(), Refused> {
        within("requests in one", requests, self.batch_max)
    }

    /// Refuses a document that is too long to be read.
    pub(crate) fn check_text(&self, document: &str) -> Result<(), Refused> {
        let found = tokens::count(document);
        within("words and signs", found.tokens, self.tokens_max)?;
        within("bytes of a name", found.longest, tokens::NAME_BYTES_MAX)?;
        within("brackets within brackets", found.nested, tokens::NESTED_MAX)
    }

    /// Refuses a document that asks for too much.
    pub(crate) fn check(
        &self,
        types: &Registry,
        document: &ExecutableDocument,
        variables: &Variables,
    ) -> Result<(), Refused> {
        let measures = cost::measured(types, document, variables);
        measures.iter().try_for_each(|measure| self.check_measure(measure))?;
        roots::check(document)
    }

    fn check_measure(&self, measure: &Measure) -> Result<(), Refused> {
        within("fields within fields", measure.depth, self.depth_max)?;
        within("fields and fragments within each other", measure.nested, NESTED_MAX)?;
        within("lists of the schema within lists", measure.looks, cost::LOOKS_MAX)?;
        within("fields of the schema itself", measure.schema, cost::SCHEMA_MAX)?;
        within("aliases", measure.aliases, self.aliases_max)?;
        within("directives", measure.directives, self.directives_max)?;
        within("fields, those in lists by the page", measure.cost, self.cost_max)
    }
}

fn within<N: Copy + PartialOrd + std::fmt::Display>(
    what: &str,
    found: N,
    max: N,
) -> Result<(), Refused> {
    if found <= max {
        return Ok(());
    }
    let sentence = format!("this asks for too much at once: expected at most {max} {what}");
    Err(Refused::new(Code::TooComplex, sentence))
}
