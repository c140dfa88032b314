//! Tokens of an issuer outside, if one is configured. Its keys are fetched when a token names one that is
//! not known, and kept; without an issuer nothing is ever fetched.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
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

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Between two looks for keys: whoever makes up names causes no more requests.
const LOOK_SECONDS: u64 = 30;
/// How long keys are believed without another look.
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
    client: Client,
    known: Mutex<Fetched>,
    /// Held by whoever fetches, so that the others wait instead of fetching, too.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Fetched {
    keys: Option<JwkSet>,
    at: u64,
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
    #[serde(default)]
    email_verified: bool,
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
        let client = outgoing::client("sign-in.oidc", [settings.issuer.as_str(), at])?;
        let (known, fetching) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { settings, clock, client, known, fetching })
    }

    /// Whom the issuer vouches for with this token.
    pub(crate) async fn read(&self, token: &str) -> Result<Vouched, Refused> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| not_valid())?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(not_valid());
        }
        let id = header.kid.ok_or_else(not_valid)?;
        let key = if let Some(key) = self.key(&id, KEPT_SECONDS) {
            key
        } else {
            self.fetch(&id).await?;
            self.key(&id, u64::MAX).ok_or_else(not_valid)?
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
        // An address that nobody has checked may be anybody's.
        let email = claims.email.filter(|_| claims.email_verified && begun && now < until);
        let email = email.and_then(|email| email.parse().ok()).ok_or_else(not_valid)?;
        Ok(Vouched { email, until })
    }

    fn key(&self, id: &str, kept_seconds: u64) -> Option<DecodingKey> {
        let known = self.known.lock();
        let fresh = self.clock.now_seconds() < known.at.saturating_add(kept_seconds);
        let keys = known.keys.as_ref().filter(|_| fresh)?;
        DecodingKey::from_jwk(keys.find(id)?).ok()
    }

    async fn fetch(&self, id: &str) -> Result<(), Refused> {
        let _fetching = self.fetching.lock().await;
        let (now, at) = (self.clock.now_seconds(), self.known.lock().at);
        if self.key(id, KEPT_SECONDS).is_some() || now < at.saturating_add(LOOK_SECONDS) {
            return Ok(());
        }
        self.known.lock().at = now;
        match tokio::time::timeout(PATIENCE, self.keys()).await {
            Ok(Ok(keys)) => {
                self.known.lock().keys = Some(keys);
                Ok(())
            }
            Ok(Err(why)) => Err(self.away(&why)),
            Err(_) => Err(self.away("no answer in time")),
        }
    }

    fn away(&self, why: &str) -> Refused {
        tracing::warn!(issuer = self.settings.issuer, why, "the issuer's keys cannot be fetched");
        Refused::new(Code::Internal, "your token cannot be checked at the moment; try again")
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
