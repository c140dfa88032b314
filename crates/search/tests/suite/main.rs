//! The search index with the services: what is found, by whom, and after which accidents.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod damage;
mod histories;
mod live;
mod naive;
mod results;
mod verification;

use std::path::Path;
use std::sync::Arc;

use roundtable_domain::{Caller, Page, PageInput, Search, SearchResult, SearchType};
use roundtable_search::{IndexLocation, IndexSettings, Indexer};
use roundtable_testkit::Town;

fn indexer(town: &Town, directory: &Path) -> Indexer {
    let location = IndexLocation::Directory(directory.to_owned());
    Indexer::of_stream(town.context().clone(), location, IndexSettings::default())
}

fn search_of(town: &Town, indexer: &Indexer) -> Search {
    Search::new(town.context().clone(), indexer.index())
}

/// A short name of a result.
fn name(result: &SearchResult) -> String {
    match result {
        SearchResult::User(user) => format!("user {}", user.id),
        SearchResult::Group(group) => format!("group {}", group.id),
        SearchResult::Post(post) => format!("post {}", post.id),
        SearchResult::Comment(comment) => format!("comment {}", comment.id),
        SearchResult::Goal(goal) => format!("goal {}", goal.id),
        SearchResult::Tag(tag) => format!("tag {tag}"),
    }
}

/// Searches page by page. Every page but the last one must be full.
async fn all_results(
    search: &Search,
    viewer: Option<&Caller>,
    query: &str,
    types: Option<&[SearchType]>,
    size: usize,
) -> Vec<SearchResult> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let input = PageInput { limit: Some(size), after };
        let page: Page<SearchResult> = search.search(viewer, query, types, &input).await.unwrap();
        assert!(page.next.is_none() || page.items.len() == size, "{query}: a page is not full");
        found.extend(page.items.into_iter().map(|(result, _)| result));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

async fn names(search: &Search, viewer: Option<&Caller>, query: &str) -> Vec<String> {
    all_results(search, viewer, query, None, 100).await.iter().map(name).collect()
}

/// A town whose searches always have a current index.
async fn town() -> Arc<Town> {
    Arc::new(Town::of(["ana", "bo", "cy", "ada", "mo"]).await)
}
