//! Media files: announced, uploaded to the store by clients, inspected, and shown to viewers who
//! may see their holders (R43).
//!
//! The bytes never pass through here: clients exchange them with a [`MediaStore`] by signed URLs.
//! Readers get the copy that was inspected, so a client cannot submit one file for inspection and
//! another for readers.

mod claim;
mod completion;
mod holders;
mod kind;
mod quota;
mod signed_urls;
mod store;
mod urls;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE32_DNSSEC;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Media, Upload, User};
use roundtable_model::{
    Entity, Expiry, InvalidValue, MediaKey, MediaUse, RequestId, Time, UploadState, UserId,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::claim::{claim, unclaimed};
pub use self::kind::MEDIA_TYPES;
pub use self::store::{DeclaredFile, MediaStore, MediaStoreError, MediaStoreProblem, SignedUpload};
pub use self::urls::MediaUrl;
pub(crate) use self::urls::read_uploads;

use self::kind::MediaKind;
use self::quota::UploadLimits;
use self::signed_urls::SignedUrls;
use crate::access::{Permission, Relations, require};
use crate::limits::UPLOAD_GRACE;
use crate::{Caller, Context, ServiceError, refusals};

refusals! {
    MediaError {
        NoSuchUpload: NotFound = "there is no such upload",
        NoSuchMedia: NotFound = "there is no such file",
        UploadExpired: Conflict = "this upload is complete or has expired; create a new one",
        NotUploaded: Conflict = "nothing has been uploaded yet; send the file first",
        DeclarationMismatch: BadRequest = "the file differs from its declaration; create a new upload",
        StorageFull: StorageFull = "the server has no space for files at the moment; try again later",
        StoreUnavailable: Internal = "the media store failed",
    }
}

#[derive(Clone, Debug)]
pub struct MediaFiles {
    context: Context,
    store: Arc<dyn MediaStore>,
    signed_urls: SignedUrls,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewUpload {
    /// One of [`MEDIA_TYPES`].
    pub content_type: String,
    pub bytes: u64,
    /// Restricts the file to this use, if given.
    pub purpose: Option<MediaUse>,
}

/// A signed upload request for the client.
#[derive(Clone, PartialEq, Eq)]
pub struct UploadInstructions {
    /// Identifies the file from now on.
    pub key: MediaKey,
    /// A capability: any holder of the URL can upload the file.
    pub upload_url: String,
    pub method: &'static str,
    /// Must be sent exactly.
    pub headers: BTreeMap<String, String>,
    pub expires_at: Time,
}

/// Omits the URL, which is a capability.
impl std::fmt::Debug for UploadInstructions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UploadInstructions").field("key", &self.key).finish_non_exhaustive()
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct UploadOutcome {
    key: String,
}

#[boxed]
impl MediaFiles {
    pub fn new(context: Context, store: Arc<dyn MediaStore>) -> Self {
        Self { context, store, signed_urls: SignedUrls::default() }
    }

    /// The same service on another context, for measuring one request's cost.
    #[must_use]
    pub fn on(&self, context: Context) -> Self {
        Self { context, ..self.clone() }
    }

    /// Announces a file and returns the signed upload request.
    pub async fn create_upload(
        &self,
        caller: &Caller,
        input: &NewUpload,
        request: Option<&RequestId>,
    ) -> Result<UploadInstructions, MediaError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::Upload, Relations::SIGNED_IN)?;
        let kind = MediaKind::named(&input.content_type)?;
        self.limits_of(&mutation.account).check_size(kind, input.bytes)?;
        if input.purpose == Some(MediaUse::Profile) && !kind.is_image {
            let invalid = InvalidValue::new("an image, for a profile", kind.content_type);
            return Err(ServiceError::bad_input("contentType", invalid).into());
        }
        mutation
            .once("createUpload", input, request)?
            .replay(async |outcome: UploadOutcome| {
                let upload = self.upload(&caller.user_id, &outcome.key()?).await?;
                let upload = upload.filter(|upload| upload.state == UploadState::Pending);
                self.ticket(&upload.ok_or(MediaError::UploadExpired)?).await
            })
            .run(async |me, attempt| {
                let upload = self.new_upload(&me.id, kind, input)?;
                let charges = self.limits_of(&me).charges(&self.context, &upload).await?;
                let ticket = self.ticket(&upload).await?;
                let commit = attempt.commit().with("upload", upload.create());
                let commit = commit.with_all("quota", charges);
                commit.finish(UploadOutcome::of(&upload), ticket).await
            })
            .await
    }

    /// Returns the owner of an upload whose bytes may arrive now: it is announced, and neither
    /// completed nor refused. For the server, before it receives them.
    pub async fn awaiting_owner(&self, key: &MediaKey) -> Result<UserId, MediaError> {
        let owner = owner_of(key).ok_or(MediaError::NoSuchUpload)?;
        let upload = self.upload(&owner, key).await?;
        let is_pending = upload.is_some_and(|upload| upload.state == UploadState::Pending);
        if !is_pending || self.context.active_account(&owner).await?.is_none() {
            return Err(MediaError::UploadExpired);
        }
        Ok(owner)
    }

    /// A pending upload under an unguessable key.
    fn new_upload(
        &self,
        user: &UserId,
        kind: MediaKind,
        input: &NewUpload,
    ) -> Result<Upload, ServiceError> {
        let now = self.context.now();
        Ok(Upload {
            user_id: user.clone(),
            key: new_key(user, &self.random::<20>())?,
            content_type: kind.content_type.to_owned(),
            bytes: input.bytes,
            charged_bytes: Some(input.bytes),
            state: UploadState::Pending,
            copy: None,
            width: None,
            height: None,
            purpose: input.purpose,
            holder: None,
            created_at: now,
            ttl: Some(Expiry::at(now.plus_ms(self.upload_ttl_ms()).plus_ms(ms(UPLOAD_GRACE)))),
        })
    }

    /// Signs the remaining upload time of a pending file.
    async fn ticket(&self, upload: &Upload) -> Result<UploadInstructions, MediaError> {
        let expires_at = upload.created_at.plus_ms(self.upload_ttl_ms());
        let remaining =
            expires_at.ms().checked_sub(self.context.now().ms()).filter(|remaining| *remaining > 0);
        let remaining = Duration::from_millis(remaining.ok_or(MediaError::UploadExpired)?);
        let declared = DeclaredFile { content_type: &upload.content_type, bytes: upload.bytes };
        let signed = self.store.upload_url(&upload.key, declared, remaining).await?;
        Ok(UploadInstructions {
            key: upload.key.clone(),
            upload_url: signed.url,
            method: signed.method,
            headers: signed.headers,
            expires_at,
        })
    }

    fn upload_ttl_ms(&self) -> u64 {
        self.context.settings().media.upload_seconds.saturating_mul(1_000)
    }

    fn limits_of(&self, user: &User) -> UploadLimits {
        UploadLimits(self.context.settings().limits_of(user.tier))
    }

    fn random<const N: usize>(&self) -> String {
        BASE32_DNSSEC.encode(&self.context.entropy().bytes::<N>())
    }

    async fn upload(&self, user: &UserId, key: &MediaKey) -> Result<Option<Upload>, ServiceError> {
        Ok(self.context.core().upload(user, key).get().await?)
    }
}

impl UploadOutcome {
    fn of(upload: &Upload) -> Self {
        Self { key: upload.key.to_string() }
    }

    fn key(&self) -> Result<MediaKey, ServiceError> {
        self.key
            .parse()
            .map_err(|invalid: InvalidValue| ServiceError::Internal(invalid.to_string()))
    }
}

const PREFIX: &str = "u/";

/// A new key: it names the owner, so that the upload can be found by it, and ends in random
/// characters.
fn new_key(user: &UserId, name: &str) -> Result<MediaKey, ServiceError> {
    let key = format!("{PREFIX}{user}/{name}").parse();
    key.map_err(|invalid: InvalidValue| ServiceError::Internal(invalid.to_string()))
}

fn owner_of(key: &MediaKey) -> Option<UserId> {
    let (user, _) = key.as_str().strip_prefix(PREFIX)?.split_once('/')?;
    user.parse().ok()
}

/// The public view of a completed upload.
fn media_of(upload: &Upload) -> Media {
    Media {
        s3_key: upload.key.clone(),
        content_type: upload.content_type.clone(),
        width: upload.width,
        height: upload.height,
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
