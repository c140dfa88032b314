//! Asking for what those need who look after the place.

use async_graphql::{Context, Object};
use roundtable_model::{ActorId, ModerationStatus};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::moderation::{self, ModerationCase, Stats};
use crate::types::promotions::Promotion;
use crate::words::Word;

/// Queries of those who look after the place.
#[derive(Debug, Default)]
pub(super) struct Moderation;

#[Object]
impl Moderation {
    /// For admins.
    async fn get_promotion(
        &self,
        ctx: &Context<'_>,
        subject_id: Id<ActorId>,
    ) -> Result<Option<Promotion>, Refused> {
        Promotion::load(ctx, &subject_id.0).await
    }

    /// The cases that wait, unless another status is asked for, the newest first; for moderators.
    async fn list_moderation_queue(
        &self,
        ctx: &Context<'_>,
        status: Option<Word<ModerationStatus>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<ModerationCase>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        moderation::queue(ctx, status.map(|status| status.0), paging).await
    }

    /// How the place is doing; for admins.
    async fn stats(&self, ctx: &Context<'_>) -> Result<Stats, Refused> {
        let asked = Asked::of(ctx)?;
        let totals = asked.services().census().totals(asked.caller()?).await?;
        let figures = asked.services().backstage.figures().await?;
        Ok(Stats {
            users: totals.users,
            posts: totals.posts,
            activities: totals.activities,
            fanout_queue_depth: figures.fanout_queue_depth,
            dlq_depth: figures.dlq_depth,
            stream_lag_ms: figures.stream_lag_ms,
        })
    }
}
