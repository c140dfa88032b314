//! Queries for API keys, failed logins and webhooks.

use async_graphql::{Context, Object};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::types::accounts::{ApiKey, LoginAttempt, list_keys, list_login_attempts};
use crate::types::webhooks::{WebhookEndpoint, list_webhooks};

#[derive(Debug, Default)]
pub(super) struct AccountQueries;

#[Object]
impl AccountQueries {
    /// Failed logins of an e-mail address or from a network address, newest first. For admins.
    async fn list_login_attempts(
        &self,
        ctx: &Context<'_>,
        key: String,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<LoginAttempt>, ApiError> {
        list_login_attempts(ctx, &key, PageArguments::new(limit, next_token, first, after)).await
    }

    /// The caller's API keys.
    async fn list_api_keys(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<ApiKey>, ApiError> {
        list_keys(ctx, PageArguments::new(limit, next_token, first, after)).await
    }

    /// Webhook endpoints, oldest first. For admins.
    async fn list_webhooks(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<WebhookEndpoint>, ApiError> {
        list_webhooks(ctx, PageArguments::new(limit, next_token, first, after)).await
    }
}
