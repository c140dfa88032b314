//! Moderation, through the service and as rows (R26, R31, R33, R34, I9).

mod auto_moderation;
mod conduct;
mod decisions;
mod modes;
mod queue;
mod races;
mod reports;

use roundtable_domain::{
    Caller, Comments, ModerationMode, NewComment, NewPost, Page, PageInput, Posts, Refusal,
    Settings,
};
use roundtable_model::entities::{Comment, Post};
use roundtable_model::table::Order;
use roundtable_model::{Day, PostId};
use roundtable_testkit::Town;

/// A town with another moderation mode.
async fn town_with<const N: usize>(moderation: ModerationMode, names: [&str; N]) -> Town {
    Town::with(Settings { moderation, ..Settings::default() }, names).await
}

fn posts(town: &Town) -> Posts {
    Posts::new(town.context().clone())
}

fn comments(town: &Town) -> Comments {
    Comments::new(town.context().clone())
}

async fn post(town: &Town, author: &str, text: &str) -> Post {
    posts(town).create(&town.caller(author), &NewPost::text(text), None).await.unwrap()
}

async fn comment(town: &Town, author: &str, post: &Post, text: &str) -> Comment {
    let comment =
        NewComment { post_id: post.id.clone(), content: text.to_owned(), parent_comment_id: None };
    comments(town).add(&town.caller(author), &comment, None).await.unwrap()
}

/// Returns whether the viewer sees a post: by id, by author, and in the public list.
async fn sees(town: &Town, viewer: Option<&Caller>, post: &Post) -> [bool; 3] {
    let (posts, first) = (posts(town), PageInput::first());
    let by_id = posts.post(viewer, &post.id).await.is_ok();
    let by = posts.by(viewer, &post.author_id, Order::Descending, &first).await;
    let global = posts.global(viewer, None, None, Order::Descending, &first).await.unwrap();
    let has = |page: Page<Post>| page.into_items().iter().any(|other| other.id == post.id);
    [by_id, by.is_ok_and(has), has(global)]
}

/// The public posts of a day.
async fn on_day(town: &Town, day: Day) -> Vec<PostId> {
    let page = posts(town).on_day(None, day, Order::Descending, &PageInput::first()).await;
    page.unwrap().into_items().into_iter().map(|post| post.id).collect()
}

fn code<T: std::fmt::Debug, E: Refusal>(refused: Result<T, E>) -> &'static str {
    refused.unwrap_err().code().as_str()
}
