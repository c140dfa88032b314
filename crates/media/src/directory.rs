//! Files in a directory of this machine. Its addresses are our own: the server asks here what one
//! allows, and hands over the bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, pin_mut};
use object_store::local::LocalFileSystem;
use object_store::{GetOptions, GetRange, ObjectStoreExt, PutPayload};
use roundtable_domain::{Declared, MediaStore, MediaStoreError, SignedUpload};
use roundtable_model::MediaKey;
use roundtable_model::table::Clock;

use crate::Misconfigured;
use crate::leftovers::Leftovers;
use crate::objects::{Objects, failed, incoming, kept};
use crate::signature::{Grant, SigningKey};

/// What every answer with a file must say, so that no browser takes it for anything else, or runs it.
pub const SAFE_HEADERS: [(&str, &str); 3] = [
    ("x-content-type-options", "nosniff"),
    ("content-security-policy", "default-src 'none'; sandbox"),
    ("content-disposition", "inline"),
];

/// Files in a directory.
#[derive(Clone, Debug)]
pub struct Directory {
    objects: Objects,
    leftovers: Leftovers,
    base: String,
    key: SigningKey,
    clock: Arc<dyn Clock>,
}

/// Leave to send a file.
#[derive(Clone, Debug)]
pub struct Sending(Grant);

/// Leave to fetch a file.
#[derive(Clone, Debug)]
pub struct Fetching(Grant);

/// An address that allows nothing: not one of ours, or no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this address is not, or no longer, good for that")]
pub struct Denied;

/// Why a file was not received. Nothing of it is there.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotReceived {
    /// It is said to be something else than was announced.
    #[error("the content type is not the one that was announced")]
    OtherType,
    /// It is longer or shorter than was announced.
    #[error("the length is not the one that was announced")]
    OtherLength,
    /// Its sender went away.
    #[error("the file broke off")]
    BrokeOff,
    /// The directory failed.
    #[error(transparent)]
    Failed(#[from] MediaStoreError),
}

/// Why a file was not fetched.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotFetched {
    /// There is none any more.
    #[error("there is no such file")]
    Gone,
    /// The part that was asked for is not there.
    #[error("the file is shorter than that")]
    OutOfRange,
    /// The directory failed.
    #[error(transparent)]
    Failed(#[from] MediaStoreError),
}

/// A file that is being fetched; to be served with [`SAFE_HEADERS`].
pub struct Fetched {
    /// What it is.
    pub content_type: String,
    /// How long all of it is.
    pub length: u64,
    /// Which bytes of it these are.
    pub range: Range<u64>,
    /// The bytes.
    pub body: BoxStream<'static, Result<Bytes, MediaStoreError>>,
}

impl Directory {
    /// The files in this directory, which is made if it is not there. `base` is the address that the
    /// server serves them under, and `secret` what addresses are signed with.
    pub fn open(
        at: &Path,
        base: &str,
        secret: &[u8; 32],
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Misconfigured> {
        let is_web = base.starts_with("http://") || base.starts_with("https://");
        if !is_web || base.contains(['?', '#']) {
            return Err(Misconfigured::Address);
        }
        let wrong = |error: &dyn std::error::Error| Misconfigured::Directory(error.to_string());
        std::fs::create_dir_all(at).map_err(|error| wrong(&error))?;
        // A file is whole under its name or not there, also after a power failure.
        let files = LocalFileSystem::new_with_prefix(at).map_err(|error| wrong(&error))?;
        let leftovers = Leftovers::of(files.clone());
        let files = files.with_fsync(true).with_automatic_cleanup(true);
        let key = SigningKey::new(secret).ok_or(Misconfigured::Address)?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self { objects: Objects::new(Arc::new(files)), leftovers, base, key, clock })
    }

    /// Whether a file may be sent to this address: what follows the base, and its query.
    pub fn may_send(&self, key: &str, query: &str) -> Result<Sending, Denied> {
        self.granted("PUT", key, query).map(Sending)
    }

    /// Whether a file may be fetched from this address.
    pub fn may_fetch(&self, key: &str, query: &str) -> Result<Fetching, Denied> {
        self.granted("GET", key, query).map(Fetching)
    }

    /// Takes in what is sent: all of it, or nothing.
    pub async fn receive<E>(
        &self,
        leave: &Sending,
        content_type: Option<&str>,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<(), NotReceived> {
        let Sending(grant) = leave;
        if content_type != Some(grant.content_type.as_str()) {
            return Err(NotReceived::OtherType);
        }
        let at = incoming(&grant.key)?;
        // Dropped before it is complete, it leaves nothing.
        let mut upload = self.objects.store().put_multipart(&at).await.map_err(failed)?;
        let mut left = grant.bytes;
        pin_mut!(body);
        while let Some(part) = body.next().await {
            let part = part.map_err(|_| NotReceived::BrokeOff)?;
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            left = left.checked_sub(length).ok_or(NotReceived::OtherLength)?;
            upload.put_part(PutPayload::from(part)).await.map_err(failed)?;
        }
        if left > 0 {
            return Err(NotReceived::OtherLength);
        }
        upload.complete().await.map_err(failed)?;
        Ok(())
    }

    /// Opens a file, or a part of it.
    pub async fn fetch(
        &self,
        leave: &Fetching,
        range: Option<Range<u64>>,
    ) -> Result<Fetched, NotFetched> {
        let Fetching(grant) = leave;
        let at = kept(&grant.key, &grant.copy)?;
        let gone = |error| match error {
            object_store::Error::NotFound { .. } => NotFetched::Gone,
            error => failed(error).into(),
        };
        if let Some(range) = &range {
            let length = self.objects.store().head(&at).await.map_err(gone)?.size;
            if range.is_empty() || range.start >= length {
                return Err(NotFetched::OutOfRange);
            }
        }
        let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.objects.store().get_opts(&at, options).await.map_err(gone)?;
        Ok(Fetched {
            content_type: grant.content_type.clone(),
            length: found.meta.size,
            range: found.range.clone(),
            body: found.into_stream().map(|part| part.map_err(failed)).boxed(),
        })
    }

    fn granted(&self, method: &'static str, key: &str, query: &str) -> Result<Grant, Denied> {
        let grant = self.key.read(method, key, query).ok_or(Denied)?;
        if self.clock.now_seconds() >= grant.expires {
            return Err(Denied);
        }
        Ok(grant)
    }

    fn url(&self, grant: &Grant) -> String {
        format!("{}/{}?{}", self.base, grant.key, self.key.query(grant))
    }

    /// The second from which on an address is good no more; at least one from now.
    fn until(&self, lasting: Duration) -> u64 {
        self.clock.now_seconds().saturating_add(lasting.as_secs().max(1))
    }
}

#[async_trait]
impl MediaStore for Directory {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: Declared<'_>,
        lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        let content_type = declared.content_type.to_owned();
        let headers = BTreeMap::from([("content-type".to_owned(), content_type.clone())]);
        let grant = Grant {
            method: "PUT",
            key: key.clone(),
            copy: String::new(),
            content_type,
            bytes: declared.bytes,
            expires: self.until(lasting),
        };
        Ok(SignedUpload { url: self.url(&grant), method: grant.method, headers })
    }

    async fn take(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        self.objects.take(key, copy, bytes).await
    }

    async fn read(
        &self,
        key: &MediaKey,
        copy: &str,
        range: Range<u64>,
    ) -> Result<Vec<u8>, MediaStoreError> {
        self.objects.read(key, copy, range).await
    }

    async fn download_url(
        &self,
        key: &MediaKey,
        copy: &str,
        content_type: &str,
        lasting: Duration,
    ) -> Result<String, MediaStoreError> {
        Ok(self.url(&Grant {
            method: "GET",
            key: key.clone(),
            copy: copy.to_owned(),
            content_type: content_type.to_owned(),
            bytes: 0,
            expires: self.until(lasting),
        }))
    }

    async fn discard(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.discard(key, copy).await
    }

    async fn tidy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.clear(key, Some(copy)).await?;
        self.leftovers.clear(key).await
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.objects.clear(key, None).await?;
        self.leftovers.clear(key).await
    }
}
