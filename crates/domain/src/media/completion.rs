//! Completion of uploads: a file is inspected, then accepted or rejected.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{Entity, Expiry, MediaKey, RequestId, UploadState};

use super::kind::MediaKind;
use super::{MediaError, MediaFiles, UploadOutcome, media_of, ms};
use crate::Caller;
use crate::access::{Permission, Relations, require};
use crate::limits::{MEDIA_HEAD_BYTES, MEDIA_SIDE_PIXELS_MAX, UNUSED_FILE_TIME_MAX};
use crate::mutation::{Attempt, AttemptOutcome};

#[derive(Clone, Copy, Debug, Default)]
struct PixelSize {
    width: Option<u32>,
    height: Option<u32>,
}

#[boxed]
impl MediaFiles {
    /// Inspects an uploaded file and accepts it if it is what was declared; otherwise deletes it
    /// together with its announcement.
    pub async fn complete_upload(
        &self,
        caller: &Caller,
        key: &MediaKey,
        request: Option<&RequestId>,
    ) -> Result<Media, MediaError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::Upload, Relations::SIGNED_IN)?;
        mutation
            .once("completeUpload", &key.as_str(), request)?
            .replay(async |outcome: UploadOutcome| {
                let upload = self.upload(&caller.user_id, &outcome.key()?).await?;
                upload.as_ref().map(media_of).ok_or(MediaError::NoSuchUpload)
            })
            .run(async |me, attempt| {
                let upload = self.upload(&me.id, key).await?;
                let upload = upload.ok_or(MediaError::NoSuchUpload)?;
                if upload.state == UploadState::Complete {
                    let answer = media_of(&upload);
                    return attempt.unchanged(UploadOutcome::of(&upload), answer).await;
                }
                self.try_complete(upload, attempt).await
            })
            .await
    }

    async fn try_complete(
        &self,
        upload: Upload,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Media>, MediaError> {
        // Every attempt makes its own copy, which must not change during the inspection.
        let copy = self.random::<10>();
        let size = match self.copy_and_inspect(&upload, &copy).await {
            Ok(Some(size)) => size,
            Ok(None) => return self.reject(&upload, &copy, attempt).await,
            // A concurrent request has completed it, and only its copy is left.
            Err(MediaError::NotUploaded | MediaError::StoreUnavailable)
                if self.is_settled(&upload).await? =>
            {
                return Ok(AttemptOutcome::Retry);
            }
            Err(error) => return Err(error),
        };
        let unused_ms = ms(UNUSED_FILE_TIME_MAX);
        let completed = Upload {
            state: UploadState::Complete,
            copy: Some(copy.clone()),
            width: size.width,
            height: size.height,
            ttl: Some(Expiry::at(self.context.now().plus_ms(unused_ms))),
            ..upload
        };
        let patch = completed
            .key()
            .patch()
            .set(Upload::STATE, &completed.state)
            .set(Upload::COPY, &completed.copy)
            .set(Upload::WIDTH, &completed.width)
            .set(Upload::HEIGHT, &completed.height)
            .set(Upload::TTL, &completed.ttl)
            .when(Upload::STATE.is(&UploadState::Pending));
        let commit = attempt.commit().with("upload", patch);
        let outcome = commit.finish(UploadOutcome::of(&completed), media_of(&completed)).await;
        if matches!(outcome, Ok(AttemptOutcome::Retry)) {
            // A concurrent request's copy was accepted.
            self.drop_copy(&completed.key, &copy).await;
        }
        outcome
    }

    /// Copies the upload and returns its pixel size; `None` if it is not what was declared.
    async fn copy_and_inspect(
        &self,
        upload: &Upload,
        copy: &str,
    ) -> Result<Option<PixelSize>, MediaError> {
        let length = self.store.copy_upload(&upload.key, copy, upload.bytes).await?;
        self.inspect(upload, copy, length.ok_or(MediaError::NotUploaded)?).await
    }

    /// Returns whether the upload is no longer pending: completed or given up.
    async fn is_settled(&self, upload: &Upload) -> Result<bool, MediaError> {
        let now = self.upload(&upload.user_id, &upload.key).await?;
        Ok(now.is_none_or(|now| now.state != UploadState::Pending))
    }

    /// Deletes an unused copy. The stream processor does the same, also when this fails.
    async fn drop_copy(&self, key: &MediaKey, copy: &str) {
        if let Err(error) = self.store.remove_copy(key, copy).await {
            tracing::warn!(%error, "unused copy not deleted; a processor will retry");
        }
    }

    /// Returns the pixel size, if the copy is what was declared.
    async fn inspect(
        &self,
        upload: &Upload,
        copy: &str,
        length: u64,
    ) -> Result<Option<PixelSize>, MediaError> {
        if length != upload.bytes {
            return Ok(None);
        }
        let head = self.store.read(&upload.key, copy, 0..length.min(MEDIA_HEAD_BYTES)).await?;
        let kind = MediaKind::of(&head).filter(|kind| kind.content_type == upload.content_type);
        Ok(kind
            .and_then(|kind| if kind.is_image { size(&head) } else { Some(PixelSize::default()) }))
    }

    /// Deletes a file that is not what was declared.
    async fn reject(
        &self,
        upload: &Upload,
        copy: &str,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Media>, MediaError> {
        let pending = Upload::STATE.is(&UploadState::Pending);
        let deletion = upload.key().delete().when(pending);
        let commit = attempt.commit().with("upload", deletion);
        match commit.finish_unrecorded::<_, MediaError>(()).await? {
            AttemptOutcome::Done(()) => {
                // The stream processor does the same, also when this fails.
                if let Err(error) = self.store.remove(&upload.key).await {
                    tracing::warn!(%error, "rejected file not deleted; a processor will retry");
                }
                Err(MediaError::DeclarationMismatch)
            }
            AttemptOutcome::Retry => {
                self.drop_copy(&upload.key, copy).await;
                Ok(AttemptOutcome::Retry)
            }
        }
    }
}

/// The pixel size of an image; `None` when it has none, or one that is large enough to be an
/// attack.
fn size(head: &[u8]) -> Option<PixelSize> {
    let found = imagesize::blob_size(head).ok()?;
    let side = |pixels: usize| {
        let pixels = u32::try_from(pixels).ok()?;
        (1..=MEDIA_SIDE_PIXELS_MAX).contains(&pixels).then_some(pixels)
    };
    Some(PixelSize { width: Some(side(found.width)?), height: Some(side(found.height)?) })
}
