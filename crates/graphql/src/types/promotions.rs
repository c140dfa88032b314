//! The GraphQL type of promotions.

use async_graphql::{Context, ID, Object};
use roundtable_model::{ActorId, PromotionReason, entities};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::loaders::PromotionKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime, Json};

/// The setting whether a subject's activities are copied to followers' feeds.
#[derive(Clone, Debug)]
pub(crate) struct Promotion(pub(crate) entities::Promotion);

impl From<entities::Promotion> for Promotion {
    fn from(promotion: entities::Promotion) -> Self {
        Self(promotion)
    }
}

impl Promotion {
    pub(crate) async fn load(
        ctx: &Context<'_>,
        subject: &ActorId,
    ) -> Result<Option<Self>, ApiError> {
        let context = RequestContext::of(ctx)?;
        context.caller()?;
        Ok(context.loaders.load(PromotionKey(subject.clone())).await?.map(Self))
    }
}

#[Object]
impl Promotion {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Promotion", &[&self.0.subject_id.to_string()])
    }

    /// A user's or a group's id.
    async fn subject_id(&self) -> ApiId<&ActorId> {
        ApiId(&self.0.subject_id)
    }

    async fn fanout_enabled(&self) -> bool {
        self.0.fanout_enabled
    }

    async fn reason(&self) -> EnumValue<PromotionReason> {
        EnumValue(self.0.reason)
    }

    /// The thresholds that the subject exceeded.
    async fn thresholds(&self) -> Option<Json> {
        self.0.thresholds.as_ref()?.decode().ok().map(Json)
    }

    /// The time up to which all activities have reached all feeds.
    async fn watermark(&self) -> Option<DateTime> {
        DateTime::optional(self.0.watermark)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}
