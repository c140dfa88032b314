//! Signing in, keys, invitations and failed sign-ins, as the API shows them.

use async_graphql::{Context, Object, SimpleObject};
use roundtable_domain::{NewKey, SignedIn};
use roundtable_model::{ApiKeyId, Expiry, Secret, entities};

use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::{DateTime, Id};

/// What somebody gets who has proven who they are.
#[derive(SimpleObject)]
pub(crate) struct AuthPayload {
    /// Proves who they are, for a while.
    access_token: String,
    /// Is exchanged for the next ones, once.
    refresh_token: String,
    /// For how many seconds the access token is good.
    expires_in: u32,
    token_type: &'static str,
    user: User,
}

/// Not the tokens: they open doors.
impl std::fmt::Debug for AuthPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthPayload").field("user", &self.user.0.id).finish_non_exhaustive()
    }
}

impl AuthPayload {
    /// Proofs for who has just signed in.
    pub(crate) async fn issued(ctx: &Context<'_>, signed_in: SignedIn) -> Result<Self, Refused> {
        let issuer = &Asked::of(ctx)?.services().issuer;
        let (access_token, expires_in) = issuer.access_token(&signed_in).await?;
        Ok(Self {
            access_token,
            refresh_token: signed_in.refresh_token.expose().to_owned(),
            expires_in,
            token_type: "Bearer",
            user: signed_in.user.into(),
        })
    }
}

/// A key for a program of the caller's.
#[derive(Debug)]
pub(crate) struct ApiKey {
    key: entities::ApiKey,
    secret: Option<Secret>,
}

impl From<entities::ApiKey> for ApiKey {
    fn from(key: entities::ApiKey) -> Self {
        Self { key, secret: None }
    }
}

impl From<NewKey> for ApiKey {
    fn from(new: NewKey) -> Self {
        Self { key: new.key, secret: Some(new.secret) }
    }
}

#[Object]
impl ApiKey {
    async fn id(&self) -> Id<&ApiKeyId> {
        Id(&self.key.id)
    }

    async fn name(&self) -> &str {
        &self.key.name
    }

    /// What the key begins with, to tell keys apart.
    async fn prefix(&self) -> &str {
        &self.key.prefix
    }

    /// What it may be used for.
    async fn scopes(&self) -> &[String] {
        &self.key.scopes
    }

    async fn expires_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.key.ttl.map(Expiry::time))
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.key.created_at)
    }

    /// All of it; only at creation.
    async fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

/// Failed sign-ins of some minutes.
#[derive(Debug)]
pub(crate) struct LoginAttempt(entities::LoginAttempt);

impl From<entities::LoginAttempt> for LoginAttempt {
    fn from(attempt: entities::LoginAttempt) -> Self {
        Self(attempt)
    }
}

#[Object]
impl LoginAttempt {
    /// An e-mail address, or one of the network.
    async fn key(&self) -> String {
        self.0.subject.to_string()
    }

    async fn window_start(&self) -> DateTime {
        DateTime(self.0.window)
    }

    async fn count(&self) -> u64 {
        self.0.count
    }

    async fn locked_until(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.locked_until)
    }
}

/// Lets people in who want an account.
#[derive(Debug, SimpleObject)]
pub(crate) struct Invitation {
    code: String,
    uses_left: u64,
    expires_at: Option<DateTime>,
}

impl From<entities::Invitation> for Invitation {
    fn from(invitation: entities::Invitation) -> Self {
        Self {
            code: invitation.code.to_string(),
            uses_left: invitation.uses_left,
            expires_at: DateTime::maybe(invitation.ttl.map(Expiry::time)),
        }
    }
}

/// The caller's keys.
pub(crate) async fn keys(ctx: &Context<'_>, paging: Paging) -> Result<Connection<ApiKey>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, accounts) = (asked.caller()?, asked.services().accounts());
    paging.read(ctx, "keys", async |page| accounts.keys(caller, page).await).await
}

/// Failed sign-ins, the newest first.
pub(crate) async fn login_attempts(
    ctx: &Context<'_>,
    key: &str,
    paging: Paging,
) -> Result<Connection<LoginAttempt>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, accounts) = (asked.caller()?, asked.services().accounts());
    let list = format!("sign-ins of {key}");
    paging.read(ctx, &list, async |page| accounts.login_attempts(caller, key, page).await).await
}
