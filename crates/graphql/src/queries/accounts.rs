//! Asking for keys, failed sign-ins and endpoints.

use async_graphql::{Context, Object};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::types::accounts::{ApiKey, LoginAttempt, keys, login_attempts};
use crate::types::webhooks::{WebhookEndpoint, webhooks};

/// Queries of accounts.
#[derive(Debug, Default)]
pub(super) struct Accounts;

#[Object]
impl Accounts {
    /// Failed sign-ins of an e-mail address, or from an address in the network, the newest first. For
    /// admins.
    async fn list_login_attempts(
        &self,
        ctx: &Context<'_>,
        key: String,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<LoginAttempt>, Refused> {
        login_attempts(ctx, &key, Paging::new(limit, next_token, first, after)).await
    }

    /// The caller's keys.
    async fn list_api_keys(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<ApiKey>, Refused> {
        keys(ctx, Paging::new(limit, next_token, first, after)).await
    }

    /// Endpoints that are told of events, the oldest first. For admins.
    async fn list_webhooks(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<WebhookEndpoint>, Refused> {
        webhooks(ctx, Paging::new(limit, next_token, first, after)).await
    }
}
