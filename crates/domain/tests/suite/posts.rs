//! Posts, through the service and as rows (R18, R26, R27, R30 to R34).

mod author;
mod create;
mod delete;
mod feeds;
mod popular;
mod reads;
mod tags;
mod update;

use roundtable_domain::{ModerationMode, Page, PageInput, Settings};
use roundtable_model::entities::Post;
use roundtable_model::{ModerationStatus, RequestId};
use roundtable_testkit::Town;

async fn moderated<const N: usize>(mode: ModerationMode, names: [&str; N]) -> Town {
    Town::with(Settings { moderation: mode, ..Town::settings() }, names).await
}

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

fn first(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

fn texts(page: Page<Post>) -> Vec<String> {
    page.into_items().into_iter().map(|post| post.content).collect()
}

/// Reads all pages of a list; every page but the last one must be full.
async fn run<E: std::fmt::Debug>(
    limit: usize,
    list: impl AsyncFn(&PageInput) -> Result<Page<Post>, E>,
) -> Vec<String> {
    let (mut all, mut page) = (Vec::new(), first(limit));
    loop {
        let found = list(&page).await.unwrap();
        page.after.clone_from(&found.next);
        let full = found.items.len() == limit;
        all.extend(texts(found));
        if page.after.is_none() {
            return all;
        }
        assert!(full, "a short page that is not the last");
    }
}

const HIDDEN: [ModerationStatus; 3] =
    [ModerationStatus::Pending, ModerationStatus::Flagged, ModerationStatus::Rejected];
