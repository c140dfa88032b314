//! Queries for moderators and admins.

use async_graphql::{Context, Object};
use roundtable_model::{ActorId, ModerationStatus};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::moderation::{self, ModerationCase, ServerStats};
use crate::types::promotions::Promotion;

#[derive(Debug, Default)]
pub(super) struct ModerationQueries;

#[Object]
impl ModerationQueries {
    /// The promotion of a user or a group. For admins.
    async fn get_promotion(
        &self,
        ctx: &Context<'_>,
        subject_id: ApiId<ActorId>,
    ) -> Result<Option<Promotion>, ApiError> {
        Promotion::load(ctx, &subject_id.0).await
    }

    /// The moderation cases of a status, pending ones by default, newest first. For moderators.
    async fn list_moderation_queue(
        &self,
        ctx: &Context<'_>,
        status: Option<EnumValue<ModerationStatus>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<ModerationCase>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        moderation::list_cases(ctx, status.map(|status| status.0), paging).await
    }

    /// Totals, and the backlog of the stream processors. For admins.
    async fn stats(&self, ctx: &Context<'_>) -> Result<ServerStats, ApiError> {
        let context = RequestContext::of(ctx)?;
        let totals = context.services().statistics().totals(context.caller()?).await?;
        let backlog = context.services().streams.backlog().await?;
        Ok(ServerStats {
            users: totals.users,
            posts: totals.posts,
            activities: totals.activities,
            fanout_queue_depth: backlog.fanout_queue_depth,
            dlq_depth: backlog.dlq_depth,
            stream_lag_ms: backlog.stream_lag_ms,
        })
    }
}
