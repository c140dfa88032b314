//! Promotions, as the API shows them.

use async_graphql::{Context, ID, Object};
use roundtable_model::{ActorId, PromotionReason, entities};

use crate::Refused;
use crate::loaders::PromotionOf;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Json};
use crate::words::Word;

/// Whether what somebody does is copied into the feeds of those who follow them.
#[derive(Clone, Debug)]
pub(crate) struct Promotion(pub(crate) entities::Promotion);

impl From<entities::Promotion> for Promotion {
    fn from(promotion: entities::Promotion) -> Self {
        Self(promotion)
    }
}

impl Promotion {
    /// The promotion of somebody, if there ever was one.
    pub(crate) async fn load(
        ctx: &Context<'_>,
        subject: &ActorId,
    ) -> Result<Option<Self>, Refused> {
        let asked = Asked::of(ctx)?;
        asked.caller()?;
        Ok(asked.load.one(PromotionOf(subject.clone())).await?.map(Self))
    }
}

#[Object]
impl Promotion {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Promotion", &[&self.0.subject_id.to_string()])
    }

    /// A user's or a group's id.
    async fn subject_id(&self) -> Id<&ActorId> {
        Id(&self.0.subject_id)
    }

    async fn fanout_enabled(&self) -> bool {
        self.0.fanout_enabled
    }

    async fn reason(&self) -> Word<PromotionReason> {
        Word(self.0.reason)
    }

    /// What had to be exceeded.
    async fn thresholds(&self) -> Option<Json> {
        self.0.thresholds.as_ref()?.to().ok().map(Json)
    }

    /// The last activity that has reached every feed, as have all before it.
    async fn watermark(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.watermark)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}
