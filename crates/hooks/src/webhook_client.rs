//! Sends a signed message to one receiver and returns its reply: one attempt, within a time and size
//! limit. It does not interpret either.

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

use crate::HookConfigError;
use crate::signature::HookSigningKey;
use crate::targets::AllowedTargets;
use crate::transport::{self, HttpTransport, parse_address};

pub const REPLY_BYTES_MAX: usize = 64 << 10;
/// Time to read the rest of a reply whose body is ignored, so that the connection can be reused.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
const TIMEOUT_MAX: Duration = Duration::from_mins(1);

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("roundtable/", env!("CARGO_PKG_VERSION")));

/// Sends messages to one receiver. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct WebhookClient {
    address: Uri,
    key: Option<HookSigningKey>,
    limit: Duration,
    content_type: HeaderValue,
    clock: Arc<dyn Clock>,
    client: HttpTransport,
}

/// A message to a receiver.
#[derive(Clone, Debug)]
pub struct HookMessage {
    /// The same for every attempt; without a full stop, which separates it in the signed text.
    pub id: String,
    /// JSON.
    pub body: Bytes,
}

#[derive(Clone, Debug)]
pub struct HookReply {
    /// Redirects are not followed and count as failures.
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// At most [`REPLY_BYTES_MAX`] bytes.
    pub body: Bytes,
}

/// The reason that there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("the message id cannot be sent as a header")]
    BadId,
    /// The receiver was not reached, or closed the connection without a reply.
    #[error("the hook cannot be reached: {0}")]
    Unreachable(String),
    #[error("the hook's answer ended early: {0}")]
    Incomplete(String),
    #[error("the hook's answer is larger than {REPLY_BYTES_MAX} bytes")]
    TooLarge,
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
}

impl WebhookClient {
    /// Creates a client for an `http` or `https` address. Messages are signed if there is a secret; the
    /// whole exchange, including connecting, must end within `limit`.
    pub fn new(
        address: &str,
        secret: Option<&Secret>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HookConfigError> {
        Self::with_targets(AllowedTargets::Any, address, secret, limit, clock)
    }

    /// Creates a client that connects only to allowed targets.
    pub(crate) fn with_targets(
        targets: AllowedTargets,
        address: &str,
        secret: Option<&Secret>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, HookConfigError> {
        let address = parse_address(address)?;
        let key = secret.map(HookSigningKey::read).transpose()?;
        if limit.is_zero() || limit > TIMEOUT_MAX {
            return Err(HookConfigError::Timeout(limit));
        }
        let client = transport::open(&address, targets)?;
        let content_type = JSON;
        Ok(Self { address, key, limit, content_type, clock, client })
    }

    /// Sets the content type of messages, JSON by default.
    #[must_use]
    pub fn with_content_type(self, content_type: HeaderValue) -> Self {
        Self { content_type, ..self }
    }

    /// Sends a message once and returns the reply.
    pub async fn send(&self, message: &HookMessage) -> Result<HookReply, SendError> {
        let request = self.request(message)?;
        let reply = timeout(self.limit, self.exchange(request)).await;
        reply.unwrap_or(Err(SendError::TimedOut(self.limit)))
    }

    /// Sends a message once and returns the status of the reply; its body is ignored.
    pub async fn notify(&self, message: &HookMessage) -> Result<StatusCode, SendError> {
        let request = self.request(message)?;
        let response = timeout(self.limit, self.send_request(request)).await;
        let response = response.unwrap_or(Err(SendError::TimedOut(self.limit)))?;
        let (head, body) = response.into_parts();
        let drain = Limited::new(body, REPLY_BYTES_MAX).collect();
        drop(timeout(self.limit.min(DRAIN_TIMEOUT), drain).await);
        Ok(head.status)
    }

    async fn send_request(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, SendError> {
        let response = self.client.request(request).await;
        response.map_err(|error| SendError::Unreachable(with_sources(&error)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<HookReply, SendError> {
        let (head, body) = self.send_request(request).await?.into_parts();
        let body = Limited::new(body, REPLY_BYTES_MAX).collect().await;
        let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => SendError::TooLarge,
            None => SendError::Incomplete(with_sources(&*error)),
        })?;
        Ok(HookReply { status: head.status, headers: head.headers, body: body.to_bytes() })
    }

    fn request(&self, message: &HookMessage) -> Result<Request<Full<Bytes>>, SendError> {
        let HookMessage { id, body } = message;
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

/// Shows the host alone: the rest of an address may hold secrets.
impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = (self.address.scheme_str(), self.address.host());
        let mut output = f.debug_struct("WebhookClient");
        output.field("to", &to).field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The error with all its sources: the client's own message says little.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}
