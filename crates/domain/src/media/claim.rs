//! Claims of files by posts, activities and profiles. A file must be complete, belong to the
//! author, be meant for this use, and not be in use elsewhere.

use roundtable_model::entities::{Holder, Media, Upload};
use roundtable_model::{Expiry, MediaUse, Patch, UploadState, UserId};

use super::kind::is_image;
use super::media_of;
use crate::{Context, NewMedia, ServiceError};

/// Returns the named files; `None` if one of them is not free for this use by this user.
pub(crate) async fn unclaimed<'a>(
    context: &Context,
    user: &UserId,
    named: impl IntoIterator<Item = &'a NewMedia>,
    media_use: MediaUse,
) -> Result<Option<Vec<Media>>, ServiceError> {
    let item_keys = named.into_iter().map(|media| Upload::at(user, &media.s3_key));
    let found = context.items_at("upload", item_keys).await?;
    let free = |upload: &Upload| {
        upload.state == UploadState::Complete
            && upload.holder.is_none()
            && upload.purpose.is_none_or(|purpose| purpose == media_use)
            && (media_use != MediaUse::Profile || is_image(&upload.content_type))
    };
    Ok(found.iter().map(|upload| upload.as_ref().filter(|it| free(it)).map(media_of)).collect())
}

/// Claims a file for a holder; fails when it has been claimed concurrently or is gone.
pub(crate) fn claim(user: &UserId, media: &Media, holder: &Holder) -> Patch<Upload> {
    let free = Upload::STATE.is(&UploadState::Complete).and(Upload::HOLDER.absent());
    let upload = Upload::at(user, &media.s3_key);
    let held = upload.patch().set(Upload::HOLDER, &Some(holder.clone()));
    held.set(Upload::TTL, &None::<Expiry>).when(free)
}
