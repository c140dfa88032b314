//! Files that become part of a post, an activity or a profile: each whole, its owner's, meant for it,
//! and in nothing else.

use roundtable_model::entities::{Holder, Media, Upload};
use roundtable_model::{Expiry, MediaUse, Patch, UploadState, UserId};

use super::kind::is_image;
use super::shown;
use crate::{Failure, Ground, NewMedia};

/// The files that are named, as they were looked at; `None` if one of them is not this person's to use
/// for this.
pub(crate) async fn unclaimed<'a>(
    ground: &Ground,
    user: &UserId,
    named: impl IntoIterator<Item = &'a NewMedia>,
    wanted: MediaUse,
) -> Result<Option<Vec<Media>>, Failure> {
    let places = named.into_iter().map(|media| Upload::at(user, &media.s3_key));
    let found = ground.at("upload", places).await?;
    let free = |upload: &Upload| {
        upload.state == UploadState::Complete
            && upload.holder.is_none()
            && upload.purpose.is_none_or(|purpose| purpose == wanted)
            && (wanted != MediaUse::Profile || is_image(&upload.content_type))
    };
    Ok(found.iter().map(|upload| upload.as_ref().filter(|it| free(it)).map(shown)).collect())
}

/// Makes a file part of something, for as long as that has it; refused when it has become part of
/// something else, or is gone.
pub(crate) fn claim(user: &UserId, media: &Media, holder: &Holder) -> Patch<Upload> {
    let free = Upload::STATE.is(&UploadState::Complete).and(Upload::HOLDER.absent());
    let upload = Upload::at(user, &media.s3_key);
    let held = upload.patch().set(Upload::HOLDER, &Some(holder.clone()));
    held.set(Upload::TTL, &None::<Expiry>).when(free)
}
