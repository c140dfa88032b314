//! Companies and their offers.

use roundtable_domain::{NewOffer, OfferChange};
use roundtable_execution::Given;
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::{CompanyId, OfferId, RequestId, Tag, entities};

use crate::connection::{Connection, PageArguments};
use crate::edits::{edit_non_null, edit_or_default};
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::request::RequestContext;

objects! {
    Company of entities::Company;
    Offer of entities::Offer;
}

impl Company {
    /// Returns companies in the order of their ids; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[CompanyId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().companies().companies(context.viewer(), ids).await?))
    }
}

#[object(of = self.0)]
impl Company {
    fn node_id(&self) -> String {
        node_id("Company", &[&self.0.id])
    }

    async fn offers(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Offer>, ApiError> {
        Connection::empty_if_hidden(list_offers_of_company(context, &self.0.id, paging).await)
    }
}

impl Offer {
    /// Returns offers in the order of their ids; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[OfferId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().offers().offers(context.viewer(), ids).await?))
    }
}

#[object(of = self.0)]
impl Offer {
    fn node_id(&self) -> String {
        node_id("Offer", &[&self.0.id])
    }

    fn company(&self) -> &CompanyId {
        &self.0.company_id
    }
}

async fn list_offers_of_company(
    context: &RequestContext,
    company: &CompanyId,
    paging: PageArguments,
) -> Result<Connection<Offer>, ApiError> {
    let (offers, viewer) = (context.services().offers(), context.viewer());
    let list = format!("offers of {company}");
    paging.read(context, &list, async |page| offers.of(viewer, company, page).await).await
}

async fn list_offers_with_tag(
    context: &RequestContext,
    tag: &Tag,
    paging: PageArguments,
) -> Result<Connection<Offer>, ApiError> {
    let (offers, viewer) = (context.services().offers(), context.viewer());
    let list = format!("offers tagged {}", tag.fold());
    paging.read(context, &list, async |page| offers.tagged(viewer, tag, page).await).await
}

pub(crate) struct TradeQueries;

#[fields(Query)]
impl TradeQueries {
    async fn get_company(
        context: &RequestContext,
        id: CompanyId,
    ) -> Result<Option<Company>, ApiError> {
        Ok(only(Company::load(context, &[id]).await?))
    }

    async fn list_my_companies(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Company>, ApiError> {
        let (companies, caller) = (context.services().companies(), context.caller()?);
        paging.read(context, "my companies", async |page| companies.mine(caller, page).await).await
    }

    async fn get_offer(context: &RequestContext, id: OfferId) -> Result<Option<Offer>, ApiError> {
        Ok(only(Offer::load(context, &[id]).await?))
    }

    async fn list_offers(
        context: &RequestContext,
        company_id: Option<CompanyId>,
        tag: Option<Tag>,
        paging: PageArguments,
    ) -> Result<Connection<Offer>, ApiError> {
        match (company_id, tag) {
            (Some(company), None) => list_offers_of_company(context, &company, paging).await,
            (None, Some(tag)) => list_offers_with_tag(context, &tag, paging).await,
            _ => Err(ApiError::bad_request("companyId: expected either companyId or tag")),
        }
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct UpdateOfferInput {
    offer_id: OfferId,
    title: Given<String>,
    tags: Given<Vec<Tag>>,
}

pub(crate) struct TradeMutations;

#[fields(Mutation)]
impl TradeMutations {
    async fn create_company(
        context: &RequestContext,
        name: String,
        request_id: Option<RequestId>,
    ) -> Result<Company, ApiError> {
        let (companies, caller) = (context.services().companies(), context.caller()?);
        Ok(companies.create(caller, &name, request_id.as_ref()).await?.into())
    }

    async fn create_offer(
        context: &RequestContext,
        input: NewOffer,
        request_id: Option<RequestId>,
    ) -> Result<Offer, ApiError> {
        let (offers, caller) = (context.services().offers(), context.caller()?);
        Ok(offers.create(caller, input, request_id.as_ref()).await?.into())
    }

    async fn update_company(
        context: &RequestContext,
        company_id: CompanyId,
        name: String,
        request_id: Option<RequestId>,
    ) -> Result<Company, ApiError> {
        let (companies, caller) = (context.services().companies(), context.caller()?);
        Ok(companies.update(caller, &company_id, &name, request_id.as_ref()).await?.into())
    }

    async fn update_offer(
        context: &RequestContext,
        input: UpdateOfferInput,
        request_id: Option<RequestId>,
    ) -> Result<Offer, ApiError> {
        let (offers, caller) = (context.services().offers(), context.caller()?);
        let UpdateOfferInput { offer_id, title, tags } = input;
        let (title, tags) = (edit_non_null("title", title)?, edit_or_default(tags));
        let change = OfferChange { title, tags };
        Ok(offers.update(caller, &offer_id, change, request_id.as_ref()).await?.into())
    }

    async fn close_offer(
        context: &RequestContext,
        offer_id: OfferId,
        request_id: Option<RequestId>,
    ) -> Result<Offer, ApiError> {
        let (offers, caller) = (context.services().offers(), context.caller()?);
        Ok(offers.close(caller, &offer_id, request_id.as_ref()).await?.into())
    }
}
