//! Asking what one was told.

use async_graphql::{Context, Object};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::types::notifications::{Notification, mine};

/// Queries of notifications.
#[derive(Debug, Default)]
pub(super) struct Notifications;

#[Object]
impl Notifications {
    /// What the caller was told, the newest first.
    async fn list_notifications(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Notification>, Refused> {
        mine(ctx, Paging::new(limit, next_token, first, after)).await
    }

    /// How much of it they have not read, a thousand at the most.
    async fn unread_notification_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        let asked = Asked::of(ctx)?;
        Ok(asked.services().notifications.unread(asked.caller()?).await?)
    }
}
