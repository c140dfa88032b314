//! Accounts: sessions, API keys, invitations and failed logins.

mod mutations;

use std::sync::Arc;

use roundtable_domain::{NewApiKey, SignedInUser};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{Expiry, Secret, Time, entities};

pub(crate) use self::mutations::AccountMutations;
use crate::connection::{Connection, PageArguments};
use crate::objects::objects;
use crate::request::RequestContext;
use crate::users::User;

/// The tokens of a new session. Not `Debug`, because they are secret.
pub(crate) struct AuthPayload {
    access_token: String,
    refresh_token: String,
    device_token: Option<String>,
    expires_in: u32,
    token_type: &'static str,
    user: User,
}

impl AuthPayload {
    async fn issue(context: &RequestContext, signed_in: SignedInUser) -> Result<Self, ApiError> {
        let (access_token, expires_in) = context.services().issuer.access_token(&signed_in).await?;
        Ok(Self {
            access_token,
            refresh_token: signed_in.refresh_token.expose().to_owned(),
            device_token: signed_in.device_token.map(|token| token.expose().to_owned()),
            expires_in,
            token_type: "Bearer",
            user: signed_in.user.into(),
        })
    }
}

#[object(of = self)]
impl AuthPayload {
    fn user(&self) -> User {
        self.user.clone()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ApiKey {
    key: Arc<entities::ApiKey>,
    /// The complete key, if it was just created.
    secret: Option<Secret>,
}

impl From<entities::ApiKey> for ApiKey {
    fn from(key: entities::ApiKey) -> Self {
        Self { key: Arc::new(key), secret: None }
    }
}

impl From<NewApiKey> for ApiKey {
    fn from(new: NewApiKey) -> Self {
        Self { key: Arc::new(new.key), secret: Some(new.secret) }
    }
}

#[object(of = self.key)]
impl ApiKey {
    fn expires_at(&self) -> Option<Time> {
        self.key.ttl.map(Expiry::time)
    }

    fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(Secret::expose)
    }
}

objects! {
    LoginAttempt of entities::LoginAttempt;
    Invitation of entities::Invitation;
}

#[object(of = self.0)]
impl LoginAttempt {
    fn key(&self) -> String {
        self.0.subject.to_string()
    }

    fn window_start(&self) -> Time {
        self.0.window
    }

    fn locked_until(&self) -> Option<Time> {
        self.0.refused_until()
    }
}

#[object(of = self.0)]
impl Invitation {
    fn expires_at(&self) -> Option<Time> {
        self.0.ttl.map(Expiry::time)
    }
}

pub(crate) struct AccountQueries;

#[fields(Query)]
impl AccountQueries {
    async fn list_login_attempts(
        context: &RequestContext,
        key: String,
        paging: PageArguments,
    ) -> Result<Connection<LoginAttempt>, ApiError> {
        let (caller, accounts) = (context.caller()?, context.services().accounts());
        let list = format!("sign-ins of {key}");
        let read = async |page: &_| accounts.login_attempts(caller, &key, page).await;
        paging.read(context, &list, read).await
    }

    async fn list_api_keys(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<ApiKey>, ApiError> {
        let (caller, accounts) = (context.caller()?, context.services().accounts());
        paging.read(context, "keys", async |page| accounts.keys(caller, page).await).await
    }
}
