//! Files in a bucket of a store that speaks S3's API. Clients send to it and fetch from it directly, by
//! presigned addresses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use roundtable_domain::{Declared, MediaStore, MediaStoreError, S3Settings, SignedUpload};
use roundtable_model::MediaKey;

use crate::Misconfigured;
use crate::objects::{Objects, failed, incoming, kept};

const CONTENT_TYPE: HeaderName = HeaderName::from_static("content-type");

/// Files in a bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    objects: Objects,
    signer: Arc<AmazonS3>,
}

impl Bucket {
    /// The files in this bucket.
    pub fn open(settings: &S3Settings) -> Result<Self, Misconfigured> {
        let S3Settings { bucket, region, endpoint, access_key_id, secret_access_key } = settings;
        let mut builder = match (access_key_id, secret_access_key) {
            (Some(id), Some(secret)) => AmazonS3Builder::new()
                .with_access_key_id(id)
                .with_secret_access_key(secret.expose()),
            (None, None) => AmazonS3Builder::from_env(),
            _ => return Err(wrong("access-key-id and secret-access-key belong together")),
        };
        if bucket.is_empty() || region.is_empty() {
            return Err(wrong("bucket and region must have a name each"));
        }
        builder = builder.with_bucket_name(bucket).with_region(region);
        if let Some(endpoint) = endpoint {
            let is_plain = endpoint.starts_with("http://");
            builder = builder.with_endpoint(endpoint).with_allow_http(is_plain);
        }
        let store = Arc::new(builder.build().map_err(wrong)?);
        Ok(Self { objects: Objects::new(store.clone()), signer: store })
    }
}

fn wrong(what: impl std::fmt::Display) -> Misconfigured {
    Misconfigured::Bucket(what.to_string())
}

#[async_trait]
impl MediaStore for Bucket {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: Declared<'_>,
        lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        let content_type = HeaderValue::from_str(declared.content_type).map_err(failed)?;
        // The store itself refuses what is called something else. What is longer it takes, because the
        // signer binds no lengths; it is refused before anything is copied.
        let options = SignedUrlOptions::new().with_signed_header(CONTENT_TYPE, content_type);
        let at = incoming(key)?;
        let signed = self.signer.signed_url_opts(Method::PUT, &at, lasting, &options);
        let url = signed.await.map_err(failed)?.to_string();
        let headers =
            BTreeMap::from([(CONTENT_TYPE.to_string(), declared.content_type.to_owned())]);
        Ok(SignedUpload { url, method: "PUT", headers })
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
        // Whatever the store remembers: it is served as what it was found to be.
        let options = SignedUrlOptions::new().with_query([
            ("response-content-type", content_type),
            ("response-content-disposition", "inline"),
        ]);
        let at = kept(key, copy)?;
        let signed = self.signer.signed_url_opts(Method::GET, &at, lasting, &options);
        Ok(signed.await.map_err(failed)?.to_string())
    }

    async fn discard(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.discard(key, copy).await
    }

    async fn tidy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.clear(key, Some(copy)).await
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.objects.clear(key, None).await
    }
}
