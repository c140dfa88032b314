//! Files that become part of a post: each whole, its author's, and in no other post.

use futures::future::try_join_all;
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{Patch, PostId, UploadState, UserId};

use super::shown;
use crate::{Failure, Ground, NewMedia};

/// The files that are named, as they were looked at; `None` if one of them is not this person's to post.
pub(crate) async fn unclaimed(
    ground: &Ground,
    user: &UserId,
    named: &[NewMedia],
) -> Result<Option<Vec<Media>>, Failure> {
    let reads = named.iter().map(|media| ground.core().upload(user, &media.s3_key).get());
    let found = try_join_all(reads).await?.into_iter().map(|upload| {
        let upload = upload.as_ref()?;
        let is_free = upload.state == UploadState::Complete && upload.post_id.is_none();
        is_free.then(|| shown(upload))
    });
    Ok(found.collect())
}

/// Makes a file part of a post; refused when it has become part of another, or is gone.
pub(crate) fn claim(user: &UserId, media: &Media, post: &PostId) -> Patch<Upload> {
    let free = Upload::STATE.is(&UploadState::Complete).and(Upload::POST_ID.absent());
    let upload = Upload::at(user, &media.s3_key);
    upload.patch().set(Upload::POST_ID, &Some(post.clone())).when(free)
}
