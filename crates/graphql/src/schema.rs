//! The schema and its execution. Documents are measured before they are validated, let alone executed:
//! async-graphql's validation takes time that doubles with every fragment that is used twice.
//!
//! This is not an async-graphql extension, because a schema with one calls it for every field of every
//! item, and a page of a feed then takes several times as long.

use std::any::TypeId;
use std::sync::{Arc, LazyLock, OnceLock};

use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextPrepareRequest,
};
use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::registry::Registry;
use async_graphql::{Request, Response, SchemaEnv, ServerResult, Variables};
use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt as _};
use futures::{FutureExt as _, stream};
use roundtable_domain::Code;

use crate::limits::QueryLimits;
use crate::request::RequestContext;
use crate::{ApiError, MutationRoot, QueryRoot, SubscriptionRoot};

type InnerSchema = async_graphql::Schema<QueryRoot, MutationRoot, SubscriptionRoot>;

/// A schema without limits; [`QueryLimits::apply`] makes it a [`Schema`].
pub type SchemaBuilder = async_graphql::SchemaBuilder<QueryRoot, MutationRoot, SubscriptionRoot>;

pub fn schema_builder() -> SchemaBuilder {
    InnerSchema::build(QueryRoot::default(), MutationRoot::default(), SubscriptionRoot::default())
}

/// The schema with its limits.
#[derive(Clone)]
pub struct Schema {
    inner: InnerSchema,
    limits: QueryLimits,
}

/// A request whose document was parsed and is within the limits.
#[derive(Debug)]
pub struct PreparedRequest {
    request: Request,
    /// The type of the selected operation; `None` if the document has no such operation, which execution
    /// reports.
    pub operation_type: Option<OperationType>,
}

/// Omits the schema, which is too long to print.
impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Schema {
    pub(crate) fn new(builder: SchemaBuilder, limits: QueryLimits) -> Self {
        Self { inner: builder.finish(), limits }
    }

    /// Returns the schema in GraphQL's schema definition language.
    pub fn sdl(&self) -> String {
        self.inner.sdl()
    }

    /// Parses a request and checks it against the limits. The error is the complete response.
    pub fn prepare(&self, mut request: Request) -> Result<PreparedRequest, Box<Response>> {
        let rejected = |error| Box::new(Response::from_errors(vec![error]));
        let operation_type = self.parse(&mut request).map_err(rejected)?;
        Ok(PreparedRequest { request, operation_type })
    }

    /// Executes a query or mutation. The future is boxed here: every crate that awaited it would
    /// otherwise compile all resolvers again.
    pub fn execute_prepared(&self, prepared: PreparedRequest) -> BoxFuture<'_, Response> {
        Box::pin(self.inner.execute(prepared.request))
    }

    /// Executes any operation; a subscription yields a response for each event.
    pub fn stream_prepared(&self, prepared: PreparedRequest) -> BoxStream<'static, Response> {
        self.inner.execute_stream(prepared.request)
    }

    /// Prepares and executes a request.
    pub async fn execute(&self, request: impl Into<Request>) -> Response {
        match self.prepare(request.into()) {
            Ok(prepared) => self.execute_prepared(prepared).await,
            Err(response) => *response,
        }
    }

    /// Prepares a request and streams its responses.
    pub fn execute_stream(&self, request: impl Into<Request>) -> BoxStream<'static, Response> {
        match self.prepare(request.into()) {
            Ok(prepared) => self.stream_prepared(prepared),
            Err(response) => stream::iter([*response]).boxed(),
        }
    }

    fn parse(&self, request: &mut Request) -> ServerResult<Option<OperationType>> {
        self.limits.check_text(&request.query).map_err(ApiError::into_request_error)?;
        // Taken out while the document, which the request owns as well, is borrowed.
        let variables = std::mem::take(&mut request.variables);
        let operation_type = self.parse_with(request, &variables);
        request.variables = variables;
        operation_type
    }

    fn parse_with(
        &self,
        request: &mut Request,
        variables: &Variables,
    ) -> ServerResult<Option<OperationType>> {
        let name = request.operation_name.clone();
        let context = request.data.get(&TypeId::of::<Arc<RequestContext>>());
        let context =
            context.and_then(|context| context.downcast_ref::<Arc<RequestContext>>()).cloned();
        let document = request.parsed_query()?;
        self.limits
            .check(registry()?, document, variables)
            .map_err(ApiError::into_request_error)?;
        let mut types = document.operations.iter().map(|(_, operation)| operation.node.ty);
        // Loaders cache for the duration of a query. Mutations and subscriptions must see changes, so they
        // read everything again.
        if let Some(context) = context
            && types.any(|ty| ty != OperationType::Query)
        {
            context.loaders.disable_cache();
        }
        Ok(operation_type(document, name.as_deref()))
    }
}

fn operation_type(document: &ExecutableDocument, name: Option<&str>) -> Option<OperationType> {
    let mut operations = document.operations.iter();
    let selected = match name {
        Some(wanted) => {
            operations.find(|(name, _)| name.is_some_and(|name| name.as_str() == wanted))
        }
        None => operations.next(),
    };
    selected.map(|(_, operation)| operation.node.ty)
}

/// The environment of the schema, with its types. async-graphql gives it to extensions only, so one request
/// to a separate schema captures it.
static SCHEMA_ENV: LazyLock<Option<SchemaEnv>> = LazyLock::new(|| {
    let capture = EnvCapture::default();
    let schema = schema_builder().extension(capture.clone()).finish();
    // This query never waits.
    schema.execute("{ __typename }").now_or_never()?;
    capture.0.get().cloned()
});

fn registry() -> ServerResult<&'static Registry> {
    let unknown = || ApiError::new(Code::Internal, "the types of the schema are not known");
    SCHEMA_ENV.as_ref().map(|env| &env.registry).ok_or_else(|| unknown().into_request_error())
}

/// An extension that captures the schema's environment.
#[derive(Clone, Default)]
struct EnvCapture(Arc<OnceLock<SchemaEnv>>);

impl ExtensionFactory for EnvCapture {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl Extension for EnvCapture {
    async fn prepare_request(
        &self,
        ctx: &ExtensionContext<'_>,
        request: Request,
        next: NextPrepareRequest<'_>,
    ) -> ServerResult<Request> {
        self.0.get_or_init(|| ctx.schema_env.clone());
        next.run(ctx, request).await
    }
}
