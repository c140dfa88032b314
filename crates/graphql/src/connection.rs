//! Lists: one type for both habits, AppSync's `items` with `nextToken` and Relay's `edges` with
//! `pageInfo`, on one cursor.

#![expect(clippy::unused_async, reason = "the library wants fields to be asynchronous")]

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::{ComplexObject, Context, Object, OutputType, SimpleObject, TypeName};
use roundtable_domain::{Page, PageInput};
use roundtable_model::Cursor;

use crate::Refused;
use crate::cursors::List;
use crate::request::Asked;

/// What both habits ask a list with.
#[derive(Debug, Default)]
pub(crate) struct Paging {
    limit: Option<i32>,
    after: Option<String>,
}

impl Paging {
    /// Where both habits are used at once, Relay's wins.
    pub(crate) fn new(
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Self {
        Self { limit: first.or(limit), after: after.or(next_token) }
    }

    /// Reads a page of the list `name`, which is one list for each name and viewer: `posts of USER`.
    pub(crate) async fn read<T, N, E>(
        self,
        ctx: &Context<'_>,
        name: &str,
        page: impl AsyncFnOnce(&PageInput) -> Result<Page<T>, E>,
    ) -> Result<Connection<N>, Refused>
    where
        N: OutputType + From<T>,
        Refused: From<E>,
    {
        let asked = Asked::of(ctx)?;
        let name: Arc<str> = name.into();
        let list = List { name: &name, viewer: asked.viewer() };
        let after = self.after.as_deref();
        let after = after.map(|text| asked.cursors().open(&list, text)).transpose()?;
        let limit = match self.limit.map(usize::try_from) {
            None => None,
            Some(Ok(limit)) => Some(limit),
            Some(Err(_)) => return Err(Refused::bad("limit: expected 1 to 100")),
        };
        let has_previous = after.is_some();
        let input = PageInput { limit, after };
        // Apart: the library moves as much for every field of a type as the largest of them takes.
        let page = Box::pin(page(&input)).await?;
        let place = |cursor| Place { cursor, list: Arc::clone(&name) };
        let next = page.next.map(place);
        let edges = page.items.into_iter();
        let edges = edges.map(|(item, cursor)| Edge { place: place(cursor), node: item.into() });
        Ok(Connection { edges: edges.collect(), next, has_previous })
    }
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Connection<N> {
    edges: Vec<Edge<N>>,
    next: Option<Place>,
    has_previous: bool,
}

/// A place in a list, which is sealed when somebody asks for it: not everybody does.
#[derive(Debug)]
struct Place {
    cursor: Cursor,
    list: Arc<str>,
}

impl Place {
    fn sealed(&self, ctx: &Context<'_>) -> Result<String, Refused> {
        let asked = Asked::of(ctx)?;
        let list = List { name: &self.list, viewer: asked.viewer() };
        Ok(asked.cursors().seal(&list, &self.cursor))
    }
}

impl<N> Connection<N> {
    /// A list of something that is shown, while what is in it may not be: then it holds nothing, and
    /// what it belongs to is shown all the same.
    pub(crate) fn if_seen(read: Result<Self, Refused>) -> Result<Self, Refused> {
        match read {
            Err(refused) if refused.hides() => {
                Ok(Self { edges: Vec::new(), next: None, has_previous: false })
            }
            read => read,
        }
    }
}

/// One item of a page.
#[derive(Debug)]
pub(crate) struct Edge<N> {
    place: Place,
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

    async fn next_token(&self, ctx: &Context<'_>) -> Result<Option<String>, Refused> {
        self.next.as_ref().map(|next| next.sealed(ctx)).transpose()
    }

    async fn edges(&self) -> &[Edge<N>] {
        &self.edges
    }

    async fn page_info(&self) -> PageInfo<'_> {
        PageInfo {
            has_next_page: self.next.is_some(),
            has_previous_page: self.has_previous,
            start: self.edges.first().map(|edge| &edge.place),
            // A page may be short, or empty, and yet not be the last one.
            end: self.next.as_ref().or_else(|| self.edges.last().map(|edge| &edge.place)),
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
    async fn cursor(&self, ctx: &Context<'_>) -> Result<String, Refused> {
        self.place.sealed(ctx)
    }

    async fn node(&self) -> &N {
        &self.node
    }
}

/// Relay's account of a page.
#[derive(Debug, SimpleObject)]
#[graphql(complex)]
pub(crate) struct PageInfo<'a> {
    has_next_page: bool,
    has_previous_page: bool,
    #[graphql(skip)]
    start: Option<&'a Place>,
    #[graphql(skip)]
    end: Option<&'a Place>,
}

#[ComplexObject]
impl PageInfo<'_> {
    async fn start_cursor(&self, ctx: &Context<'_>) -> Result<Option<String>, Refused> {
        self.start.map(|place| place.sealed(ctx)).transpose()
    }

    async fn end_cursor(&self, ctx: &Context<'_>) -> Result<Option<String>, Refused> {
        self.end.map(|place| place.sealed(ctx)).transpose()
    }
}
