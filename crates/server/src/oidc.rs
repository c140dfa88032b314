//! Tokens of an issuer outside, if one is configured. Its keys are fetched when a token names one that is
//! not known, and kept; without an issuer nothing is ever fetched.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::Uri;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use parking_lot::Mutex;
use roundtable_domain::Code;
use roundtable_graphql::Refused;
use roundtable_model::Email;
use roundtable_model::table::Clock;
use serde::Deserialize;

use crate::configuration::{Misconfigured, OidcSettings};
use crate::outgoing::{self, Client};
use crate::tokens::not_valid;

/// How long somebody waits for newer keys whose key is still good.
const BRIEFLY: Duration = Duration::from_millis(200);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Between two looks for keys: whoever makes up names causes no more requests.
const LOOK_SECONDS: u64 = 30;
/// How long keys are believed without another look.
const FRESH_SECONDS: u64 = 30 * 60;
/// How long they are believed while the issuer is away, and no longer: it may have withdrawn one.
const KEPT_SECONDS: u64 = 60 * 60;
/// Difference between their clock and ours.
const LEEWAY_SECONDS: u64 = 60;
/// What their tokens may be signed with: nothing that a public key could be used to forge.
const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512, Algorithm::ES256, Algorithm::EdDSA];

/// An issuer outside.
#[derive(Debug)]
pub(crate) struct Oidc {
    settings: OidcSettings,
    clock: Arc<dyn Clock>,
    client: Client<Empty<Bytes>>,
    known: Mutex<Fetched>,
    /// Held by whoever fetches, so that the others wait instead of fetching, too.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Fetched {
    keys: Option<JwkSet>,
    /// When these keys came.
    at: u64,
    /// When they were last asked for.
    looked: u64,
    /// Whether that was in vain.
    failed: bool,
}

/// Whom a token is about.
#[derive(Clone, Debug)]
pub(crate) struct Vouched {
    pub(crate) email: Email,
    pub(crate) until: u64,
}

#[derive(Debug, Deserialize)]
struct Claims {
    exp: u64,
    nbf: Option<u64>,
    email: Option<String>,
    /// Of whatever kind: only one that says yes counts.
    email_verified: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Discovered {
    issuer: String,
    jwks_uri: String,
}

impl Oidc {
    pub(crate) fn new(
        settings: OidcSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Misconfigured> {
        if settings.issuer.is_empty() || settings.audience.is_empty() {
            let why = "`issuer` and `audience` must be as its tokens have them";
            return Err(Misconfigured::together("sign-in.oidc", why));
        }
        let at = settings.jwks_url.as_deref().unwrap_or(&settings.issuer);
        let client = outgoing::client([settings.issuer.as_str(), at])
            .map_err(|why| Misconfigured::together("sign-in.oidc", why))?;
        let (known, fetching) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { settings, clock, client, known, fetching })
    }

    /// Whom the issuer vouches for with this token.
    pub(crate) async fn read(self: &Arc<Self>, token: &str) -> Result<Vouched, Refused> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| not_valid())?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(not_valid());
        }
        let id = header.kid.ok_or_else(not_valid)?;
        let key = if let Some(key) = self.key(&id, FRESH_SECONDS) {
            key
        } else {
            // Not by whoever asks: they may go away before the keys are there.
            let looking = tokio::spawn(Arc::clone(self).fetch(id.clone()));
            let kept = self.key(&id, KEPT_SECONDS);
            // An issuer that hangs keeps nobody waiting whose key is still good.
            let patience = if kept.is_some() { BRIEFLY } else { 2 * PATIENCE };
            let looked = tokio::time::timeout(patience, looking).await;
            let looked = looked.ok().and_then(Result::ok).unwrap_or_else(|| Err(away()));
            match self.key(&id, KEPT_SECONDS) {
                Some(key) => key,
                None => return Err(looked.err().unwrap_or_else(not_valid)),
            }
        };
        let mut wanted = Validation::new(header.alg);
        wanted.set_issuer(&[&self.settings.issuer]);
        wanted.set_audience(&[&self.settings.audience]);
        wanted.set_required_spec_claims(&["exp", "iss", "aud"]);
        wanted.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &wanted);
        let claims = claims.map_err(|_| not_valid())?.claims;
        let now = self.clock.now_seconds();
        let until = claims.exp.saturating_add(LEEWAY_SECONDS);
        let begun = claims.nbf.is_none_or(|nbf| nbf <= now.saturating_add(LEEWAY_SECONDS));
        if !begun || until <= now {
            return Err(not_valid());
        }
        // An address that nobody has checked may be anybody's.
        let is_checked = claims.email_verified == Some(true.into());
        let email = claims.email.filter(|_| is_checked).ok_or_else(unchecked)?;
        Ok(Vouched { email: email.parse().map_err(|_| not_valid())?, until })
    }

    fn key(&self, id: &str, kept_seconds: u64) -> Option<DecodingKey> {
        let known = self.known.lock();
        let fresh = self.clock.now_seconds() < known.at.saturating_add(kept_seconds);
        let keys = known.keys.as_ref().filter(|_| fresh)?;
        DecodingKey::from_jwk(keys.find(id)?).ok()
    }

    async fn fetch(self: Arc<Self>, id: String) -> Result<(), Refused> {
        let _fetching = self.fetching.lock().await;
        if self.key(&id, FRESH_SECONDS).is_some() {
            return Ok(());
        }
        let now = self.clock.now_seconds();
        {
            let mut known = self.known.lock();
            if now < known.looked.saturating_add(LOOK_SECONDS) {
                return if known.failed { Err(away()) } else { Ok(()) };
            }
            (known.looked, known.failed) = (now, true);
        }
        let why = match tokio::time::timeout(PATIENCE, self.keys()).await {
            Ok(Ok(keys)) => {
                *self.known.lock() =
                    Fetched { keys: Some(keys), at: now, looked: now, failed: false };
                return Ok(());
            }
            Ok(Err(why)) => why,
            Err(_) => String::from("no answer in time"),
        };
        tracing::warn!(issuer = self.settings.issuer, why, "the issuer's keys cannot be fetched");
        Err(away())
    }

    async fn keys(&self) -> Result<JwkSet, String> {
        if let Some(at) = &self.settings.jwks_url {
            return self.get(at).await;
        }
        let issuer = self.settings.issuer.trim_end_matches('/');
        let found: Discovered =
            self.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if found.issuer != self.settings.issuer {
            return Err(String::from("it calls itself something else"));
        }
        self.get(&found.jwks_uri).await
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, at: &str) -> Result<T, String> {
        let at: Uri = at.parse().map_err(|_| format!("{at} is no URL"))?;
        let answer = self.client.get(at).await.map_err(|error| error.to_string())?;
        if !answer.status().is_success() {
            return Err(format!("it answered {}", answer.status()));
        }
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }
}

/// The issuer cannot be asked.
fn away() -> Refused {
    Refused::new(Code::Internal, "your token cannot be checked at the moment; try again")
}

/// The issuer knows no address of theirs that it has checked.
fn unchecked() -> Refused {
    let why = "your issuer has not confirmed your e-mail address (`email_verified`); have it do so, and \
               sign in again";
    Refused::new(Code::Unauthenticated, why)
}
