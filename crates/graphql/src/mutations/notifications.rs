//! Having read what one was told.

use async_graphql::{Context, Object};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::DateTime;

/// Mutations of notifications.
#[derive(Debug, Default)]
pub(super) struct Noticing;

#[Object]
impl Noticing {
    /// Marks everything as read that happened before this time; how much it was.
    async fn mark_notifications_read(
        &self,
        ctx: &Context<'_>,
        before: DateTime,
        request_id: Once,
    ) -> Result<u64, Refused> {
        let asked = Asked::of(ctx)?;
        let (notifications, caller) = (&asked.services().notifications, asked.caller()?);
        Ok(notifications.mark_read(caller, before.0, once(&request_id)).await?)
    }
}
