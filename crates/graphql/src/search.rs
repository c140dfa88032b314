//! Search by text.

use roundtable_domain::{SearchResult as Found, SearchType};
use roundtable_graphql_macros::{fields, object, union};
use roundtable_interface::ApiError;

use crate::comments::Comment;
use crate::connection::{Connection, PageArguments};
use crate::goals::Goal;
use crate::groups::Group;
use crate::posts::Post;
use crate::request::RequestContext;
use crate::users::User;

/// A tag that search found.
#[derive(Clone, Debug)]
pub(crate) struct TagMatch {
    tag: String,
}

#[object]
impl TagMatch {
    fn tag(&self) -> &str {
        &self.tag
    }
}

#[union]
#[derive(Clone, Debug)]
pub(crate) enum SearchResult {
    User(User),
    Group(Group),
    Post(Post),
    Comment(Comment),
    Goal(Goal),
    TagMatch(TagMatch),
}

impl From<Found> for SearchResult {
    fn from(found: Found) -> Self {
        match found {
            Found::User(user) => Self::User((*user).into()),
            Found::Group(group) => Self::Group((*group).into()),
            Found::Post(post) => Self::Post((*post).into()),
            Found::Comment(comment) => Self::Comment((*comment).into()),
            Found::Goal(goal) => Self::Goal((*goal).into()),
            Found::Tag(tag) => Self::TagMatch(TagMatch { tag: tag.as_str().to_owned() }),
        }
    }
}

pub(crate) struct SearchQueries;

#[fields(Query)]
impl SearchQueries {
    async fn search(
        context: &RequestContext,
        query: String,
        types: Option<Vec<SearchType>>,
        paging: PageArguments,
    ) -> Result<Connection<SearchResult>, ApiError> {
        let (search, viewer) = (&context.services().search, context.viewer());
        let list = format!("search {query:?}, {types:?}");
        let read = async |page: &_| search.search(viewer, &query, types.as_deref(), page).await;
        paging.read(context, &list, read).await
    }
}
