//! Queries for companies and offers.

use async_graphql::{Context, Object};
use roundtable_model::{CompanyId, OfferId, Tag};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::scalars::{ApiId, ApiText};
use crate::types::trade::{Company, Offer, list_offers_of_company, list_offers_with_tag};

#[derive(Debug, Default)]
pub(super) struct TradeQueries;

#[Object]
impl TradeQueries {
    async fn get_company(
        &self,
        ctx: &Context<'_>,
        id: ApiId<CompanyId>,
    ) -> Result<Option<Company>, ApiError> {
        Company::load(ctx, &id.0).await
    }

    async fn get_offer(
        &self,
        ctx: &Context<'_>,
        id: ApiId<OfferId>,
    ) -> Result<Option<Offer>, ApiError> {
        Offer::load(ctx, &id.0).await
    }

    /// The open and closed offers of a company, or the open offers with a tag. Exactly one of companyId and
    /// tag is required.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_offers(
        &self,
        ctx: &Context<'_>,
        company_id: Option<ApiId<CompanyId>>,
        tag: Option<ApiText<Tag>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Offer>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        match (company_id, tag) {
            (Some(company), None) => list_offers_of_company(ctx, &company.0, paging).await,
            (None, Some(tag)) => list_offers_with_tag(ctx, &tag.0, paging).await,
            _ => Err(ApiError::bad_request("companyId: expected either companyId or tag")),
        }
    }
}
