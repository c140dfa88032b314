//! GraphQL types of companies and offers.

use async_graphql::{Context, ID, Object};
use roundtable_model::{CompanyId, OfferId, OfferStatus, Tag, UserId, entities};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct Company(pub(crate) entities::Company);

impl From<entities::Company> for Company {
    fn from(company: entities::Company) -> Self {
        Self(company)
    }
}

impl Company {
    pub(crate) async fn load(ctx: &Context<'_>, id: &CompanyId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Company {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Company", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&CompanyId> {
        ApiId(&self.0.id)
    }

    /// The user who represents the company.
    async fn owner_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.owner_id)
    }

    async fn name(&self) -> &str {
        &self.0.name
    }

    /// The open and closed offers of the company.
    async fn offers(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Offer>, ApiError> {
        let paging = PageArguments::new(limit, next_token, first, after);
        Connection::empty_if_hidden(list_offers_of_company(ctx, &self.0.id, paging).await)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Offer(pub(crate) entities::Offer);

impl From<entities::Offer> for Offer {
    fn from(offer: entities::Offer) -> Self {
        Self(offer)
    }
}

impl Offer {
    pub(crate) async fn load(ctx: &Context<'_>, id: &OfferId) -> Result<Option<Self>, ApiError> {
        Ok(RequestContext::of(ctx)?.loaders.load(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Offer {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Offer", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&OfferId> {
        ApiId(&self.0.id)
    }

    async fn company_id(&self) -> ApiId<&CompanyId> {
        ApiId(&self.0.company_id)
    }

    async fn company(&self, ctx: &Context<'_>) -> Result<Option<Company>, ApiError> {
        Company::load(ctx, &self.0.company_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn status(&self) -> EnumValue<OfferStatus> {
        EnumValue(self.0.status)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

pub(crate) async fn list_offers_of_company(
    ctx: &Context<'_>,
    company: &CompanyId,
    paging: PageArguments,
) -> Result<Connection<Offer>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let offers = context.services().offers();
    let list = format!("offers of {company}");
    paging.read(ctx, &list, async |page| offers.of(context.viewer(), company, page).await).await
}

pub(crate) async fn list_offers_with_tag(
    ctx: &Context<'_>,
    tag: &Tag,
    paging: PageArguments,
) -> Result<Connection<Offer>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let offers = context.services().offers();
    let list = format!("offers tagged {}", tag.fold());
    paging.read(ctx, &list, async |page| offers.tagged(context.viewer(), tag, page).await).await
}
