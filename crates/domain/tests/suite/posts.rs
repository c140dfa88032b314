//! Posts, as people see them and as rows (R18, R26, R27, R30 to R34).

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

/// A town where moderators see posts then.
async fn moderated<const N: usize>(mode: ModerationMode, names: [&str; N]) -> Town {
    Town::with(Settings { moderation: mode, ..Town::settings() }, names).await
}

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

fn first(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

/// What is on a page.
fn texts(page: Page<Post>) -> Vec<String> {
    page.into_items().into_iter().map(|post| post.content).collect()
}

/// All pages of a list, so many posts at a time; every page but the last one is full.
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
