//! A file that has arrived: looked at, and taken or refused.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{Entity, Expiry, MediaKey, RequestId, UploadState};

use super::kind::Kind;
use super::{MediaError, MediaFiles, Outcome, ms, shown};
use crate::access::{Act, Standing, allows};
use crate::commit::Rejected;
use crate::limits::{MEDIA_HEAD_BYTES, MEDIA_SIDE_PIXELS_MAX, UNUSED_FILE_TIME_MAX};
use crate::once::{Request, Tried};
use crate::{Caller, Failure};

/// What the bytes of a file say.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    width: Option<u32>,
    height: Option<u32>,
}

#[boxed]
impl MediaFiles {
    /// Looks at a file that its owner has sent, and takes it if it is what it was said to be. One that
    /// is not is removed, together with its announcement.
    pub async fn complete_upload(
        &self,
        caller: &Caller,
        key: &MediaKey,
        request: Option<&RequestId>,
    ) -> Result<Media, MediaError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::Upload, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        let request = self.ground.request(&me.id, request, "completeUpload", &key.as_str())?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| {
                    let upload = self.upload(&me.id, &outcome.key()?).await?;
                    upload.as_ref().map(shown).ok_or(MediaError::NoSuchUpload)
                },
                async || {
                    let upload = self.upload(&me.id, key).await?;
                    let upload = upload.ok_or(MediaError::NoSuchUpload)?;
                    if upload.state == UploadState::Complete {
                        let (outcome, request) = (Outcome::of(&upload), request.as_ref());
                        let answer = shown(&upload);
                        return Ok(self.ground.nothing_to_do(request, &outcome, answer).await?);
                    }
                    self.try_complete(upload, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_complete(
        &self,
        upload: Upload,
        request: Option<&Request>,
    ) -> Result<Tried<Media>, MediaError> {
        // A copy of its own for every attempt: another one's must not change while it is looked at.
        let copy = self.random::<10>();
        let size = match self.examined(&upload, &copy).await {
            Ok(Some(size)) => size,
            Ok(None) => return self.refuse(&upload, &copy).await,
            // Somebody else has been told that it arrived, and nothing but their copy was left.
            Err(MediaError::NotArrived | MediaError::StoreAway)
                if self.is_over(&upload).await? =>
            {
                return Ok(Tried::Again);
            }
            Err(error) => return Err(error),
        };
        let unused = ms(UNUSED_FILE_TIME_MAX);
        let arrived = Upload {
            state: UploadState::Complete,
            copy: Some(copy.clone()),
            width: size.width,
            height: size.height,
            ttl: Some(Expiry::at(self.ground.now().plus_ms(unused))),
            ..upload
        };
        let patch = arrived
            .key()
            .patch()
            .set(Upload::STATE, &arrived.state)
            .set(Upload::COPY, &arrived.copy)
            .set(Upload::WIDTH, &arrived.width)
            .set(Upload::HEIGHT, &arrived.height)
            .set(Upload::TTL, &arrived.ttl)
            .when(Upload::STATE.is(&UploadState::Pending));
        let commit = self.ground.commit().with("upload", patch);
        let commit = commit.remembering(request, &Outcome::of(&arrived))?;
        let tried = commit.done(shown(&arrived)).await?;
        if matches!(tried, Tried::Again) {
            // Another one's copy was taken; this one is shown to nobody.
            self.drop_copy(&arrived.key, &copy).await;
        }
        Ok(tried)
    }

    /// How large the picture is that has arrived, once there is a copy of it; `None` if it is not what
    /// was declared.
    async fn examined(&self, upload: &Upload, copy: &str) -> Result<Option<Size>, MediaError> {
        let length = self.store.take(&upload.key, copy, upload.bytes).await?;
        self.looked_at(upload, copy, length.ok_or(MediaError::NotArrived)?).await
    }

    /// Whether there is nothing to wait for any more: it has arrived, or was given up.
    async fn is_over(&self, upload: &Upload) -> Result<bool, MediaError> {
        let now = self.upload(&upload.user_id, &upload.key).await?;
        Ok(now.is_none_or(|now| now.state != UploadState::Pending))
    }

    /// Takes a copy away that nobody is shown. What follows in the stream does the same, also when this
    /// fails.
    async fn drop_copy(&self, key: &MediaKey, copy: &str) {
        if let Err(error) = self.store.discard(key, copy).await {
            tracing::warn!(%error, "a copy of a file stays for now");
        }
    }

    /// How large the picture is, if the copy is what was declared.
    async fn looked_at(
        &self,
        upload: &Upload,
        copy: &str,
        length: u64,
    ) -> Result<Option<Size>, MediaError> {
        if length != upload.bytes {
            return Ok(None);
        }
        let head = self.store.read(&upload.key, copy, 0..length.min(MEDIA_HEAD_BYTES)).await?;
        let kind = Kind::of(&head).filter(|kind| kind.content_type == upload.content_type);
        Ok(kind.and_then(|kind| if kind.is_image { size(&head) } else { Some(Size::default()) }))
    }

    /// Gives up a file that is not what it was said to be.
    async fn refuse(&self, upload: &Upload, copy: &str) -> Result<Tried<Media>, MediaError> {
        let pending = Upload::STATE.is(&UploadState::Pending);
        let gone = upload.key().delete().when(pending);
        match self.ground.commit().with("upload", gone).run().await {
            Ok(()) => {
                // What follows from the removal in the stream does the same, also when this fails.
                if let Err(error) = self.store.remove(&upload.key).await {
                    tracing::warn!(%error, "a refused file stays for now");
                }
                Err(MediaError::NotAsDeclared)
            }
            Err(Rejected::Refused(_)) => {
                self.drop_copy(&upload.key, copy).await;
                Ok(Tried::Again)
            }
            Err(Rejected::Failed(failure)) => Err(failure.into()),
        }
    }
}

/// The size of the picture that begins so; `None` when it has none, or one that is a weapon.
fn size(head: &[u8]) -> Option<Size> {
    let found = imagesize::blob_size(head).ok()?;
    let side = |pixels: usize| {
        let pixels = u32::try_from(pixels).ok()?;
        (1..=MEDIA_SIDE_PIXELS_MAX).contains(&pixels).then_some(pixels)
    };
    Some(Size { width: Some(side(found.width)?), height: Some(side(found.height)?) })
}
