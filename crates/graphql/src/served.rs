//! The schema as it is served. Documents are measured before anything of them is validated, let alone done:
//! the library's own checks take time that doubles with every fragment that is used twice.
//!
//! This is no extension of the library's, which would be the place for it: a schema that has one asks it
//! about every field of every item, and a page of a feed then takes several times as long.

use std::any::TypeId;
use std::sync::{Arc, LazyLock, OnceLock};

use async_graphql::extensions::{
    Extension, ExtensionContext, ExtensionFactory, NextPrepareRequest,
};
use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::registry::Registry;
use async_graphql::{Request, Response, SchemaBuilder, SchemaEnv, ServerResult, Variables};
use async_trait::async_trait;
use futures::stream::{BoxStream, StreamExt as _};
use futures::{FutureExt as _, stream};
use roundtable_domain::Code;

use crate::limits::Limits;
use crate::request::Asked;
use crate::{Mutation, Query, Refused, Subscription};

/// The library's schema.
type Inner = async_graphql::Schema<Query, Mutation, Subscription>;

/// What a schema is made from.
pub type Builder = SchemaBuilder<Query, Mutation, Subscription>;

/// The schema, before limits are set.
pub fn schema() -> Builder {
    Inner::build(Query::default(), Mutation::default(), Subscription::default())
}

/// The schema, as it is served.
#[derive(Clone)]
pub struct Schema {
    inner: Inner,
    limits: Limits,
}

/// A request whose document was read, and asks for no more than it may.
#[derive(Debug)]
pub struct Prepared {
    request: Request,
    /// What the operation does that is meant; what is meant by none is for the library to say.
    pub kind: Option<OperationType>,
}

/// Not the schema: that is long.
impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Schema {
    pub(crate) fn new(builder: Builder, limits: Limits) -> Self {
        Self { inner: builder.finish(), limits }
    }

    /// What can be asked, as GraphQL writes it.
    pub fn sdl(&self) -> String {
        self.inner.sdl()
    }

    /// Reads what a request asks for, and refuses what is too much; the answer is then all there is.
    pub fn prepare(&self, mut request: Request) -> Result<Prepared, Box<Response>> {
        let refused = |error| Box::new(Response::from_errors(vec![error]));
        let kind = self.read(&mut request).map_err(refused)?;
        Ok(Prepared { request, kind })
    }

    /// Answers.
    pub async fn answer(&self, prepared: Prepared) -> Response {
        self.inner.execute(prepared.request).await
    }

    /// Answers as often as there is something to tell.
    pub fn answers(&self, prepared: Prepared) -> BoxStream<'static, Response> {
        self.inner.execute_stream(prepared.request)
    }

    /// Answers whatever is asked, if it is not too much: for those who may ask for anything.
    pub async fn execute(&self, request: impl Into<Request>) -> Response {
        match self.prepare(request.into()) {
            Ok(prepared) => self.answer(prepared).await,
            Err(refused) => *refused,
        }
    }

    /// The same, as often as there is something to tell.
    pub fn execute_stream(&self, request: impl Into<Request>) -> BoxStream<'static, Response> {
        match self.prepare(request.into()) {
            Ok(prepared) => self.answers(prepared),
            Err(refused) => stream::iter([*refused]).boxed(),
        }
    }

    fn read(&self, request: &mut Request) -> ServerResult<Option<OperationType>> {
        self.limits.check_text(&request.query).map_err(Refused::unasked)?;
        // Taken out for as long as the document is looked at, which the request has as well.
        let variables = std::mem::take(&mut request.variables);
        let kind = self.read_with(request, &variables);
        request.variables = variables;
        kind
    }

    fn read_with(
        &self,
        request: &mut Request,
        variables: &Variables,
    ) -> ServerResult<Option<OperationType>> {
        let name = request.operation_name.clone();
        let asked = request.data.get(&TypeId::of::<Arc<Asked>>());
        let asked = asked.and_then(|asked| asked.downcast_ref::<Arc<Asked>>()).cloned();
        let document = request.parsed_query()?;
        self.limits.check(types()?, document, variables).map_err(Refused::unasked)?;
        let mut kinds = document.operations.iter().map(|(_, operation)| operation.node.ty);
        // What is looked up is kept until a query is answered. After a change, and as long as somebody
        // listens, everything is looked up anew.
        if let Some(asked) = asked
            && kinds.any(|kind| kind != OperationType::Query)
        {
            asked.load.keep_nothing();
        }
        Ok(kind(document, name.as_deref()))
    }
}

fn kind(document: &ExecutableDocument, name: Option<&str>) -> Option<OperationType> {
    let mut operations = document.operations.iter();
    let found = match name {
        Some(wanted) => {
            operations.find(|(name, _)| name.is_some_and(|name| name.as_str() == wanted))
        }
        None => operations.next(),
    };
    found.map(|(_, operation)| operation.node.ty)
}

/// The types of the schema. The library shows them to extensions alone: one is asked once, of a schema
/// that nobody else uses.
static TYPES: LazyLock<Option<SchemaEnv>> = LazyLock::new(|| {
    let types = Types::default();
    let looking = schema().extension(types.clone()).finish();
    // It waits for nothing.
    looking.execute("{ __typename }").now_or_never()?;
    types.0.get().cloned()
});

fn types() -> ServerResult<&'static Registry> {
    let unknown = || Refused::new(Code::Internal, "the types of the schema are not known");
    TYPES.as_ref().map(|types| &types.registry).ok_or_else(|| unknown().unasked())
}

/// Takes the types along.
#[derive(Clone, Default)]
struct Types(Arc<OnceLock<SchemaEnv>>);

impl ExtensionFactory for Types {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(self.clone())
    }
}

#[async_trait]
impl Extension for Types {
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
