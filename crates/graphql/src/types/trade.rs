//! Companies and what they offer, as the API shows them.

use async_graphql::{Context, ID, Object};
use roundtable_model::{CompanyId, OfferId, OfferStatus, Tag, UserId, entities};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// A company, for which one person speaks.
#[derive(Clone, Debug)]
pub(crate) struct Company(pub(crate) entities::Company);

impl From<entities::Company> for Company {
    fn from(company: entities::Company) -> Self {
        Self(company)
    }
}

impl Company {
    /// A company, if there is one for the viewer.
    pub(crate) async fn load(ctx: &Context<'_>, id: &CompanyId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Company {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Company", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&CompanyId> {
        Id(&self.0.id)
    }

    /// Who speaks for it.
    async fn owner_id(&self) -> Id<&UserId> {
        Id(&self.0.owner_id)
    }

    async fn name(&self) -> &str {
        &self.0.name
    }

    /// What it offers and has offered.
    async fn offers(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Offer>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(offers_of(ctx, &self.0.id, paging).await)
    }
}

/// Something that a company offers.
#[derive(Clone, Debug)]
pub(crate) struct Offer(pub(crate) entities::Offer);

impl From<entities::Offer> for Offer {
    fn from(offer: entities::Offer) -> Self {
        Self(offer)
    }
}

impl Offer {
    /// An offer, if there is one for the viewer.
    pub(crate) async fn load(ctx: &Context<'_>, id: &OfferId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self))
    }
}

#[Object]
impl Offer {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Offer", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&OfferId> {
        Id(&self.0.id)
    }

    async fn company_id(&self) -> Id<&CompanyId> {
        Id(&self.0.company_id)
    }

    async fn company(&self, ctx: &Context<'_>) -> Result<Option<Company>, Refused> {
        Company::load(ctx, &self.0.company_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn status(&self) -> Word<OfferStatus> {
        Word(self.0.status)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// What a company offers and has offered.
pub(crate) async fn offers_of(
    ctx: &Context<'_>,
    company: &CompanyId,
    paging: Paging,
) -> Result<Connection<Offer>, Refused> {
    let asked = Asked::of(ctx)?;
    let offers = asked.services().offers();
    let list = format!("offers of {company}");
    paging.read(ctx, &list, async |page| offers.of(asked.viewer(), company, page).await).await
}

/// The open offers that carry a tag.
pub(crate) async fn offers_tagged(
    ctx: &Context<'_>,
    tag: &Tag,
    paging: Paging,
) -> Result<Connection<Offer>, Refused> {
    let asked = Asked::of(ctx)?;
    let offers = asked.services().offers();
    let list = format!("offers tagged {}", tag.fold());
    paging.read(ctx, &list, async |page| offers.tagged(asked.viewer(), tag, page).await).await
}
