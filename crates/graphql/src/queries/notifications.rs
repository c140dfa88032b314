//! Queries for the caller's notifications.

use async_graphql::{Context, Object};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::request::RequestContext;
use crate::types::notifications::{Notification, list_mine};

#[derive(Debug, Default)]
pub(super) struct NotificationQueries;

#[Object]
impl NotificationQueries {
    /// The caller's notifications, newest first.
    async fn list_notifications(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Notification>, ApiError> {
        list_mine(ctx, PageArguments::new(limit, next_token, first, after)).await
    }

    /// The number of the caller's unread notifications, at most 1000.
    async fn unread_notification_count(&self, ctx: &Context<'_>) -> Result<u64, ApiError> {
        let context = RequestContext::of(ctx)?;
        Ok(context.services().notifications().unread(context.caller()?).await?)
    }
}
