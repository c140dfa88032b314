//! Paged lists. One type serves both styles on one cursor: AppSync's `items` with `nextToken`, and Relay's
//! `edges` with `pageInfo`.

#![expect(clippy::unused_async, reason = "async-graphql requires asynchronous fields")]

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::{ComplexObject, Context, Object, OutputType, SimpleObject, TypeName};
use roundtable_domain::{Page, PageInput};
use roundtable_model::Cursor;

use crate::ApiError;
use crate::cursors::CursorScope;
use crate::request::RequestContext;

/// The paging arguments of a list field.
#[derive(Debug, Default)]
pub(crate) struct PageArguments {
    limit: Option<i32>,
    after: Option<String>,
}

impl PageArguments {
    /// Relay's arguments win over AppSync's.
    pub(crate) fn new(
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Self {
        Self { limit: first.or(limit), after: after.or(next_token) }
    }

    /// Reads a page of the list `name`. Its cursors are valid only for this name and viewer: `posts of
    /// USER`.
    pub(crate) async fn read<T, N, E>(
        self,
        ctx: &Context<'_>,
        name: &str,
        page: impl AsyncFnOnce(&PageInput) -> Result<Page<T>, E>,
    ) -> Result<Connection<N>, ApiError>
    where
        N: OutputType + From<T>,
        ApiError: From<E>,
    {
        let context = RequestContext::of(ctx)?;
        let name: Arc<str> = name.into();
        let scope = CursorScope { name: &name, viewer: context.viewer() };
        let after = self.after.as_deref();
        let after = after.map(|text| context.cursors().open(&scope, text)).transpose()?;
        let limit = match self.limit.map(usize::try_from) {
            None => None,
            Some(Ok(limit)) => Some(limit),
            Some(Err(_)) => return Err(ApiError::bad_request("limit: expected 1 to 100")),
        };
        let has_previous_page = after.is_some();
        let input = PageInput { limit, after };
        // Boxed: async-graphql's future for any field of a type is as large as that of the largest one.
        let page = Box::pin(page(&input)).await?;
        let unsealed = |cursor| UnsealedCursor { cursor, list: Arc::clone(&name) };
        let next = page.next.map(unsealed);
        let edges = page.items.into_iter();
        let edges =
            edges.map(|(item, cursor)| Edge { cursor: unsealed(cursor), node: item.into() });
        Ok(Connection { edges: edges.collect(), next, has_previous_page })
    }
}

#[derive(Debug)]
pub(crate) struct Connection<N> {
    edges: Vec<Edge<N>>,
    next: Option<UnsealedCursor>,
    has_previous_page: bool,
}

/// A cursor that is encrypted only when a client selects it.
#[derive(Debug)]
struct UnsealedCursor {
    cursor: Cursor,
    list: Arc<str>,
}

impl UnsealedCursor {
    fn seal(&self, ctx: &Context<'_>) -> Result<String, ApiError> {
        let context = RequestContext::of(ctx)?;
        let scope = CursorScope { name: &self.list, viewer: context.viewer() };
        Ok(context.cursors().seal(&scope, &self.cursor))
    }
}

impl<N> Connection<N> {
    /// Maps an error that hides the list to an empty list: the object it belongs to stays visible.
    pub(crate) fn empty_if_hidden(read: Result<Self, ApiError>) -> Result<Self, ApiError> {
        match read {
            Err(error) if error.is_hidden() => {
                Ok(Self { edges: Vec::new(), next: None, has_previous_page: false })
            }
            read => read,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Edge<N> {
    cursor: UnsealedCursor,
    node: N,
}

impl<N: OutputType> TypeName for Connection<N> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Connection", N::type_name()).into()
    }
}

#[Object(name_type)]
impl<N: OutputType> Connection<N> {
    async fn items(&self) -> Vec<&N> {
        self.edges.iter().map(|edge| &edge.node).collect()
    }

    async fn next_token(&self, ctx: &Context<'_>) -> Result<Option<String>, ApiError> {
        self.next.as_ref().map(|next| next.seal(ctx)).transpose()
    }

    async fn edges(&self) -> &[Edge<N>] {
        &self.edges
    }

    async fn page_info(&self) -> PageInfo<'_> {
        PageInfo {
            has_next_page: self.next.is_some(),
            has_previous_page: self.has_previous_page,
            start: self.edges.first().map(|edge| &edge.cursor),
            // A short or even empty page need not be the last one.
            end: self.next.as_ref().or_else(|| self.edges.last().map(|edge| &edge.cursor)),
        }
    }
}

impl<N: OutputType> TypeName for Edge<N> {
    fn type_name() -> Cow<'static, str> {
        format!("{}Edge", N::type_name()).into()
    }
}

#[Object(name_type)]
impl<N: OutputType> Edge<N> {
    async fn cursor(&self, ctx: &Context<'_>) -> Result<String, ApiError> {
        self.cursor.seal(ctx)
    }

    async fn node(&self) -> &N {
        &self.node
    }
}

/// The position of a page in its list, as Relay expects it.
#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub(crate) struct PageInfo<'a> {
    has_next_page: bool,
    has_previous_page: bool,
    #[graphql(skip)]
    start: Option<&'a UnsealedCursor>,
    #[graphql(skip)]
    end: Option<&'a UnsealedCursor>,
}

#[ComplexObject]
impl PageInfo<'_> {
    async fn start_cursor(&self, ctx: &Context<'_>) -> Result<Option<String>, ApiError> {
        self.start.map(|cursor| cursor.seal(ctx)).transpose()
    }

    async fn end_cursor(&self, ctx: &Context<'_>) -> Result<Option<String>, ApiError> {
        self.end.map(|cursor| cursor.seal(ctx)).transpose()
    }
}
