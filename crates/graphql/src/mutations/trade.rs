//! Entering companies, and offering things.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewOffer;
use roundtable_model::{CompanyId, OfferId, Tag};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{Id, Text};
use crate::types::trade::{Company, Offer};

/// Mutations of companies and offers.
#[derive(Debug, Default)]
pub(super) struct Trading;

/// An offer to be made.
#[derive(Debug, InputObject)]
pub(crate) struct CreateOfferInput {
    company_id: Id<CompanyId>,
    title: String,
    tags: Option<Vec<Text<Tag>>>,
}

impl From<CreateOfferInput> for NewOffer {
    fn from(input: CreateOfferInput) -> Self {
        let tags = input.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect();
        Self { company_id: input.company_id.0, title: input.title, tags }
    }
}

#[Object]
impl Trading {
    /// Enters a company, for which the caller speaks.
    async fn create_company(
        &self,
        ctx: &Context<'_>,
        name: String,
        request_id: Once,
    ) -> Result<Company, Refused> {
        let asked = Asked::of(ctx)?;
        let companies = asked.services().companies();
        Ok(companies.create(asked.caller()?, &name, once(&request_id)).await?.into())
    }

    /// Offers something, for the caller's own company.
    async fn create_offer(
        &self,
        ctx: &Context<'_>,
        input: CreateOfferInput,
        request_id: Once,
    ) -> Result<Offer, Refused> {
        let asked = Asked::of(ctx)?;
        let offers = asked.services().offers();
        Ok(offers.create(asked.caller()?, input.into(), once(&request_id)).await?.into())
    }

    /// Closes an offer: it can still be seen, but is no longer found by its tags.
    async fn close_offer(
        &self,
        ctx: &Context<'_>,
        offer_id: Id<OfferId>,
        request_id: Once,
    ) -> Result<Offer, Refused> {
        let asked = Asked::of(ctx)?;
        let offers = asked.services().offers();
        Ok(offers.close(asked.caller()?, &offer_id.0, once(&request_id)).await?.into())
    }
}
