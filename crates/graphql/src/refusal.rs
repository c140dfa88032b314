//! Why there is no answer, as clients are told.

use async_graphql::{Error, ErrorExtensionValues, Pos, Response, ServerError};
use roundtable_domain::{Code, Failure, Refusal};

/// A refusal of a service, ready for clients.
///
/// Deliberately not `Display`: whatever is, the library would turn into text for clients by itself, and
/// with it the inside of the store.
#[derive(Clone, Debug)]
pub struct Refused {
    code: Code,
    sentence: String,
}

/// What people read of a failure that is ours.
const INTERNAL: &str = "something went wrong here; it was noted, please try again";

/// What an error has in its extensions if nobody knows what was done.
pub(crate) const OUTCOME: &str = "outcome";

impl Refused {
    /// A refusal of this layer.
    pub fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }

    /// The input cannot be meant so.
    pub fn bad(sentence: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, sentence)
    }

    /// Nobody is signed in.
    pub fn unauthenticated() -> Self {
        Failure::Unauthenticated.into()
    }

    /// Whether it says no more than that there is nothing for whoever asks.
    pub(crate) const fn hides(&self) -> bool {
        matches!(self.code, Code::NotFound | Code::Forbidden | Code::Unauthenticated)
    }

    /// Its code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// As the error of a request of which nothing was done: there is no place in a document that was
    /// never read.
    pub fn unasked(self) -> ServerError {
        let error: Error = self.into();
        ServerError { locations: Vec::new(), ..error.into_server_error(Pos::default()) }
    }

    /// As the answer to a request that was begun and given up: what it asked for may have been done.
    pub fn unfinished(self) -> Response {
        let mut error = self.unasked();
        error.extensions.get_or_insert_default().set(OUTCOME, "UNKNOWN");
        Response::from_errors(vec![error])
    }
}

impl<R: Refusal> From<R> for Refused {
    fn from(refusal: R) -> Self {
        let code = refusal.code();
        if code == Code::Internal {
            tracing::error!(error = %refusal, "a request failed");
            return Self::new(code, INTERNAL);
        }
        Self::new(code, refusal.to_string())
    }
}

/// What may be hidden from whoever asks: then it is as if it were not there.
pub(crate) fn if_seen<T>(found: Result<T, Refused>) -> Result<Option<T>, Refused> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(refused) if refused.hides() => Ok(None),
        Err(refused) => Err(refused),
    }
}

/// The whole request is refused.
impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        Self::from_errors(vec![refused.unasked()])
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let mut extensions = ErrorExtensionValues::default();
        extensions.set("code", refused.code.as_str());
        Self { message: refused.sentence, source: None, extensions: Some(extensions) }
    }
}
