//! Reads of offers by id, company and tag (R29).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Offer, TagRef};
use roundtable_model::{CompanyId, EntityKind, OfferId, OfferStatus, Tag};

use super::{OfferError, Offers};
use crate::companies::visible_companies;
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError};

#[boxed]
impl Offers {
    pub async fn offer(&self, viewer: Option<&Caller>, id: &OfferId) -> Result<Offer, OfferError> {
        let found = self.offers(viewer, std::slice::from_ref(id)).await?;
        found.into_iter().flatten().next().ok_or(OfferError::NoSuchOffer)
    }

    /// Returns offers in the order of `ids`; `None` where the viewer may not see one.
    pub async fn offers(
        &self,
        viewer: Option<&Caller>,
        ids: &[OfferId],
    ) -> Result<Vec<Option<Offer>>, OfferError> {
        Ok(filter_visible(&self.context, viewer, offers(&self.context, ids).await?).await?)
    }

    /// Returns a company's open and closed offers, by id, which is by time.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        company: &CompanyId,
        page: &PageInput,
    ) -> Result<Page<Offer>, OfferError> {
        if visible_companies(&self.context, viewer, std::slice::from_ref(company)).await?.is_empty()
        {
            return Err(OfferError::NoSuchCompany);
        }
        fill_page(
            page,
            async |limit, after| {
                self.context.core().offers_of(company).limit(limit).after(after).page().await
            },
            async |found| {
                Ok(filter_visible(&self.context, viewer, reread(&self.context, found).await?)
                    .await?)
            },
        )
        .await
    }

    /// Returns the open offers with a tag that the viewer may see, by id, which is by time.
    pub async fn tagged(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        page: &PageInput,
    ) -> Result<Page<Offer>, OfferError> {
        let shards = self.context.settings().shards.tags.0;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().tagged_of(tag, &EntityKind::Offer, shards);
                listing.limit(limit).after(after).page().await
            },
            async |found: Vec<TagRef>| {
                let ids: Vec<OfferId> = found.iter().map(|found| found.id.recast()).collect();
                let mut offers = offers(&self.context, &ids).await?;
                for offer in &mut offers {
                    offer.take_if(|offer| offer.status != OfferStatus::Open);
                }
                Ok(filter_visible(&self.context, viewer, offers).await?)
            },
        )
        .await
    }
}

pub(crate) async fn offers(
    context: &Context,
    ids: &[OfferId],
) -> Result<Vec<Option<Offer>>, ServiceError> {
    Ok(context.core().offers(ids).strong().get().await?)
}

/// Re-reads offers found through an index that may be stale.
async fn reread(context: &Context, found: Vec<Offer>) -> Result<Vec<Option<Offer>>, ServiceError> {
    if context.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    let ids: Vec<OfferId> = found.into_iter().map(|offer| offer.id).collect();
    offers(context, &ids).await
}

/// Keeps the offers whose companies the viewer may see.
pub(crate) async fn filter_visible(
    context: &Context,
    viewer: Option<&Caller>,
    offers: Vec<Option<Offer>>,
) -> Result<Vec<Option<Offer>>, ServiceError> {
    let ids: Vec<CompanyId> =
        offers.iter().flatten().map(|offer| offer.company_id.clone()).collect();
    let companies = visible_companies(context, viewer, &ids).await?;
    let is_visible = |offer: &Offer| companies.contains_key(&offer.company_id);
    Ok(offers.into_iter().map(|offer| offer.filter(is_visible)).collect())
}
