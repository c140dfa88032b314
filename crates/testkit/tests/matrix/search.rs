//! Rows about search: the objects of other rows, found by their words.

use roundtable_domain::{Caller, SearchResult, SearchType};
use roundtable_testkit::Town;

use super::operations::{Answer, lists, page};
use super::stage::{Stage, owner};

pub(crate) async fn answer(
    stage: &Stage,
    town: &Town,
    object: &str,
    viewer: Option<&Caller>,
) -> Answer {
    let (post, comment) = (stage.posts.get(object), stage.comments.get(object));
    let owner = owner(object);
    let (kind, query) = match object {
        _ if post.is_some() => (SearchType::Post, "town"),
        _ if comment.is_some() => (SearchType::Comment, "well said"),
        _ if object.ends_with("goal") => (SearchType::Goal, object),
        _ => (SearchType::User, owner),
    };
    let found = town.search().search(viewer, query, Some(&[kind]), &page()).await;
    lists(found, |one| match one {
        SearchResult::Post(it) => post == Some(&it.id),
        SearchResult::Comment(it) => comment == Some(&it.id),
        SearchResult::Goal(it) => it.title == object,
        SearchResult::User(it) => it.id == town.id(owner),
        SearchResult::Group(_) | SearchResult::Tag(_) => false,
    })
}
