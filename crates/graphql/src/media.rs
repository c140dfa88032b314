//! Files of posts, activities and profiles, and their upload.

use std::slice;

use roundtable_domain::{MediaError, NewUpload, UploadInstructions};
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::{MediaKey, MediaUse, RequestId, entities};

use crate::request::RequestContext;
use crate::scalars::{Json, Url};

#[derive(Clone, Debug)]
pub(crate) struct Media {
    file: entities::Media,
    /// A temporary address.
    url: Url,
}

#[object(of = self.file)]
impl Media {
    fn url(&self) -> &Url {
        &self.url
    }
}

/// Returns the addresses of files that the viewer may see.
pub(crate) async fn urls(
    context: &RequestContext,
    keys: &[MediaKey],
) -> Result<Vec<Option<Url>>, ApiError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let urls = context.services().media.urls(context.viewer(), keys).await?;
    Ok(urls.into_iter().map(|url| url.map(|url| Url(url.url))).collect())
}

/// Returns the files of each parent that can be fetched. An address that is missing would be an error, which
/// nulls the objects around it.
pub(crate) async fn fetchable<'a>(
    context: &RequestContext,
    files: impl IntoIterator<Item = &'a [entities::Media]>,
) -> Result<Vec<Vec<Media>>, ApiError> {
    let files: Vec<&[entities::Media]> = files.into_iter().collect();
    let keys: Vec<MediaKey> = files.iter().copied().flatten().map(|it| it.s3_key.clone()).collect();
    let mut urls = urls(context, &keys).await?.into_iter();
    let mut with_url = |file: &entities::Media| {
        let url = urls.next().flatten()?;
        Some(Media { file: file.clone(), url })
    };
    Ok(files.iter().map(|files| files.iter().filter_map(&mut with_url).collect()).collect())
}

#[derive(Debug)]
pub(crate) struct UploadTicket(UploadInstructions);

#[object(of = self.0)]
impl UploadTicket {
    fn s3_key(&self) -> &MediaKey {
        &self.0.key
    }

    fn headers(&self) -> Json {
        let headers = self.0.headers.iter();
        Json(headers.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UploadInput {
    content_type: String,
    bytes: u64,
    purpose: Option<String>,
}

impl UploadInput {
    fn upload(self) -> Result<NewUpload, ApiError> {
        let Self { content_type, bytes, purpose } = self;
        let expected = "purpose: expected one of post, activity, profile";
        let named = |name: &str| {
            let purpose = MediaUse::ALL.iter().find(|purpose| purpose.as_str() == name);
            purpose.copied().ok_or_else(|| ApiError::bad_request(expected))
        };
        let purpose = purpose.as_deref().map(named).transpose()?;
        Ok(NewUpload { content_type, bytes, purpose })
    }
}

pub(crate) struct UploadMutations;

#[fields(Mutation)]
impl UploadMutations {
    async fn create_upload(
        context: &RequestContext,
        input: UploadInput,
        request_id: Option<RequestId>,
    ) -> Result<UploadTicket, ApiError> {
        let (media, caller) = (&context.services().media, context.caller()?);
        let ticket = media.create_upload(caller, &input.upload()?, request_id.as_ref()).await?;
        Ok(UploadTicket(ticket))
    }

    async fn complete_upload(
        context: &RequestContext,
        s3_key: MediaKey,
        request_id: Option<RequestId>,
    ) -> Result<Media, ApiError> {
        let (media, caller) = (&context.services().media, context.caller()?);
        let file = media.complete_upload(caller, &s3_key, request_id.as_ref()).await?;
        let fetched = fetchable(context, [slice::from_ref(&file)]).await?;
        fetched.into_iter().flatten().next().ok_or_else(|| MediaError::NoSuchMedia.into())
    }
}
