//! Documents and their plans, which are kept for the next request with the same text.

use std::sync::Arc;

use apollo_compiler::ast::{Definition, Document};
use apollo_compiler::parser::Parser;
use parking_lot::Mutex;

use crate::Schema;
use crate::allowed_documents::AllowedDocuments;
use crate::answer::Answer;
use crate::error::{ErrorList, FieldError, PathStep, RequestError};
use crate::limits::QueryLimits;
use crate::persisted::{self, DocumentHash};
use crate::plan::{OperationType, Plan, RequestCost, Variables};
use crate::plan_cache::PlanCache;
use crate::request::Request;
use crate::tokens::NESTED_MAX;
use crate::writer::Writer;

/// The recursion that the parser may count for each permitted token.
const PARSED_PER_TOKEN: usize = 4;

/// The schema, its limits, and the plans of documents seen lately.
#[derive(Debug)]
pub struct Documents {
    schema: Schema,
    limits: QueryLimits,
    /// `None` if any document is answered.
    allowed: Option<AllowedDocuments>,
    plans: Mutex<PlanCache>,
}

/// A request that is within the limits and ready to be executed.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    pub(crate) plan: Arc<Plan>,
    pub(crate) variables: Arc<Variables>,
    cost: RequestCost,
}

impl PreparedRequest {
    pub fn operation_type(&self) -> OperationType {
        self.plan.operation_type()
    }

    /// Returns the name of the operation in its document.
    pub fn operation_name(&self) -> Option<&str> {
        self.plan.operation.name.as_ref().map(apollo_compiler::Name::as_str)
    }

    /// Returns the most that the request may take.
    pub const fn cost(&self) -> &RequestCost {
        &self.cost
    }

    pub fn is_subscription(&self) -> bool {
        self.operation_type() == OperationType::Subscription
    }

    /// Returns the answer if the root field failed before any event.
    pub fn failed(&self, error: &FieldError) -> Answer {
        let mut out = Writer::default();
        out.raw(b"{\"data\":null");
        let field = self.plan.root.selections.iter().flatten().next();
        let path: Vec<PathStep<'_>> =
            field.iter().map(|field| PathStep::Key(field.name.as_str())).collect();
        let location = field.and_then(|field| field.location);
        let mut errors = ErrorList::default();
        errors.add(error, &path, location);
        Answer::executed(out, errors)
    }

    /// Returns whether the request asks for the schema itself.
    pub fn introspects(&self) -> bool {
        self.plan.introspects()
    }
}

impl Documents {
    pub fn new(schema: Schema, limits: QueryLimits) -> Self {
        Self { schema, limits, allowed: None, plans: Mutex::new(PlanCache::new()) }
    }

    /// Answers only these documents from now on. The error names one that does not fit the schema.
    pub fn allow_only(mut self, allowed: AllowedDocuments) -> Result<Self, String> {
        for (id, text) in allowed.iter() {
            self.check_allowed(text).map_err(|error| {
                let RequestError { message, location, .. } = error;
                let at = location.map(|at| format!(" (line {}, column {})", at.line, at.column));
                format!("the document `{id}`: {message}{}", at.unwrap_or_default())
            })?;
        }
        self.allowed = Some(allowed);
        Ok(self)
    }

    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub const fn limits(&self) -> &QueryLimits {
        &self.limits
    }

    /// Parses, checks and plans a request, or finds the plan of an earlier one.
    pub fn prepare(&self, request: Request) -> Result<PreparedRequest, RequestError> {
        let (text, hash) = self.find_text(&request)?;
        let Request { query, operation_name, variables, .. } = request;
        let text = text.unwrap_or_else(|| query.into());
        let (known, evicted) = self.plans.lock().get(&text, operation_name.as_deref());
        // Not before the lock is released: a plan may have many parts.
        drop(evicted);
        let is_known = known.is_some();
        let plan = || self.plan(&text, operation_name.as_deref()).map(Arc::new);
        let plan = known.map_or_else(plan, Ok)?;
        let variables = plan.variables(&self.schema, &variables)?;
        let cost = plan.cost(&variables);
        self.limits.check_cost(&cost)?;
        if !is_known || hash.is_some() {
            let evicted = self.plans.lock().add(text, operation_name, &plan, hash);
            drop(evicted);
        }
        Ok(PreparedRequest { plan, variables: Arc::new(variables), cost })
    }

    /// Returns whether preparing a request takes no time: its document has a plan, or it is refused, and
    /// it has few variables, all of which are checked.
    pub fn knows(&self, request: &Request) -> bool {
        let Ok((text, _)) = self.find_text(request) else { return true };
        if !request.has_few_values() {
            return false;
        }
        let text = text.as_deref().unwrap_or(&request.query);
        self.plans.lock().contains(text, request.operation_name.as_deref())
    }

    /// Returns the text that a request names, `None` if it sends the text itself, and the hash under which
    /// it wants to name it from now on.
    fn find_text(
        &self,
        request: &Request,
    ) -> Result<(Option<Arc<str>>, Option<DocumentHash>), RequestError> {
        let hash = request.persisted_hash()?;
        if let Some(allowed) = &self.allowed {
            let id = hash.or(request.document_id.as_deref());
            return Ok((Some(allowed.find(id, &request.query)?), None));
        }
        let Some(hash) = hash else {
            if request.query.is_empty() && request.document_id.is_some() {
                return Err(RequestError::new(
                    "this server has no list of documents: send the text in `query`",
                ));
            }
            return Ok((None, None));
        };
        let hash = DocumentHash::parse(hash).ok_or_else(persisted::malformed_hash)?;
        if request.query.is_empty() {
            let text = self.plans.lock().text(&hash);
            return Ok((Some(text.ok_or_else(persisted::not_found)?), None));
        }
        if DocumentHash::of(&request.query) != hash {
            return Err(RequestError::new(
                "extensions.persistedQuery.sha256Hash: this is not the hash of the document in `query`",
            ));
        }
        Ok((None, Some(hash)))
    }

    fn plan(&self, text: &str, operation: Option<&str>) -> Result<Plan, RequestError> {
        Plan::of(&self.schema, &self.parse(text)?, operation)
    }

    fn parse(&self, text: &str) -> Result<Document, RequestError> {
        self.limits.check_text(text)?;
        // The parser also counts what separates tokens, and its strings may end elsewhere.
        let mut parser = Parser::new()
            .recursion_limit(2 * NESTED_MAX)
            .token_limit(PARSED_PER_TOKEN.saturating_mul(self.limits.tokens_max));
        let document = parser.parse_ast(text, "document");
        let document = document.map_err(|invalid| RequestError::of_diagnostics(&invalid.errors))?;
        self.limits.check_document(&document)?;
        Ok(document)
    }

    /// Plans all operations of a document.
    fn check_allowed(&self, text: &str) -> Result<(), RequestError> {
        let document = self.parse(text)?;
        let operations =
            document.definitions.iter().filter_map(Definition::as_operation_definition);
        let mut names: Vec<_> = operations.map(|operation| operation.name.as_deref()).collect();
        if names.is_empty() {
            // The error says that there is none.
            names.push(None);
        }
        names.iter().try_for_each(|name| Plan::of(&self.schema, &document, *name).map(drop))
    }
}
