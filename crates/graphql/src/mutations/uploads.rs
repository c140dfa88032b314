//! Sending files.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewUpload;
use roundtable_model::{MediaKey, MediaUse};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::Text;
use crate::types::media::Media;
use crate::types::uploads::UploadTicket;

/// Mutations of files.
#[derive(Debug, Default)]
pub(super) struct Uploading;

/// A file to be sent.
#[derive(Debug, InputObject)]
pub(crate) struct UploadInput {
    /// What it is, as a MIME type.
    content_type: String,
    /// How long it is.
    bytes: u64,
    /// What it is for, if that is known: post, activity or profile. Then nothing else can have it.
    purpose: Option<String>,
}

impl UploadInput {
    fn upload(self) -> Result<NewUpload, Refused> {
        let named = |name: &str| MediaUse::ALL.iter().find(|known| known.as_str() == name).copied();
        let purpose =
            match self.purpose.as_deref() {
                None => None,
                Some(name) => Some(named(name).ok_or_else(|| {
                    Refused::bad("purpose: expected one of post, activity, profile")
                })?),
            };
        Ok(NewUpload { content_type: self.content_type, bytes: self.bytes, purpose })
    }
}

#[Object]
impl Uploading {
    /// Announces a file; answers with where to send it.
    async fn create_upload(
        &self,
        ctx: &Context<'_>,
        input: UploadInput,
        request_id: Once,
    ) -> Result<UploadTicket, Refused> {
        let asked = Asked::of(ctx)?;
        let (media, caller) = (&asked.services().media, asked.caller()?);
        Ok(media.create_upload(caller, &input.upload()?, once(&request_id)).await?.into())
    }

    /// Checks the stored bytes against what was declared.
    async fn complete_upload(
        &self,
        ctx: &Context<'_>,
        s3_key: Text<MediaKey>,
        request_id: Once,
    ) -> Result<Media, Refused> {
        let asked = Asked::of(ctx)?;
        let (media, caller) = (&asked.services().media, asked.caller()?);
        Ok(media.complete_upload(caller, &s3_key.0, once(&request_id)).await?.into())
    }
}
