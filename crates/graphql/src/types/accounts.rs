//! GraphQL types of sessions, API keys, invitations and failed logins.

use async_graphql::{Context, Object, SimpleObject};
use roundtable_domain::{NewApiKey, SignedInUser};
use roundtable_model::{ApiKeyId, Expiry, Secret, entities};

use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

/// The tokens of a new session.
#[derive(SimpleObject)]
pub(crate) struct AuthPayload {
    /// Authenticates requests for expiresIn seconds.
    access_token: String,
    /// Can be exchanged once for new tokens.
    refresh_token: String,
    /// The lifetime of the access token in seconds.
    expires_in: u32,
    token_type: &'static str,
    user: User,
}

/// Omits the tokens, which are secret.
impl std::fmt::Debug for AuthPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthPayload").field("user", &self.user.0.id).finish_non_exhaustive()
    }
}

impl AuthPayload {
    pub(crate) async fn issue(
        ctx: &Context<'_>,
        signed_in: SignedInUser,
    ) -> Result<Self, ApiError> {
        let issuer = &RequestContext::of(ctx)?.services().issuer;
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

impl From<NewApiKey> for ApiKey {
    fn from(new: NewApiKey) -> Self {
        Self { key: new.key, secret: Some(new.secret) }
    }
}

#[Object]
impl ApiKey {
    async fn id(&self) -> ApiId<&ApiKeyId> {
        ApiId(&self.key.id)
    }

    async fn name(&self) -> &str {
        &self.key.name
    }

    /// The first characters of the key, to tell keys apart.
    async fn prefix(&self) -> &str {
        &self.key.prefix
    }

    /// The operations that the key permits.
    async fn scopes(&self) -> &[String] {
        &self.key.scopes
    }

    async fn expires_at(&self) -> Option<DateTime> {
        DateTime::optional(self.key.ttl.map(Expiry::time))
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.key.created_at)
    }

    /// The complete key; only at creation.
    async fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

#[derive(Debug)]
pub(crate) struct LoginAttempt(entities::LoginAttempt);

impl From<entities::LoginAttempt> for LoginAttempt {
    fn from(attempt: entities::LoginAttempt) -> Self {
        Self(attempt)
    }
}

#[Object]
impl LoginAttempt {
    /// An e-mail address or a network address.
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
        DateTime::optional(self.0.locked_until)
    }
}

/// Permits a number of registrations.
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
            expires_at: DateTime::optional(invitation.ttl.map(Expiry::time)),
        }
    }
}

pub(crate) async fn list_keys(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<ApiKey>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, accounts) = (context.caller()?, context.services().accounts());
    paging.read(ctx, "keys", async |page| accounts.keys(caller, page).await).await
}

pub(crate) async fn list_login_attempts(
    ctx: &Context<'_>,
    key: &str,
    paging: PageArguments,
) -> Result<Connection<LoginAttempt>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, accounts) = (context.caller()?, context.services().accounts());
    let list = format!("sign-ins of {key}");
    paging.read(ctx, &list, async |page| accounts.login_attempts(caller, key, page).await).await
}
