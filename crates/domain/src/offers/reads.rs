//! Offers by id, by company and by tag (R29).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Offer, TagRef};
use roundtable_model::{CompanyId, EntityKind, OfferId, OfferStatus, Tag};

use super::{OfferError, Offers};
use crate::companies::visible;
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput};

#[boxed]
impl Offers {
    /// An offer, open or closed.
    pub async fn offer(&self, viewer: Option<&Caller>, id: &OfferId) -> Result<Offer, OfferError> {
        let found = self.offers(viewer, std::slice::from_ref(id)).await?;
        found.into_iter().flatten().next().ok_or(OfferError::NoSuchOffer)
    }

    /// Several offers, each in its place; `None` where there is none for the viewer.
    pub async fn offers(
        &self,
        viewer: Option<&Caller>,
        ids: &[OfferId],
    ) -> Result<Vec<Option<Offer>>, OfferError> {
        Ok(seen(&self.ground, viewer, offers(&self.ground, ids).await?).await?)
    }

    /// What a company offers and has offered; by id, which is by time.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        company: &CompanyId,
        page: &PageInput,
    ) -> Result<Page<Offer>, OfferError> {
        if visible(&self.ground, viewer, std::slice::from_ref(company)).await?.is_empty() {
            return Err(OfferError::NoSuchCompany);
        }
        fill(
            page,
            async |limit, after| {
                self.ground.core().offers_of(company).limit(limit).after(after).page().await
            },
            async |found| {
                Ok(seen(&self.ground, viewer, current(&self.ground, found).await?).await?)
            },
        )
        .await
    }

    /// The open offers that carry a tag, as far as the viewer may see them; by id, which is by time.
    pub async fn tagged(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        page: &PageInput,
    ) -> Result<Page<Offer>, OfferError> {
        let shards = self.ground.settings().shards.tags.0;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().tagged_of(tag, &EntityKind::Offer, shards);
                listing.limit(limit).after(after).page().await
            },
            async |found: Vec<TagRef>| {
                let ids: Vec<OfferId> = found.iter().map(|found| found.id.recast()).collect();
                let mut offers = offers(&self.ground, &ids).await?;
                for offer in &mut offers {
                    offer.take_if(|offer| offer.status != OfferStatus::Open);
                }
                Ok(seen(&self.ground, viewer, offers).await?)
            },
        )
        .await
    }
}

/// Offers by id, as they are now.
pub(crate) async fn offers(
    ground: &Ground,
    ids: &[OfferId],
) -> Result<Vec<Option<Offer>>, Failure> {
    Ok(ground.core().offers(ids).strong().get().await?)
}

/// Offers that an index told of, as they are now. Where indexes are never behind, they are already.
async fn current(ground: &Ground, found: Vec<Offer>) -> Result<Vec<Option<Offer>>, Failure> {
    if ground.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    let ids: Vec<OfferId> = found.into_iter().map(|offer| offer.id).collect();
    offers(ground, &ids).await
}

/// Those of the offers whose companies the viewer may see, each in its place.
pub(crate) async fn seen(
    ground: &Ground,
    viewer: Option<&Caller>,
    offers: Vec<Option<Offer>>,
) -> Result<Vec<Option<Offer>>, Failure> {
    let ids: Vec<CompanyId> =
        offers.iter().flatten().map(|offer| offer.company_id.clone()).collect();
    let companies = visible(ground, viewer, &ids).await?;
    let shown = |offer: &Offer| companies.contains_key(&offer.company_id);
    Ok(offers.into_iter().map(|offer| offer.filter(shown)).collect())
}
