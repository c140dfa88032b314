//! Mutations of notifications.

use async_graphql::{Context, Object};

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::DateTime;

#[derive(Debug, Default)]
pub(super) struct NotificationMutations;

#[Object]
impl NotificationMutations {
    /// Marks all notifications before this time as read, and returns how many there were.
    async fn mark_notifications_read(
        &self,
        ctx: &Context<'_>,
        before: DateTime,
        request_id: RequestIdArg,
    ) -> Result<u64, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (notifications, caller) = (context.services().notifications(), context.caller()?);
        Ok(notifications.mark_read(caller, before.0, id_ref(&request_id)).await?)
    }
}
