//! Posts by popularity (R26).
//!
//! Posts are listed by steps of their current score, and scores change while a client pages: a post
//! that falls behind the reached position would be listed again. The cursors of this list therefore
//! contain a five-byte fingerprint of every post the run has returned. Within one run:
//!
//! - no post is returned twice, even if it has moved;
//! - a post whose step has not changed since the run began is returned, if the run gets that far;
//! - a post that climbs past the reached position before it was returned is skipped;
//! - the run ends after [`POPULAR_RUN_MAX`] posts, so that cursors stay bounded.
//!
//! In one of two million such runs two fingerprints collide, and the later post is skipped.

use std::collections::HashSet;

use data_encoding::BASE64URL_NOPAD;
use parking_lot::Mutex;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::{Cursor, InvalidValue, PostId};

use super::{PostError, Posts, filter_visible, reread};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

/// The most posts one run returns.
pub const POPULAR_RUN_MAX: usize = 1_000;

const FINGERPRINT_BYTES: usize = 5;
type PostFingerprint = [u8; FINGERPRINT_BYTES];

#[boxed]
impl Posts {
    /// Returns posts by score, highest first.
    pub async fn popular(
        &self,
        viewer: Option<&Caller>,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let mut run = decode_run(page.after.as_ref())?;
        let returned = Mutex::new(run.iter().copied().collect::<HashSet<PostFingerprint>>());
        let shards = self.context.settings().shards.posts.0;
        let found = fill_page(
            page,
            async |limit, after| {
                self.context.core().popular(shards).limit(limit).after(after).page().await
            },
            async |found: Vec<Post>| {
                let posts =
                    filter_visible(&self.context, viewer, reread(&self.context, found).await?)
                        .await?;
                let mut returned = returned.lock();
                let mut new = |post: &Post| returned.insert(fingerprint(&post.id));
                Ok::<_, PostError>(posts.into_iter().map(|post| post.filter(&mut new)).collect())
            },
        )
        .await?;
        let Page { mut items, next } = found;
        items.truncate(POPULAR_RUN_MAX.saturating_sub(run.len()));
        for (post, cursor) in &mut items {
            run.push(fingerprint(&post.id));
            *cursor = cursor.clone().with_note(encode_run(&run));
        }
        let next = next.filter(|_| run.len() < POPULAR_RUN_MAX);
        Ok(Page { items, next: next.map(|cursor| cursor.with_note(encode_run(&run))) })
    }
}

fn fingerprint(id: &PostId) -> PostFingerprint {
    let hash = blake3::hash(id.to_string().as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn encode_run(run: &[PostFingerprint]) -> String {
    BASE64URL_NOPAD.encode(run.as_flattened())
}

/// The fingerprints of the posts the run has returned, from its cursor.
fn decode_run(after: Option<&Cursor>) -> Result<Vec<PostFingerprint>, ServiceError> {
    let Some(cursor) = after else { return Ok(Vec::new()) };
    let bytes = BASE64URL_NOPAD.decode(cursor.note().unwrap_or_default().as_bytes()).ok();
    let fingerprints = bytes.as_deref().map(<[u8]>::as_chunks);
    match fingerprints {
        Some((fingerprints, [])) if fingerprints.len() <= POPULAR_RUN_MAX => {
            Ok(fingerprints.to_vec())
        }
        _ => Err(ServiceError::bad_input(
            "after",
            InvalidValue::new("a cursor returned by this list", "another"),
        )),
    }
}
