//! The GraphQL type of upload tickets.

use async_graphql::Object;
use roundtable_domain::UploadInstructions;

use crate::scalars::{DateTime, Json, Url};

#[derive(Debug)]
pub(crate) struct UploadTicket(UploadInstructions);

impl From<UploadInstructions> for UploadTicket {
    fn from(instructions: UploadInstructions) -> Self {
        Self(instructions)
    }
}

#[Object]
impl UploadTicket {
    /// The key of the file.
    async fn s3_key(&self) -> &str {
        self.0.key.as_str()
    }

    /// The address to send the file to. Any client that knows it can send the file.
    async fn upload_url(&self) -> Url {
        Url(self.0.upload_url.clone())
    }

    /// The HTTP method.
    async fn method(&self) -> &str {
        self.0.method
    }

    /// The exact HTTP headers.
    async fn headers(&self) -> Json {
        let headers = self.0.headers.iter();
        Json(headers.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// The time at which uploadUrl expires.
    async fn expires_at(&self) -> DateTime {
        DateTime(self.0.expires_at)
    }
}
