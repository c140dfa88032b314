//! Promotions: whether the activities of a user or a group are copied to followers' feeds. Only
//! admins see and set them.

use roundtable_domain::NewPromotion;
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::{ActorId, InvalidValue, PromotionReason, RequestId, entities};

use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::request::RequestContext;
use crate::scalars::Json;

objects! {
    Promotion of entities::Promotion;
}

impl Promotion {
    /// Returns promotions in the order of their subjects; `None` where there is none.
    pub(crate) async fn load(
        context: &RequestContext,
        subjects: &[ActorId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let (promotions, caller) = (context.services().promotions(), context.caller()?);
        Ok(converted(promotions.promotions(caller, subjects).await?))
    }
}

#[object(of = self.0)]
impl Promotion {
    fn node_id(&self) -> String {
        node_id("Promotion", &[&self.0.subject_id])
    }

    fn thresholds(&self) -> Option<Json> {
        self.0.thresholds.as_ref()?.decode().ok().map(Json)
    }
}

pub(crate) struct PromotionQueries;

#[fields(Query)]
impl PromotionQueries {
    async fn get_promotion(
        context: &RequestContext,
        subject_id: ActorId,
    ) -> Result<Option<Promotion>, ApiError> {
        Ok(only(Promotion::load(context, &[subject_id]).await?))
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct SetPromotionInput {
    subject_id: ActorId,
    fanout_enabled: bool,
    reason: PromotionReason,
    thresholds: Option<Json>,
}

impl SetPromotionInput {
    fn promotion(self) -> Result<NewPromotion, ApiError> {
        let Self { subject_id, fanout_enabled, reason, thresholds } = self;
        let bad = |error: InvalidValue| ApiError::bad_request(format!("thresholds: {error}"));
        let thresholds = thresholds.map(|json| roundtable_model::Json::encode(&json.0));
        let thresholds = thresholds.transpose().map_err(bad)?;
        Ok(NewPromotion { subject_id, fanout_enabled, reason, thresholds })
    }
}

pub(crate) struct PromotionMutations;

#[fields(Mutation)]
impl PromotionMutations {
    async fn set_promotion(
        context: &RequestContext,
        input: SetPromotionInput,
        request_id: Option<RequestId>,
    ) -> Result<Promotion, ApiError> {
        let (promotions, caller) = (context.services().promotions(), context.caller()?);
        Ok(promotions.set(caller, &input.promotion()?, request_id.as_ref()).await?.into())
    }
}
