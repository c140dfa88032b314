//! Where and how files are sent, as the API shows it.

use async_graphql::Object;
use roundtable_domain::UploadTicket as Ticket;

use crate::scalars::{DateTime, Json, Url};

/// Where and how a file is to be sent.
#[derive(Debug)]
pub(crate) struct UploadTicket(Ticket);

impl From<Ticket> for UploadTicket {
    fn from(ticket: Ticket) -> Self {
        Self(ticket)
    }
}

#[Object]
impl UploadTicket {
    /// What the file is known by from now on.
    async fn s3_key(&self) -> &str {
        self.0.key.as_str()
    }

    /// Where to: whoever knows it can send the file.
    async fn upload_url(&self) -> Url {
        Url(self.0.upload_url.clone())
    }

    /// With which method of HTTP.
    async fn method(&self) -> &str {
        self.0.method
    }

    /// With these headers, exactly.
    async fn headers(&self) -> Json {
        let headers = self.0.headers.iter();
        Json(headers.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Until then.
    async fn expires_at(&self) -> DateTime {
        DateTime(self.0.expires_at)
    }
}
