//! Access tokens: RS256, valid for minutes. They name the user, the session, and whether the user had
//! roles; the roles themselves are read from the profile, so that no token outlives one.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use jsonwebtoken::{Algorithm, Header, Validation};
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_domain::{Code, Roles, SignedInUser};
use roundtable_interface::{ApiError, TokenIssuer};
use roundtable_model::table::Clock;
use roundtable_model::{SessionId, UserId};
use serde::{Deserialize, Serialize};

use crate::keys::KeyRing;

/// Recently verified tokens, whose signature is not checked again.
const VERIFIED_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(20_000 - 1);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct AccessClaims {
    iss: String,
    aud: String,
    sub: String,
    sid: String,
    /// True if the user had a role beyond the default: if not, the profile is not read.
    #[serde(default)]
    staff: bool,
    iat: u64,
    exp: u64,
}

/// The audience of tokens between processes of one installation.
pub(crate) const INTERNAL_AUDIENCE: &str = "roundtable-internal";
/// Seconds that such a token is valid: it is used at once.
const INTERNAL_SECONDS: u64 = 60;

#[derive(Debug, Serialize, Deserialize)]
struct InternalClaims {
    aud: String,
    exp: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct VerifiedToken {
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
    /// True if the roles must be read from the profile.
    pub(crate) staff: bool,
    /// The second at which it expires.
    pub(crate) expires_at: u64,
}

/// Issues and verifies access tokens.
pub(crate) struct AccessTokens {
    keys: Arc<KeyRing>,
    clock: Arc<dyn Clock>,
    issuer: String,
    audience: String,
    seconds: u32,
    verified: Mutex<LruCache<blake3::Hash, VerifiedToken>>,
}

impl std::fmt::Debug for AccessTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessTokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

pub(crate) fn invalid_token() -> ApiError {
    ApiError::new(Code::Unauthenticated, "the token is invalid or has expired; sign in again")
}

impl AccessTokens {
    pub(crate) fn new(
        keys: Arc<KeyRing>,
        clock: Arc<dyn Clock>,
        issuer: String,
        audience: String,
        seconds: u32,
    ) -> Self {
        let verified = Mutex::new(LruCache::new(VERIFIED_MAX));
        Self { keys, clock, issuer, audience, seconds, verified }
    }

    pub(crate) const fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Verifies a token. `Ok(None)` means that another issuer may have signed it.
    pub(crate) async fn verify(&self, token: &str) -> Result<Option<VerifiedToken>, ApiError> {
        let hash = blake3::hash(token.as_bytes());
        let cached = self.verified.lock().get(&hash).cloned();
        let token_data = match cached {
            Some(token_data) => token_data,
            None => match self.decode(token).await? {
                Some(token_data) => token_data,
                None => return Ok(None),
            },
        };
        if token_data.expires_at <= self.clock.now_seconds() {
            self.verified.lock().pop(&hash);
            return Err(invalid_token());
        }
        self.verified.lock().put(hash, token_data.clone());
        Ok(Some(token_data))
    }

    /// A token that identifies this process to others of the installation.
    pub(crate) fn internal(&self) -> Option<String> {
        let key = self.keys.signing_key()?;
        let exp = self.clock.now_seconds() + INTERNAL_SECONDS;
        let claims = InternalClaims { aud: INTERNAL_AUDIENCE.to_owned(), exp };
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::RS256) };
        jsonwebtoken::encode(&header, &claims, &key.encoding_key).ok()
    }

    pub(crate) async fn is_internal(&self, token: &str) -> bool {
        let id = jsonwebtoken::decode_header(token).ok().and_then(|header| header.kid);
        let Some(id) = id else { return false };
        let Ok(Some(key)) = self.keys.find(&id).await else { return false };
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_audience(&[INTERNAL_AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "aud"]);
        validation.validate_exp = false;
        let read = jsonwebtoken::decode::<InternalClaims>(token, &key.decoding_key, &validation);
        read.is_ok_and(|read| self.clock.now_seconds() < read.claims.exp)
    }

    async fn decode(&self, token: &str) -> Result<Option<VerifiedToken>, ApiError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| invalid_token())?;
        let Some(id) = header.kid else { return Ok(None) };
        let key = self.keys.find(&id).await.map_err(|error| {
            tracing::error!(%error, "cannot read the signing keys from the store: users are refused");
            ApiError::new(Code::Internal, "your token cannot be checked at the moment; try again")
        })?;
        let Some(key) = key else { return Ok(None) };
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // Checked by the caller with our own clock, also for cached tokens.
        validation.validate_exp = false;
        let claims = jsonwebtoken::decode::<AccessClaims>(token, &key.decoding_key, &validation);
        let claims = claims.map_err(|_| invalid_token())?.claims;
        Ok(Some(VerifiedToken {
            user: claims.sub.parse().map_err(|_| invalid_token())?,
            session: claims.sid.parse().map_err(|_| invalid_token())?,
            staff: claims.staff,
            expires_at: claims.exp,
        }))
    }
}

#[async_trait]
impl TokenIssuer for AccessTokens {
    async fn access_token(&self, signed_in: &SignedInUser) -> Result<(String, u32), ApiError> {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "cannot sign an access token: users cannot sign in");
            ApiError::new(Code::Internal, "signing in is not possible at the moment; try again")
        };
        let key = self.keys.signing_key().ok_or_else(|| failed(&"there is no signing key"))?;
        let now = self.clock.now_seconds();
        let claims = AccessClaims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: signed_in.caller.user_id.to_string(),
            sid: signed_in.session_id.to_string(),
            staff: signed_in.caller.roles != Roles::default(),
            iat: now,
            exp: now + u64::from(self.seconds),
        };
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::RS256) };
        let token = jsonwebtoken::encode(&header, &claims, &key.encoding_key);
        Ok((token.map_err(|error| failed(&error))?, self.seconds))
    }
}
