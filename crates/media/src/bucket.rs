//! Media files in an S3 bucket. Clients upload and download directly, by presigned URLs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::Error;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use roundtable_domain::{
    DeclaredFile, MediaStore, MediaStoreError, MediaStoreProblem, S3Settings, SignedUpload,
};
use roundtable_model::{MediaKey, Time};

use crate::MediaConfigError;
use crate::objects::{MediaObjects, copy_path, failed, upload_path};
use crate::presigned_length::bind_length;
use crate::probe::{ProbeStep, probe};

const CONTENT_TYPE: HeaderName = HeaderName::from_static("content-type");

/// Codes of S3 for credentials that are wrong, or lack a permission.
const DENIED_CODES: [&str; 5] =
    ["AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"];
/// The codes of S3 for a bucket of another region; the last is a redirect without a place.
const REGION_CODES: [&str; 3] =
    ["AuthorizationHeaderMalformed", "PermanentRedirect", "incorrectly configured region"];

#[derive(Clone, Debug)]
pub struct Bucket {
    name: String,
    region: String,
    objects: MediaObjects,
    signer: Arc<AmazonS3>,
}

impl Bucket {
    pub fn open(settings: &S3Settings) -> Result<Self, MediaConfigError> {
        let S3Settings { bucket, region, endpoint, access_key_id, secret_access_key } = settings;
        let mut builder = match (access_key_id, secret_access_key) {
            (Some(id), Some(secret)) => AmazonS3Builder::new()
                .with_access_key_id(id)
                .with_secret_access_key(secret.expose()),
            (None, None) => AmazonS3Builder::from_env(),
            _ => return Err(invalid("access-key-id and secret-access-key must be set together")),
        };
        if bucket.is_empty() || region.is_empty() {
            return Err(invalid("bucket and region must not be empty"));
        }
        builder = builder.with_bucket_name(bucket).with_region(region);
        if let Some(endpoint) = endpoint {
            let is_plain = endpoint.starts_with("http://");
            builder = builder.with_endpoint(endpoint).with_allow_http(is_plain);
        }
        let store = Arc::new(builder.build().map_err(invalid)?);
        let (name, region) = (bucket.clone(), region.clone());
        Ok(Self { name, region, objects: MediaObjects::new(store.clone()), signer: store })
    }
}

impl Bucket {
    /// Says what is wrong with the bucket, and what to do about it.
    fn problem(&self, step: ProbeStep, error: &Error) -> String {
        let Self { name, region, .. } = self;
        let permission = match step {
            ProbeStep::Write => "s3:PutObject",
            ProbeStep::Copy => "s3:GetObject and s3:PutObject",
            ProbeStep::Read => "s3:GetObject",
            ProbeStep::List => "s3:ListBucket",
            ProbeStep::Delete => "s3:DeleteObject",
        };
        // The errors of lists have the codes of S3 in their text alone.
        let text = error.to_string();
        let has_code = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
        let is_missing = matches!(error, Error::NotFound { .. }) || has_code(&["NoSuchBucket"]);
        let is_denied =
            matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. });
        let advice = if is_missing {
            format!(
                "there is no such bucket in the region {region}: create it, or correct `media.s3.bucket`, \
                 `media.s3.region` or `media.s3.endpoint`"
            )
        } else if is_denied || has_code(&DENIED_CODES) {
            format!(
                "{permission} is denied: allow it for the credentials of this process, or correct \
                 `media.s3.access-key-id` and `media.s3.secret-access-key`"
            )
        } else if has_code(&REGION_CODES) {
            format!(
                "it is not in the region {region}: correct `media.s3.region` or `media.s3.endpoint`"
            )
        } else {
            format!(
                "{permission} fails: check the network and `media.s3.endpoint`, and see the log"
            )
        };
        format!("files: the bucket {name} does not work: {advice}")
    }
}

fn invalid(problem: impl std::fmt::Display) -> MediaConfigError {
    MediaConfigError::Bucket(problem.to_string())
}

#[async_trait]
impl MediaStore for Bucket {
    async fn upload_url(
        &self,
        key: &MediaKey,
        declared: DeclaredFile<'_>,
        lasting: Duration,
    ) -> Result<SignedUpload, MediaStoreError> {
        let content_type = HeaderValue::from_str(declared.content_type).map_err(failed)?;
        // The store itself rejects another content type or length. Clients send the length anyway, so
        // it is not among the headers to be set, which browsers would refuse to do.
        let options = SignedUrlOptions::new().with_signed_header(CONTENT_TYPE, content_type);
        let at = upload_path(key)?;
        let signed = self.signer.signed_url_opts(Method::PUT, &at, lasting, &options);
        let url = signed.await.map_err(failed)?.to_string();
        let credential = self.signer.credentials().get_credential().await.map_err(failed)?;
        let keys = (credential.key_id.as_str(), credential.secret_key.as_str());
        let url = bind_length(&url, keys, declared.content_type, declared.bytes)
            .ok_or_else(|| failed("the credentials changed; try again"))?;
        let headers =
            BTreeMap::from([(CONTENT_TYPE.to_string(), declared.content_type.to_owned())]);
        Ok(SignedUpload { url, method: "PUT", headers })
    }

    async fn copy_upload(
        &self,
        key: &MediaKey,
        copy: &str,
        bytes: u64,
    ) -> Result<Option<u64>, MediaStoreError> {
        self.objects.copy_upload(key, copy, bytes).await
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
        // Served with the type that was detected, not the one the store remembers.
        let options = SignedUrlOptions::new().with_query([
            ("response-content-type", content_type),
            ("response-content-disposition", "inline"),
        ]);
        let at = copy_path(key, copy)?;
        let signed = self.signer.signed_url_opts(Method::GET, &at, lasting, &options);
        Ok(signed.await.map_err(failed)?.to_string())
    }

    async fn remove_copy(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.remove_copy(key, copy).await
    }

    async fn remove_others(&self, key: &MediaKey, copy: &str) -> Result<(), MediaStoreError> {
        self.objects.clear(key, Some(copy)).await
    }

    async fn remove(&self, key: &MediaKey) -> Result<(), MediaStoreError> {
        self.objects.clear(key, None).await
    }

    async fn sweep_uploads(&self, before: Time) -> Result<usize, MediaStoreError> {
        self.objects.sweep_uploads(before).await
    }

    async fn probe(&self, name: &str) -> Result<(), MediaStoreProblem> {
        let Err((step, error)) = probe(self.objects.store(), name).await else { return Ok(()) };
        Err(MediaStoreProblem { problem: self.problem(step, &error), detail: error.to_string() })
    }
}
