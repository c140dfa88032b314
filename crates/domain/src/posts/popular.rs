//! The posts people did most with (R26).
//!
//! They are listed by steps of their score as it is now, and scores move while somebody reads: a post
//! that falls behind the place reached would come again. So the cursors of this list also say, in five
//! bytes each, which posts the run has shown. Within one run:
//!
//! - no post is shown twice, wherever it has moved;
//! - a post whose step has not changed since the run began is shown, if the run gets that far;
//! - a post that climbs past the place reached before it was shown is not shown any more;
//! - the run ends after [`POPULAR_RUN_MAX`] posts, so that cursors have an end.
//!
//! One run of that length in two million takes two posts for each other, and does not show the later.

use std::collections::HashSet;

use data_encoding::BASE64URL_NOPAD;
use parking_lot::Mutex;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::{Cursor, Misfit, PostId};

use super::{PostError, Posts, current, seen};
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput};

/// How many posts one run through the popular ones shows at the most.
pub const POPULAR_RUN_MAX: usize = 1_000;

/// What a post is remembered by.
const MARK_BYTES: usize = 5;
type Mark = [u8; MARK_BYTES];

#[boxed]
impl Posts {
    /// The posts people did most with, those with the highest score first.
    pub async fn popular(
        &self,
        viewer: Option<&Caller>,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let mut run = shown_before(page.after.as_ref())?;
        let known = Mutex::new(run.iter().copied().collect::<HashSet<Mark>>());
        let shards = self.ground.settings().shards.posts.0;
        let found = fill(
            page,
            async |limit, after| {
                self.ground.core().popular(shards).limit(limit).after(after).page().await
            },
            async |found: Vec<Post>| {
                let posts = seen(&self.ground, viewer, current(&self.ground, found).await?).await?;
                let mut known = known.lock();
                let mut new = |post: &Post| known.insert(mark(&post.id));
                Ok::<_, PostError>(posts.into_iter().map(|post| post.filter(&mut new)).collect())
            },
        )
        .await?;
        let Page { mut items, next } = found;
        items.truncate(POPULAR_RUN_MAX.saturating_sub(run.len()));
        for (post, cursor) in &mut items {
            run.push(mark(&post.id));
            *cursor = cursor.clone().noting(note(&run));
        }
        let next = next.filter(|_| run.len() < POPULAR_RUN_MAX);
        Ok(Page { items, next: next.map(|cursor| cursor.noting(note(&run))) })
    }
}

fn mark(id: &PostId) -> Mark {
    let hash = blake3::hash(id.to_string().as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn note(run: &[Mark]) -> String {
    BASE64URL_NOPAD.encode(run.as_flattened())
}

/// What the run has shown so far.
fn shown_before(after: Option<&Cursor>) -> Result<Vec<Mark>, Failure> {
    let Some(cursor) = after else { return Ok(Vec::new()) };
    let bytes = BASE64URL_NOPAD.decode(cursor.note().unwrap_or_default().as_bytes()).ok();
    let marks = bytes.as_deref().map(<[u8]>::as_chunks);
    match marks {
        Some((marks, [])) if marks.len() <= POPULAR_RUN_MAX => Ok(marks.to_vec()),
        _ => Err(Failure::bad("after", Misfit::new("a cursor as it was given out", "another"))),
    }
}
