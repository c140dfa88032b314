//! Files of people: announced, sent to the store by themselves, looked at, and shown to those who may
//! see what they belong to (R43).
//!
//! The bytes never come through here: they go to a [`MediaStore`] and come from it, by signed addresses.
//! What is shown is the copy that was looked at, so that nobody can send one thing for the check and
//! another for the readers.

mod arrival;
mod claim;
mod holders;
mod kind;
mod store;
mod urls;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE32_DNSSEC;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Media, Upload};
use roundtable_model::{
    Entity, Expiry, MediaKey, MediaUse, Misfit, RequestId, Time, UploadState, UserId,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::claim::{claim, unclaimed};
pub use self::kind::MEDIA_TYPES;
pub use self::store::{Declared, MediaStore, MediaStoreError, SignedUpload};
pub use self::urls::MediaUrl;

use self::kind::Kind;
use crate::access::{Act, Standing, allows};
use crate::limits::UPLOAD_GRACE;
use crate::{Caller, Failure, Ground, refusals};

refusals! {
    /// Why a file was not taken or shown.
    MediaError {
        NoSuchUpload: NotFound = "there is no such upload",
        NoSuchMedia: NotFound = "there is no such file",
        Over: Conflict = "what this request announced has arrived or was given up; announce it anew",
        NotArrived: Conflict = "nothing has arrived yet: send the file first",
        NotAsDeclared: BadRequest = "the file is not what it was said to be; announce it again",
        StoreAway: Internal = "the store of files failed",
    }
}

/// The files of everybody.
#[derive(Clone, Debug)]
pub struct MediaFiles {
    ground: Ground,
    store: Arc<dyn MediaStore>,
}

/// A file to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewUpload {
    /// What it is, as a MIME type: one of [`MEDIA_TYPES`].
    pub content_type: String,
    /// How long it is.
    pub bytes: u64,
    /// What it is for, if that is known: then nothing else can have it.
    pub purpose: Option<MediaUse>,
}

/// Where and how a file is to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct UploadTicket {
    /// What the file is known by from now on.
    pub key: MediaKey,
    /// Where to: whoever knows it can send the file.
    pub upload_url: String,
    /// How.
    pub method: &'static str,
    /// With these headers, exactly.
    pub headers: BTreeMap<String, String>,
    /// Until then.
    pub expires_at: Time,
}

/// Not the address: it opens a door.
impl std::fmt::Debug for UploadTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UploadTicket").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What a request led to.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    key: String,
}

#[boxed]
impl MediaFiles {
    /// The files on this ground, with their bytes in this store.
    pub const fn new(ground: Ground, store: Arc<dyn MediaStore>) -> Self {
        Self { ground, store }
    }

    /// The same files, known through this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: Ground) -> Self {
        Self { ground, store: Arc::clone(&self.store) }
    }

    /// Announces a file; answers with where to send it.
    pub async fn create_upload(
        &self,
        caller: &Caller,
        input: &NewUpload,
        request: Option<&RequestId>,
    ) -> Result<UploadTicket, MediaError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::Upload, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        let kind = Kind::named(&input.content_type)?;
        self.check_size(kind, input.bytes)?;
        if input.purpose == Some(MediaUse::Profile) && !kind.is_image {
            let misfit = Misfit::new("a picture, for a profile", kind.content_type);
            return Err(Failure::bad("contentType", misfit).into());
        }
        let request = self.ground.request(&me.id, request, "createUpload", input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| {
                    let upload = self.upload(&me.id, &outcome.key()?).await?;
                    let upload = upload.filter(|upload| upload.state == UploadState::Pending);
                    self.ticket(&upload.ok_or(MediaError::Over)?).await
                },
                async || {
                    let upload = self.announced(&me.id, kind, input)?;
                    let ticket = self.ticket(&upload).await?;
                    let commit = self.ground.commit().with("upload", upload.create());
                    let outcome = Outcome::of(&upload);
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok::<_, MediaError>(commit.done(ticket).await?)
                },
            )
            .await
    }

    /// A file that has not arrived yet, under a name that nobody can guess.
    fn announced(&self, user: &UserId, kind: Kind, input: &NewUpload) -> Result<Upload, Failure> {
        let now = self.ground.now();
        Ok(Upload {
            user_id: user.clone(),
            key: new_key(user, &self.random::<20>())?,
            content_type: kind.content_type.to_owned(),
            bytes: input.bytes,
            state: UploadState::Pending,
            copy: None,
            width: None,
            height: None,
            purpose: input.purpose,
            holder: None,
            created_at: now,
            ttl: Some(Expiry::at(now.plus_ms(self.lasting_ms()).plus_ms(ms(UPLOAD_GRACE)))),
        })
    }

    /// Where a file can still be sent to.
    async fn ticket(&self, upload: &Upload) -> Result<UploadTicket, MediaError> {
        let expires_at = upload.created_at.plus_ms(self.lasting_ms());
        let left = expires_at.ms().checked_sub(self.ground.now().ms()).filter(|left| *left > 0);
        let left = Duration::from_millis(left.ok_or(MediaError::Over)?);
        let declared = Declared { content_type: &upload.content_type, bytes: upload.bytes };
        let signed = self.store.upload_url(&upload.key, declared, left).await?;
        Ok(UploadTicket {
            key: upload.key.clone(),
            upload_url: signed.url,
            method: signed.method,
            headers: signed.headers,
            expires_at,
        })
    }

    fn lasting_ms(&self) -> u64 {
        self.ground.settings().media.upload_seconds.saturating_mul(1_000)
    }

    fn check_size(&self, kind: Kind, bytes: u64) -> Result<(), Failure> {
        let settings = &self.ground.settings().media;
        let max = if kind.is_image { settings.image_bytes_max } else { settings.video_bytes_max };
        if (1..=max).contains(&bytes) {
            return Ok(());
        }
        let found = format!("{bytes} bytes, and {max} are the most");
        Err(Failure::bad("bytes", Misfit::new("a smaller file with something in it", found)))
    }

    fn random<const N: usize>(&self) -> String {
        BASE32_DNSSEC.encode(&self.ground.chance().bytes::<N>())
    }

    async fn upload(&self, user: &UserId, key: &MediaKey) -> Result<Option<Upload>, Failure> {
        Ok(self.ground.core().upload(user, key).get().await?)
    }
}

impl Outcome {
    fn of(upload: &Upload) -> Self {
        Self { key: upload.key.to_string() }
    }

    fn key(&self) -> Result<MediaKey, Failure> {
        self.key.parse().map_err(|misfit: Misfit| Failure::Internal(misfit.to_string()))
    }
}

/// What keys begin with.
const PREFIX: &str = "u/";

/// The key of a file of somebody. It names them, so that their upload is found by it; the rest is chance.
fn new_key(user: &UserId, name: &str) -> Result<MediaKey, Failure> {
    let key = format!("{PREFIX}{user}/{name}").parse();
    key.map_err(|misfit: Misfit| Failure::Internal(misfit.to_string()))
}

/// Whose file a key is of.
fn owner(key: &MediaKey) -> Option<UserId> {
    let (user, _) = key.as_str().strip_prefix(PREFIX)?.split_once('/')?;
    user.parse().ok()
}

/// What is shown of a file that has arrived.
fn shown(upload: &Upload) -> Media {
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
