//! Documents and their plans, which are kept for the next request with the same text.

use std::sync::Arc;

use apollo_compiler::parser::Parser;
use lru::LruCache;
use parking_lot::Mutex;

use crate::Schema;
use crate::answer::Answer;
use crate::error::{FieldError, ListedError, PathStep, RequestError};
use crate::limits::QueryLimits;
use crate::plan::{OperationType, Plan, RequestCost, Variables};
use crate::request::Request;
use crate::tokens::NESTED_MAX;
use crate::writer::Writer;

/// The memory that plans may take.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// The memory that a plan takes for each of its nodes and fields, and for each byte of its text, roughly.
const BYTES_PER_PART: usize = 400;
const BYTES_PER_TEXT_BYTE: usize = 40;

/// What the parser may count for each permitted token.
const PARSED_PER_TOKEN: usize = 4;

/// The schema, its limits, and the plans of documents seen lately.
#[derive(Debug)]
pub struct Documents {
    schema: Schema,
    limits: QueryLimits,
    plans: Mutex<Plans>,
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
        Answer::executed(out, &[ListedError::new(error, &path, location)])
    }

    /// Returns whether the request asks for the schema itself.
    pub fn introspects(&self) -> bool {
        self.plan.introspects
    }
}

/// The text of a document and the name of the operation.
type PlanKey = (String, Option<String>);

#[derive(Debug)]
struct Plans {
    plans: LruCache<PlanKey, Arc<Plan>>,
    bytes: usize,
}

impl Documents {
    pub fn new(schema: Schema, limits: QueryLimits) -> Self {
        let plans = Plans { plans: LruCache::unbounded(), bytes: 0 };
        Self { schema, limits, plans: Mutex::new(plans) }
    }

    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub const fn limits(&self) -> &QueryLimits {
        &self.limits
    }

    /// Parses, checks and plans a request, or finds the plan of an earlier one.
    pub fn prepare(&self, request: Request) -> Result<PreparedRequest, RequestError> {
        let Request { query, operation_name, variables } = request;
        let key = (query, operation_name);
        let known = self.plans.lock().plans.get(&key).cloned();
        let is_known = known.is_some();
        let plan = known.map_or_else(|| self.plan(&key.0, key.1.as_deref()).map(Arc::new), Ok)?;
        let variables = plan.variables(&self.schema, &variables)?;
        let cost = plan.cost(&variables);
        self.limits.check_cost(&cost)?;
        if !is_known {
            let evicted = self.plans.lock().add(key, &plan);
            // Not before the lock is released: a plan may have many parts.
            drop(evicted);
        }
        Ok(PreparedRequest { plan, variables: Arc::new(variables), cost })
    }

    /// Returns whether the document of a request has a plan, so that preparing it takes no time.
    pub fn knows(&self, request: &Request) -> bool {
        let key = (request.query.clone(), request.operation_name.clone());
        self.plans.lock().plans.contains(&key)
    }

    fn plan(&self, text: &str, operation: Option<&str>) -> Result<Plan, RequestError> {
        self.limits.check_text(text)?;
        // The parser also counts what separates tokens, and its strings may end elsewhere.
        let mut parser = Parser::new()
            .recursion_limit(2 * NESTED_MAX)
            .token_limit(PARSED_PER_TOKEN.saturating_mul(self.limits.tokens_max));
        let document = parser.parse_ast(text, "document");
        let document = document.map_err(|invalid| RequestError::of_diagnostics(&invalid.errors))?;
        self.limits.check_document(&document)?;
        Plan::of(&self.schema, &document, operation)
    }
}

impl Plans {
    /// Adds a plan and returns those that make room for it.
    fn add(&mut self, key: PlanKey, plan: &Arc<Plan>) -> Vec<(PlanKey, Arc<Plan>)> {
        let mut evicted = Vec::new();
        self.bytes += size(&key, plan);
        evicted.extend(self.plans.push(key, Arc::clone(plan)));
        let replaced: usize = evicted.iter().map(|(key, plan)| size(key, plan)).sum();
        self.bytes -= replaced;
        while self.bytes > BYTES_MAX
            && let Some((key, plan)) = self.plans.pop_lru()
        {
            self.bytes -= size(&key, &plan);
            evicted.push((key, plan));
        }
        evicted
    }
}

fn size(key: &PlanKey, plan: &Plan) -> usize {
    plan.parts * BYTES_PER_PART + key.0.len() * BYTES_PER_TEXT_BYTE
}
