//! Tokens of an external OpenID Connect issuer, which identify a person by issuer and subject. Its keys are
//! fetched when a token names an unknown one, and cached; without an issuer nothing is fetched.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::Uri;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use parking_lot::Mutex;
use roundtable_domain::{Code, ExternalIdentity};
use roundtable_interface::{ApiError, IdentityVerifier};
use roundtable_model::table::Clock;
use roundtable_model::{InvalidValue, IssuerName, IssuerSubject, Time};
use serde::Deserialize;

use crate::configuration::{ConfigurationError, OidcSettings};
use crate::https_client::{self, HttpsClient};
use crate::tokens::invalid_token;

/// Wait for fresher keys while the cached one is still usable.
const REFRESH_WAIT: Duration = Duration::from_millis(200);
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const RESPONSE_BYTES_MAX: usize = 1 << 20;
/// Time between two fetches, so that forged key ids cause no extra requests.
const FETCH_INTERVAL_SECONDS: u64 = 30;
/// Age up to which cached keys are used without a fetch.
const FRESH_SECONDS: u64 = 30 * 60;
/// Age up to which cached keys are used while the issuer is unreachable: it may have revoked one.
const USABLE_SECONDS: u64 = 60 * 60;
/// Tolerated difference between the issuer's clock and ours.
const LEEWAY_SECONDS: u64 = 60;
/// No symmetric algorithm: a public key could be used to forge its signatures.
const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512, Algorithm::ES256, Algorithm::EdDSA];

#[derive(Debug)]
pub(crate) struct OidcIssuer {
    settings: OidcSettings,
    name: IssuerName,
    clock: Arc<dyn Clock>,
    client: HttpsClient<Empty<Bytes>>,
    cached: Mutex<CachedKeys>,
    /// Held during a fetch, so that other requests wait for it instead of fetching too.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct CachedKeys {
    keys: Option<JwkSet>,
    /// The second at which they were fetched.
    fetched_at: u64,
    /// The second of the last attempt.
    attempted_at: u64,
    /// True if the last attempt failed.
    failed: bool,
}

/// A valid token of the issuer.
#[derive(Clone, Debug)]
pub(crate) struct OidcToken {
    pub(crate) identity: ExternalIdentity,
    /// The last time the user signed in at the issuer, if it says so. The time of issue does not: a token
    /// may be issued in exchange for a refresh token, without the user.
    pub(crate) signed_in_at: Option<Time>,
    pub(crate) expires_at: u64,
}

/// The external issuer, if there is one, for requests that name a token of it.
#[derive(Clone, Debug)]
pub(crate) struct OidcIdentities(pub(crate) Option<Arc<OidcIssuer>>);

#[async_trait]
impl IdentityVerifier for OidcIdentities {
    async fn identify(&self, token: &str) -> Result<ExternalIdentity, ApiError> {
        let issuer = self.0.as_ref().ok_or_else(|| {
            ApiError::new(Code::BadRequest, "this server accepts the tokens of no other issuer")
        })?;
        Ok(issuer.verify(token).await?.identity)
    }
}

#[derive(Debug, Deserialize)]
struct OidcClaims {
    sub: String,
    exp: u64,
    nbf: Option<u64>,
    /// Some issuers send other types: only whole seconds count.
    auth_time: Option<serde_json::Value>,
    email: Option<String>,
    /// Some issuers send other types: only `true` counts.
    email_verified: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct OidcDiscovery {
    issuer: String,
    jwks_uri: String,
}

impl OidcIssuer {
    pub(crate) fn new(
        settings: OidcSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ConfigurationError> {
        if settings.issuer.is_empty() || settings.audience.is_empty() {
            let reason = "set `issuer` and `audience` to the `iss` and `aud` of its tokens";
            return Err(ConfigurationError::conflict("sign-in.oidc", reason));
        }
        let name = settings.issuer.parse().map_err(|invalid: InvalidValue| {
            ConfigurationError::conflict("sign-in.oidc.issuer", invalid.to_string())
        })?;
        let at = settings.jwks_url.as_deref().unwrap_or(&settings.issuer);
        let client = https_client::https_client([settings.issuer.as_str(), at])
            .map_err(|reason| ConfigurationError::conflict("sign-in.oidc", reason))?;
        let (cached, fetching) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self { settings, name, clock, client, cached, fetching })
    }

    /// Verifies a token of the issuer.
    pub(crate) async fn verify(self: &Arc<Self>, token: &str) -> Result<OidcToken, ApiError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| invalid_token())?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(invalid_token());
        }
        let id = header.kid.ok_or_else(invalid_token)?;
        let key = if let Some(key) = self.key(&id, FRESH_SECONDS) {
            key
        } else {
            // In a task of its own: the client may disconnect before the keys arrive.
            let fetch = tokio::spawn(Arc::clone(self).fetch(id.clone()));
            let fallback = self.key(&id, USABLE_SECONDS);
            // A slow issuer does not delay requests whose key is still usable.
            let wait = if fallback.is_some() { REFRESH_WAIT } else { 2 * FETCH_TIMEOUT };
            let fetched = tokio::time::timeout(wait, fetch).await;
            let fetched =
                fetched.ok().and_then(Result::ok).unwrap_or_else(|| Err(issuer_unreachable()));
            match self.key(&id, USABLE_SECONDS) {
                Some(key) => key,
                None => return Err(fetched.err().unwrap_or_else(invalid_token)),
            }
        };
        let mut validation = Validation::new(header.alg);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_exp = false;
        let claims = jsonwebtoken::decode::<OidcClaims>(token, &key, &validation);
        let claims = claims.map_err(|_| invalid_token())?.claims;
        let now = self.clock.now_seconds();
        let expires_at = claims.exp.saturating_add(LEEWAY_SECONDS);
        let is_active = claims.nbf.is_none_or(|nbf| nbf <= now.saturating_add(LEEWAY_SECONDS));
        if !is_active || expires_at <= now {
            return Err(invalid_token());
        }
        // An unverified address may belong to another user.
        let is_verified = claims.email_verified == Some(true.into());
        let email = claims.email.filter(|_| is_verified).and_then(|email| email.parse().ok());
        let subject = claims.sub.parse::<IssuerSubject>().map_err(|_| invalid_token())?;
        // Subjects that differ only in spaces around them are different people.
        if subject.as_str() != claims.sub {
            return Err(invalid_token());
        }
        let identity = ExternalIdentity { issuer: self.name.clone(), subject, email };
        // No sign-in is in the future, but the issuer's clock may be ahead.
        let signed_in_at = claims.auth_time.and_then(|at| at.as_u64());
        let signed_in_at = signed_in_at.filter(|at| *at <= now.saturating_add(LEEWAY_SECONDS));
        let signed_in_at = signed_in_at.map(|at| Time::from_ms(at.min(now).saturating_mul(1000)));
        Ok(OidcToken { identity, signed_in_at, expires_at })
    }

    fn key(&self, id: &str, max_age_seconds: u64) -> Option<DecodingKey> {
        let cached = self.cached.lock();
        let fresh = self.clock.now_seconds() < cached.fetched_at.saturating_add(max_age_seconds);
        let keys = cached.keys.as_ref().filter(|_| fresh)?;
        DecodingKey::from_jwk(keys.find(id)?).ok()
    }

    async fn fetch(self: Arc<Self>, id: String) -> Result<(), ApiError> {
        let _fetching = self.fetching.lock().await;
        if self.key(&id, FRESH_SECONDS).is_some() {
            return Ok(());
        }
        let now = self.clock.now_seconds();
        {
            let mut cached = self.cached.lock();
            if now < cached.attempted_at.saturating_add(FETCH_INTERVAL_SECONDS) {
                return if cached.failed { Err(issuer_unreachable()) } else { Ok(()) };
            }
            (cached.attempted_at, cached.failed) = (now, true);
        }
        let reason = match tokio::time::timeout(FETCH_TIMEOUT, self.keys()).await {
            Ok(Ok(keys)) => {
                *self.cached.lock() = CachedKeys {
                    keys: Some(keys),
                    fetched_at: now,
                    attempted_at: now,
                    failed: false,
                };
                return Ok(());
            }
            Ok(Err(reason)) => reason,
            Err(_) => String::from("no response in time"),
        };
        tracing::warn!(
            issuer = self.settings.issuer,
            reason,
            "the OIDC issuer's keys cannot be fetched: users with its tokens may be refused"
        );
        Err(issuer_unreachable())
    }

    async fn keys(&self) -> Result<JwkSet, String> {
        if let Some(at) = &self.settings.jwks_url {
            return self.get(at).await;
        }
        let issuer = self.settings.issuer.trim_end_matches('/');
        let discovery: OidcDiscovery =
            self.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
        if discovery.issuer != self.settings.issuer {
            return Err(String::from("its configuration names another issuer"));
        }
        self.get(&discovery.jwks_uri).await
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, at: &str) -> Result<T, String> {
        let at: Uri = at.parse().map_err(|_| format!("{at} is not a URL"))?;
        let response = self.client.get(at).await.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it responded with {}", response.status()));
        }
        let body = Limited::new(response.into_body(), RESPONSE_BYTES_MAX).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    }
}

fn issuer_unreachable() -> ApiError {
    ApiError::new(Code::Internal, "your token cannot be checked at the moment; try again")
}
