//! Mutations of companies and offers.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewOffer;
use roundtable_model::{CompanyId, OfferId, Tag};

use crate::ApiError;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText};
use crate::types::trade::{Company, Offer};

#[derive(Debug, Default)]
pub(super) struct TradeMutations;

/// A new offer.
#[derive(Debug, InputObject)]
pub(crate) struct CreateOfferInput {
    company_id: ApiId<CompanyId>,
    title: String,
    tags: Option<Vec<ApiText<Tag>>>,
}

impl From<CreateOfferInput> for NewOffer {
    fn from(input: CreateOfferInput) -> Self {
        let tags = input.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect();
        Self { company_id: input.company_id.0, title: input.title, tags }
    }
}

#[Object]
impl TradeMutations {
    /// Creates a company that the caller represents.
    async fn create_company(
        &self,
        ctx: &Context<'_>,
        name: String,
        request_id: RequestIdArg,
    ) -> Result<Company, ApiError> {
        let context = RequestContext::of(ctx)?;
        let companies = context.services().companies();
        Ok(companies.create(context.caller()?, &name, id_ref(&request_id)).await?.into())
    }

    /// Creates an offer of the caller's company.
    async fn create_offer(
        &self,
        ctx: &Context<'_>,
        input: CreateOfferInput,
        request_id: RequestIdArg,
    ) -> Result<Offer, ApiError> {
        let context = RequestContext::of(ctx)?;
        let offers = context.services().offers();
        Ok(offers.create(context.caller()?, input.into(), id_ref(&request_id)).await?.into())
    }

    /// Closes an offer: it stays visible but is no longer found by its tags.
    async fn close_offer(
        &self,
        ctx: &Context<'_>,
        offer_id: ApiId<OfferId>,
        request_id: RequestIdArg,
    ) -> Result<Offer, ApiError> {
        let context = RequestContext::of(ctx)?;
        let offers = context.services().offers();
        Ok(offers.close(context.caller()?, &offer_id.0, id_ref(&request_id)).await?.into())
    }
}
