//! Access tokens: RS256, of minutes. They say who somebody is and from which device, and whether they
//! have roles; which ones they have is asked of their profile, so that no token outlives a role.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use jsonwebtoken::{Algorithm, Header, Validation};
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_domain::{Code, Roles, SignedIn};
use roundtable_graphql::{Issuer, Refused};
use roundtable_model::table::Clock;
use roundtable_model::{SessionId, UserId};
use serde::{Deserialize, Serialize};

use crate::keys::Keys;

/// Tokens that were checked lately, and need no check again until they are over.
const CHECKED_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(20_000 - 1);

/// What a token says.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: String,
    sid: String,
    /// Whether they had a role beyond everybody's: if not, nobody needs to look.
    #[serde(default)]
    staff: bool,
    iat: u64,
    exp: u64,
}

/// Who tokens are for that processes of one installation show each other.
pub(crate) const INTERNAL: &str = "roundtable-internal";
/// How long such a token is good: it is shown at once.
const INTERNAL_SECONDS: u64 = 60;

/// What such a token says.
#[derive(Debug, Serialize, Deserialize)]
struct InternalClaims {
    aud: String,
    exp: u64,
}

/// Somebody whose token is good.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
    /// Whether their profile has to be asked for roles.
    pub(crate) staff: bool,
    /// Until when, in seconds.
    pub(crate) until: u64,
}

/// Issues access tokens, and reads them again.
pub(crate) struct Tokens {
    keys: Arc<Keys>,
    clock: Arc<dyn Clock>,
    issuer: String,
    audience: String,
    seconds: u32,
    checked: Mutex<LruCache<blake3::Hash, Proven>>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// A token that is none of ours, or no longer.
pub(crate) fn not_valid() -> Refused {
    Refused::new(Code::Unauthenticated, "this token is not, or no longer, valid; sign in again")
}

impl Tokens {
    pub(crate) fn new(
        keys: Arc<Keys>,
        clock: Arc<dyn Clock>,
        issuer: String,
        audience: String,
        seconds: u32,
    ) -> Self {
        let checked = Mutex::new(LruCache::new(CHECKED_MAX));
        Self { keys, clock, issuer, audience, seconds, checked }
    }

    /// How long a token is good.
    pub(crate) const fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Who shows this token. `Ok(None)`: it is none of ours, and may be somebody else's.
    pub(crate) async fn read(&self, token: &str) -> Result<Option<Proven>, Refused> {
        let hash = blake3::hash(token.as_bytes());
        let known = self.checked.lock().get(&hash).cloned();
        let proven = match known {
            Some(proven) => proven,
            None => match self.check(token).await? {
                Some(proven) => proven,
                None => return Ok(None),
            },
        };
        if proven.until <= self.clock.now_seconds() {
            self.checked.lock().pop(&hash);
            return Err(not_valid());
        }
        self.checked.lock().put(hash, proven.clone());
        Ok(Some(proven))
    }

    /// A token that proves to another process of the installation that this is one, too.
    pub(crate) fn internal(&self) -> Option<String> {
        let key = self.keys.signer()?;
        let exp = self.clock.now_seconds() + INTERNAL_SECONDS;
        let claims = InternalClaims { aud: INTERNAL.to_owned(), exp };
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::RS256) };
        jsonwebtoken::encode(&header, &claims, &key.signs).ok()
    }

    /// Whether a token is such a one.
    pub(crate) async fn is_internal(&self, token: &str) -> bool {
        let id = jsonwebtoken::decode_header(token).ok().and_then(|header| header.kid);
        let Some(id) = id else { return false };
        let Ok(Some(key)) = self.keys.named(&id).await else { return false };
        let mut wanted = Validation::new(Algorithm::RS256);
        wanted.set_audience(&[INTERNAL]);
        wanted.set_required_spec_claims(&["exp", "aud"]);
        wanted.validate_exp = false;
        let read = jsonwebtoken::decode::<InternalClaims>(token, &key.checks, &wanted);
        read.is_ok_and(|read| self.clock.now_seconds() < read.claims.exp)
    }

    async fn check(&self, token: &str) -> Result<Option<Proven>, Refused> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| not_valid())?;
        let Some(id) = header.kid else { return Ok(None) };
        let key = self.keys.named(&id).await.map_err(|error| {
            tracing::error!(%error, "cannot read the keys of tokens");
            Refused::new(Code::Internal, "your token cannot be checked at the moment; try again")
        })?;
        let Some(key) = key else { return Ok(None) };
        let mut wanted = Validation::new(Algorithm::RS256);
        wanted.set_issuer(&[&self.issuer]);
        wanted.set_audience(&[&self.audience]);
        wanted.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        // The clock is ours to ask: by whoever reads a token that was checked before, too.
        wanted.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(token, &key.checks, &wanted);
        let claims = claims.map_err(|_| not_valid())?.claims;
        Ok(Some(Proven {
            user: claims.sub.parse().map_err(|_| not_valid())?,
            session: claims.sid.parse().map_err(|_| not_valid())?,
            staff: claims.staff,
            until: claims.exp,
        }))
    }
}

#[async_trait]
impl Issuer for Tokens {
    async fn access_token(&self, signed_in: &SignedIn) -> Result<(String, u32), Refused> {
        let failed = |why: &dyn std::fmt::Display| {
            tracing::error!(error = %why, "cannot sign a token");
            Refused::new(Code::Internal, "signing in is not possible at the moment; try again")
        };
        let key = self.keys.signer().ok_or_else(|| failed(&"there is no key"))?;
        let now = self.clock.now_seconds();
        let claims = Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: signed_in.caller.user_id.to_string(),
            sid: signed_in.session_id.to_string(),
            staff: signed_in.caller.roles != Roles::default(),
            iat: now,
            exp: now + u64::from(self.seconds),
        };
        let header = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::RS256) };
        let token = jsonwebtoken::encode(&header, &claims, &key.signs);
        Ok((token.map_err(|error| failed(&error))?, self.seconds))
    }
}
