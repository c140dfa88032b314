//! Asking for companies and offers.

use async_graphql::{Context, Object};
use roundtable_model::{CompanyId, OfferId, Tag};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::scalars::{Id, Text};
use crate::types::trade::{Company, Offer, offers_of, offers_tagged};

/// Queries of companies and offers.
#[derive(Debug, Default)]
pub(super) struct Trade;

#[Object]
impl Trade {
    async fn get_company(
        &self,
        ctx: &Context<'_>,
        id: Id<CompanyId>,
    ) -> Result<Option<Company>, Refused> {
        Company::load(ctx, &id.0).await
    }

    async fn get_offer(
        &self,
        ctx: &Context<'_>,
        id: Id<OfferId>,
    ) -> Result<Option<Offer>, Refused> {
        Offer::load(ctx, &id.0).await
    }

    /// What a company offers and has offered, or what is offered under a tag; one of companyId and tag
    /// is required.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_offers(
        &self,
        ctx: &Context<'_>,
        company_id: Option<Id<CompanyId>>,
        tag: Option<Text<Tag>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Offer>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        match (company_id, tag) {
            (Some(company), None) => offers_of(ctx, &company.0, paging).await,
            (None, Some(tag)) => offers_tagged(ctx, &tag.0, paging).await,
            _ => Err(Refused::bad("companyId: expected either a company or a tag")),
        }
    }
}
