//! Paged lists. One type serves both styles on one cursor: AppSync's `items` with `nextToken`, and Relay's
//! `edges` with `pageInfo`.

use std::sync::Arc;

use roundtable_domain::{Code, PAGE_ITEMS_MAX, Page, PageInput};
use roundtable_execution::Listed;
use roundtable_graphql_macros::object;
use roundtable_interface::{ApiError, SealedCursor};
use roundtable_model::{Cursor, PackingScope};

use crate::request::RequestContext;

/// The paging arguments of a list field.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageArguments {
    /// The number of items, and the argument that gave it.
    size: Option<(i32, &'static str)>,
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
        let size = first.map(|size| (size, "first")).or(limit.map(|size| (size, "limit")));
        Self { size, after: after.or(next_token) }
    }

    /// Returns the error of a size that no list accepts.
    fn invalid_size(&self) -> Option<ApiError> {
        let (size, argument) = self.size?;
        let is_valid = usize::try_from(size).is_ok_and(|size| (1..=PAGE_ITEMS_MAX).contains(&size));
        let message = || format!("{argument}: expected 1 to {PAGE_ITEMS_MAX}, found {size}");
        (!is_valid).then(|| ApiError::bad_request(message()))
    }

    /// Reads a page of the list `name`. Its cursors are valid only for this name and viewer: `posts of
    /// USER`.
    pub(crate) async fn read<T, N: From<T>, E>(
        self,
        context: &RequestContext,
        name: &str,
        page: impl AsyncFnOnce(&PageInput) -> Result<Page<T>, E>,
    ) -> Result<Connection<N>, ApiError>
    where
        ApiError: From<E>,
    {
        let scope = PackingScope::new(name, context.viewer().map(|caller| &caller.user_id));
        let after = self.after.as_deref();
        let after = after.map(|text| context.cursors().open(&scope, text)).transpose()?;
        let has_previous_page = after.is_some();
        let limit = self.size.map(|(size, _)| usize::try_from(size));
        let (limit, invalid_size) = match (limit.transpose(), self.invalid_size()) {
            (Err(_), Some(invalid)) => return Err(invalid),
            (limit, invalid) => (limit.unwrap_or_default(), invalid),
        };
        let read = page(&PageInput { limit, after }).await.map_err(ApiError::from);
        // The service checks the size, but not before permissions, and does not know which argument it was.
        let Page { items, next } = match (read, invalid_size) {
            (Err(error), _) if error.code() != Code::BadRequest => return Err(error),
            (_, Some(invalid)) => return Err(invalid),
            (read, None) => read?,
        };
        let has_next_page = next.is_some();
        let (nodes, cursors): (Vec<N>, Vec<Cursor>) =
            items.into_iter().map(|(item, cursor)| (item.into(), cursor)).unzip();
        let cursors = cursors.into_iter().chain(next).collect();
        let cursors = Arc::new(PageCursors { scope, cursors });
        let unsealed = |position| UnsealedCursor { page: Arc::clone(&cursors), position };
        let next = has_next_page.then(|| unsealed(nodes.len()));
        let edges = nodes.into_iter().enumerate();
        let edges = edges.map(|(position, node)| Edge { cursor: unsealed(position), node });
        Ok(Connection { edges: edges.collect(), next, has_previous_page })
    }
}

/// A page of a list.
#[derive(Clone, Debug)]
pub(crate) struct Connection<N> {
    edges: Vec<Edge<N>>,
    next: Option<UnsealedCursor>,
    has_previous_page: bool,
}

/// The cursors of a page, which are encrypted for one list and viewer.
#[derive(Debug)]
struct PageCursors {
    scope: PackingScope,
    /// Those of the items, then that of the next page.
    cursors: Vec<Cursor>,
}

/// A cursor that is encrypted only when a client selects it.
#[derive(Clone, Debug)]
struct UnsealedCursor {
    page: Arc<PageCursors>,
    position: usize,
}

impl UnsealedCursor {
    fn seal(&self, context: &RequestContext) -> SealedCursor {
        let cursor = self.page.cursors.get(self.position);
        let seal = |cursor| context.cursors().seal(&self.page.scope, cursor);
        cursor.map(seal).unwrap_or_default()
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

#[object(each = Connection)]
impl<N: Listed<Context = RequestContext>> Connection<N> {
    fn items(&self) -> Vec<N> {
        self.edges.iter().map(|edge| edge.node.clone()).collect()
    }

    fn next_token(&self, context: &RequestContext) -> Option<SealedCursor> {
        self.next.as_ref().map(|next| next.seal(context))
    }

    fn edges(&self) -> Vec<Edge<N>> {
        self.edges.clone()
    }

    fn page_info(&self) -> PageInfo {
        PageInfo {
            has_next_page: self.next.is_some(),
            has_previous_page: self.has_previous_page,
            start: self.edges.first().map(|edge| edge.cursor.clone()),
            // A short or even empty page need not be the last one.
            end: self.next.clone().or_else(|| self.edges.last().map(|edge| edge.cursor.clone())),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Edge<N> {
    cursor: UnsealedCursor,
    node: N,
}

#[object(each = Edge)]
impl<N: Listed<Context = RequestContext>> Edge<N> {
    fn cursor(&self, context: &RequestContext) -> SealedCursor {
        self.cursor.seal(context)
    }

    fn node(&self) -> N {
        self.node.clone()
    }
}

/// The position of a page in its list, as Relay expects it.
#[derive(Debug)]
pub(crate) struct PageInfo {
    has_next_page: bool,
    has_previous_page: bool,
    start: Option<UnsealedCursor>,
    end: Option<UnsealedCursor>,
}

#[object(of = self)]
impl PageInfo {
    fn start_cursor(&self, context: &RequestContext) -> Option<SealedCursor> {
        self.start.as_ref().map(|cursor| cursor.seal(context))
    }

    fn end_cursor(&self, context: &RequestContext) -> Option<SealedCursor> {
        self.end.as_ref().map(|cursor| cursor.seal(context))
    }
}
