//! Mutations of uploads.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewUpload;
use roundtable_model::{MediaKey, MediaUse};

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiText;
use crate::types::media::Media;
use crate::types::uploads::UploadTicket;

#[derive(Debug, Default)]
pub(super) struct UploadMutations;

/// A new upload.
#[derive(Debug, InputObject)]
pub(crate) struct UploadInput {
    /// The MIME type.
    content_type: String,
    /// The size of the file.
    bytes: u64,
    /// The only use of the file, if known: post, activity or profile.
    purpose: Option<String>,
}

impl UploadInput {
    fn upload(self) -> Result<NewUpload, ApiError> {
        let purpose_named =
            |name: &str| MediaUse::ALL.iter().find(|purpose| purpose.as_str() == name).copied();
        let purpose = match self.purpose.as_deref() {
            None => None,
            Some(name) => Some(purpose_named(name).ok_or_else(|| {
                ApiError::bad_request("purpose: expected one of post, activity, profile")
            })?),
        };
        Ok(NewUpload { content_type: self.content_type, bytes: self.bytes, purpose })
    }
}

#[Object]
impl UploadMutations {
    /// Announces a file and returns the address to send it to.
    async fn create_upload(
        &self,
        ctx: &Context<'_>,
        input: UploadInput,
        request_id: RequestIdArg,
    ) -> Result<UploadTicket, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (media, caller) = (&context.services().media, context.caller()?);
        Ok(media.create_upload(caller, &input.upload()?, id_ref(&request_id)).await?.into())
    }

    /// Checks the stored bytes against what was declared.
    async fn complete_upload(
        &self,
        ctx: &Context<'_>,
        s3_key: ApiText<MediaKey>,
        request_id: RequestIdArg,
    ) -> Result<Media, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (media, caller) = (&context.services().media, context.caller()?);
        Ok(media.complete_upload(caller, &s3_key.0, id_ref(&request_id)).await?.into())
    }
}
