//! Bringing a signed message to one receiver, and its reply back: once, in time, and no larger than
//! expected. What the message says, and what the reply means, is not its business.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, Uri};
use roundtable_model::Secret;
use roundtable_model::table::Clock;
use tokio::time::timeout;

use crate::Misconfigured;
use crate::client::{Client, address, client};
use crate::reach::Reach;
use crate::signature::SigningKey;

/// The largest body of a reply that is read.
pub const REPLY_BYTES_MAX: usize = 64 << 10;
/// How long a reply is waited for of which nobody wants more than its beginning: if it ends in time, the
/// connection can be used again.
const REST: Duration = Duration::from_secs(1);
/// The longest that anybody waits for a reply.
const PATIENCE_MAX: Duration = Duration::from_mins(1);

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("roundtable/", env!("CARGO_PKG_VERSION")));

/// Brings messages to one receiver. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Courier {
    address: Uri,
    key: Option<SigningKey>,
    patience: Duration,
    content_type: HeaderValue,
    clock: Arc<dyn Clock>,
    client: Client,
}

/// Something to be told to a receiver.
#[derive(Clone, Debug)]
pub struct Message {
    /// The same for the same message, however often it is sent; no full stop in it, since signatures
    /// put one behind it.
    pub id: String,
    /// What it says, as JSON.
    pub body: Bytes,
}

/// What a receiver replied.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Whether it took it; a redirect is as any other refusal.
    pub status: StatusCode,
    /// What the headers say.
    pub headers: HeaderMap,
    /// What it said; no longer than [`REPLY_BYTES_MAX`].
    pub body: Bytes,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The message cannot be sent to anybody.
    #[error("the message id is no header")]
    BadId,
    /// The receiver was not reached, or closed the connection without a reply.
    #[error("the hook cannot be reached: {0}")]
    Unreachable(String),
    /// The reply had no end, in spite of what it said.
    #[error("the hook's answer broke off: {0}")]
    BrokeOff(String),
    /// The reply is longer than expected.
    #[error("the hook's answer is larger than {REPLY_BYTES_MAX} bytes")]
    TooLarge,
    /// There was no whole reply in time.
    #[error("no answer within {0:?}")]
    TooLate(Duration),
}

impl Courier {
    /// A courier to this address, which must be `http` or `https`. Messages are signed with the secret, if
    /// there is one; a whole reply must be there within `patience`, connecting and all.
    pub fn new(
        to: &str,
        secret: Option<&Secret>,
        patience: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Misconfigured> {
        Self::reaching(Reach::Everything, to, secret, patience, clock)
    }

    /// The same, which goes no further than this.
    pub(crate) fn reaching(
        reach: Reach,
        to: &str,
        secret: Option<&Secret>,
        patience: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Misconfigured> {
        let address = address(to)?;
        let key = secret.map(SigningKey::read).transpose()?;
        if patience.is_zero() || patience > PATIENCE_MAX {
            return Err(Misconfigured::Patience(patience));
        }
        let client = client(&address, reach)?;
        let content_type = JSON;
        Ok(Self { address, key, patience, content_type, clock, client })
    }

    /// The same courier, whose messages are of this type instead of plain JSON.
    #[must_use]
    pub fn speaking(self, content_type: HeaderValue) -> Self {
        Self { content_type, ..self }
    }

    /// Sends a message once, and waits for the reply.
    pub async fn send(&self, message: &Message) -> Result<Reply, SendError> {
        let request = self.request(message)?;
        let reply = timeout(self.patience, self.exchange(request)).await;
        reply.unwrap_or(Err(SendError::TooLate(self.patience)))
    }

    /// Sends a message once, and waits only until the receiver says whether it took it. Whatever else it
    /// says, and however much, changes nothing.
    pub async fn tell(&self, message: &Message) -> Result<StatusCode, SendError> {
        let request = self.request(message)?;
        let response = timeout(self.patience, self.begin(request)).await;
        let response = response.unwrap_or(Err(SendError::TooLate(self.patience)))?;
        let (head, body) = response.into_parts();
        let rest = Limited::new(body, REPLY_BYTES_MAX).collect();
        drop(timeout(self.patience.min(REST), rest).await);
        Ok(head.status)
    }

    async fn begin(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, SendError> {
        let response = self.client.request(request).await;
        response.map_err(|error| SendError::Unreachable(causes(&error)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Reply, SendError> {
        let (head, body) = self.begin(request).await?.into_parts();
        let body = Limited::new(body, REPLY_BYTES_MAX).collect().await;
        let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => SendError::TooLarge,
            None => SendError::BrokeOff(causes(&*error)),
        })?;
        Ok(Reply { status: head.status, headers: head.headers, body: body.to_bytes() })
    }

    fn request(&self, message: &Message) -> Result<Request<Full<Bytes>>, SendError> {
        let Message { id, body } = message;
        let seconds = self.clock.now_seconds();
        let header = |text: &str| HeaderValue::from_str(text).map_err(|_| SendError::BadId);
        if id.contains('.') {
            return Err(SendError::BadId);
        }
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.address.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        headers.insert(USER_AGENT, AGENT);
        headers.insert(WEBHOOK_ID, header(id)?);
        headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(seconds));
        if let Some(key) = &self.key {
            headers.insert(WEBHOOK_SIGNATURE, header(&key.sign(id, seconds, body))?);
        }
        Ok(request)
    }
}

/// The host alone: what else an address says may open doors.
impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = (self.address.scheme_str(), self.address.host());
        let mut shown = f.debug_struct("Courier");
        shown.field("to", &to).field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// An error and everything behind it: the client's own words are few.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
