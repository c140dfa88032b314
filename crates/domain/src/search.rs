//! Search (R58): people, groups, posts, comments, goals and tags by what they are called and say.
//!
//! An index names candidates, in order. Each is read as it is now, shown only if the viewer may see it, and
//! only if its present text still matches. So what is deleted, edited or blocked is gone at the next read,
//! however late the index is.
//!
//! Results are ordered by the way they match ([`MatchClass`]), then newest first. That order follows from the
//! objects alone, so a walk from page to page is stable, in every process.

mod document;
mod index;
mod matching;
mod query;
mod shown;
mod tags;
mod walk;
mod words;

use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::Tag;
use roundtable_model::entities::{Comment, Goal, Group, Post, User};

pub use self::document::{
    DOCUMENT_TYPES, DocumentKey, DocumentState, SearchDocument, SearchType, TaggedKey,
};
pub use self::index::{
    HitPosition, HitRequest, IndexHit, IndexUnavailable, NoSearchIndex, RestrictedAccess,
    SearchIndex, TagClass, TagRequest, TaggedRequest,
};
pub use self::matching::{MatchClass, match_class, typos_max};
pub use self::query::{Phrase, QueryWord, SearchQuery, joined_name};
use self::shown::SearchViewer;
use self::walk::SearchWalk;
pub use self::words::{Word, words};
use crate::{Caller, Context, Page, PageInput, refusals};

refusals! {
    SearchError {
        Building: IndexBuilding = "the search index is being built; try again in a minute",
        Off: Forbidden = "this server has search switched off",
    }
}

impl From<IndexUnavailable> for SearchError {
    fn from(reason: IndexUnavailable) -> Self {
        match reason {
            IndexUnavailable::Building => Self::Building,
            IndexUnavailable::Off => Self::Off,
        }
    }
}

/// A thing that search found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchResult {
    User(Box<User>),
    Group(Box<Group>),
    Post(Box<Post>),
    Comment(Box<Comment>),
    Goal(Box<Goal>),
    Tag(Tag),
}

#[derive(Clone, Debug)]
pub struct Search {
    context: Context,
    index: Arc<dyn SearchIndex>,
}

#[boxed]
impl Search {
    pub fn new(context: Context, index: Arc<dyn SearchIndex>) -> Self {
        Self { context, index }
    }

    /// Returns the same service on another context.
    #[must_use]
    pub fn with_context(&self, context: Context) -> Self {
        Self { context, ..self.clone() }
    }

    /// Returns what matches the text, of these types or of all, best first, as far as the viewer may see it.
    pub async fn search(
        &self,
        viewer: Option<&Caller>,
        text: &str,
        types: Option<&[SearchType]>,
        page: &PageInput,
    ) -> Result<Page<SearchResult>, SearchError> {
        let wanted = page.size()?;
        let query = Arc::new(SearchQuery::parse(text)?);
        let viewer = SearchViewer::of(&self.context, viewer).await?;
        SearchWalk::new(&*self.index, &viewer, query, types, page)?.page(wanted).await
    }
}
