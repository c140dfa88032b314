//! What companies offer: made by their owners, found by company and by tag, and closed again (R17,
//! R29).
//!
//! An offer is hidden with its company's owner. The references by which it is found under its tags are
//! written with it, and go when it is closed.

mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Company, Offer, TagRef};
use roundtable_model::{
    CompanyId, Entity, EntityKind, OfferId, OfferStatus, RequestId, Shard, SubjectId, Tag,
};
use serde::Serialize;

pub(crate) use self::reads::{offers, seen};

use crate::access::{Act, Standing, allows};
use crate::account::live;
use crate::accounts::staff::Official;
use crate::companies::visible;
use crate::limits::{TITLE_CHARS_MAX, check_filled};
use crate::once::{Request, Tried};
use crate::tags::distinct;
use crate::{Caller, Failure, Ground, audit, refusals};

refusals! {
    /// Why an offer was not made, closed or shown.
    OfferError {
        NoSuchCompany: NotFound = "there is no such company",
        NoSuchOffer: NotFound = "there is no such offer",
        NotYours: Forbidden = "only whoever speaks for the company can do this",
    }
}

/// The offers of all companies.
#[derive(Clone, Debug)]
pub struct Offers {
    ground: Ground,
}

/// An offer to be made.
#[derive(Clone, Debug, Serialize)]
pub struct NewOffer {
    /// The company.
    pub company_id: CompanyId,
    /// What is offered.
    pub title: String,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
}

#[boxed]
impl Offers {
    /// The offers on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Offers something, for the caller's own company.
    pub async fn create(
        &self,
        caller: &Caller,
        input: NewOffer,
        request: Option<&RequestId>,
    ) -> Result<Offer, OfferError> {
        let me = self.ground.account(caller).await?;
        let new = checked(input)?;
        let request = self.ground.request(&me.id, request, "createOffer", &new)?;
        self.ground
            .once(
                request.as_ref(),
                async |id: OfferId| self.offer(Some(caller), &id).await,
                async || {
                    let company = self.company(caller, &new.company_id).await?;
                    let company = company.ok_or(OfferError::NoSuchCompany)?;
                    let owns = company.owner_id == me.id;
                    if !allows(Act::CreateOffer, Standing::SIGNED_IN.and_if(owns, Standing::OWNER))
                    {
                        return Err(OfferError::NotYours);
                    }
                    let offer = self.new_offer(&new);
                    let references = offer.tags.iter().map(|tag| self.reference(&offer, tag));
                    let commit = self
                        .ground
                        .commit()
                        .with("offer", offer.create())
                        .with("company", company.key().check(Company::OWNER_ID.is(&me.id)))
                        .with("person", live(&me.id))
                        .with_any("tag", references.map(|reference| reference.create()))
                        .remembering(request.as_ref(), &offer.id)?;
                    self.unless_gone(caller, commit.done(offer).await?).await
                },
            )
            .await
    }

    /// Closes an offer: it can still be seen, but is no longer found by its tags. For whoever speaks
    /// for the company, and for staff. Closing twice is closing once.
    pub async fn close(
        &self,
        caller: &Caller,
        id: &OfferId,
        request: Option<&RequestId>,
    ) -> Result<Offer, OfferError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "closeOffer", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |id: OfferId| self.offer(Some(caller), &id).await,
                async || self.try_close(caller, id, request.as_ref()).await,
            )
            .await
    }

    async fn try_close(
        &self,
        caller: &Caller,
        id: &OfferId,
        request: Option<&Request>,
    ) -> Result<Tried<Offer>, OfferError> {
        let me = self.ground.reader(caller).await?;
        let offer = self.offer(Some(caller), id).await?;
        let company = self.company(caller, &offer.company_id).await?;
        let company = company.ok_or(OfferError::NoSuchOffer)?;
        let owns = company.owner_id == me.id;
        let my_id = me.id.clone();
        let official = Official::new(caller, me);
        let owner = Standing::SIGNED_IN.and_if(owns, Standing::OWNER);
        if !allows(Act::CloseOffer, owner) && official.may(Act::CloseOffer).is_err() {
            return Err(OfferError::NotYours);
        }
        if offer.status == OfferStatus::Closed {
            return Ok(self.ground.nothing_to_do(request, id, offer).await?);
        }
        let references = self.references(&offer).await?;
        let closed = Offer { status: OfferStatus::Closed, ..offer };
        let patch = closed
            .key()
            .patch()
            .set(Offer::STATUS, &closed.status)
            .when(Offer::STATUS.is(&OfferStatus::Open));
        let mut commit = self
            .ground
            .commit()
            .with("offer", patch)
            .with("company", company.key().exists())
            .with_any("tag", references.iter().map(|reference| reference.key().delete()));
        commit = if owns {
            commit.with("person", live(&my_id))
        } else {
            let entry = audit::entry(&self.ground, Some(caller), "closeOffer", id, None);
            commit.with("person", official.check_office()).with("audit", entry)
        };
        Ok(commit.remembering(request, id)?.done(closed).await?)
    }

    /// A company that the caller may see.
    async fn company(&self, caller: &Caller, id: &CompanyId) -> Result<Option<Company>, Failure> {
        Ok(visible(&self.ground, Some(caller), std::slice::from_ref(id)).await?.remove(id))
    }

    /// Before an attempt is made again, whether the caller still can: the account may be what has
    /// changed.
    async fn unless_gone<T>(
        &self,
        caller: &Caller,
        tried: Tried<T>,
    ) -> Result<Tried<T>, OfferError> {
        if matches!(tried, Tried::Again) {
            self.ground.reader(caller).await?;
        }
        Ok(tried)
    }

    fn new_offer(&self, new: &NewOffer) -> Offer {
        let now = self.ground.now();
        Offer {
            id: self.ground.ids().next_at(now),
            company_id: new.company_id.clone(),
            title: new.title.clone(),
            tags: new.tags.clone(),
            status: OfferStatus::Open,
            created_at: now,
        }
    }

    fn reference(&self, offer: &Offer, tag: &Tag) -> TagRef {
        TagRef {
            tag: tag.clone(),
            shard: Shard::of(&offer.id.to_string(), self.ground.settings().shards.tags.0),
            entity: EntityKind::Offer,
            id: (&offer.id).into(),
            user_id: None,
            title: offer.title.clone(),
            created_at: offer.created_at,
        }
    }

    /// The references there are, in whichever shard each was written: there may have been fewer.
    async fn references(&self, offer: &Offer) -> Result<Vec<TagRef>, Failure> {
        let (id, shards) = (SubjectId::from(&offer.id), self.ground.settings().shards.tags.0);
        let core = self.ground.core();
        let found = core.tag_refs(&offer.tags, shards, &EntityKind::Offer, &id).get().await?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The same with each tag once, if its texts are of a length.
fn checked(mut new: NewOffer) -> Result<NewOffer, Failure> {
    check_filled("title", &new.title, TITLE_CHARS_MAX)?;
    new.title = new.title.trim().to_owned();
    new.tags = distinct(new.tags)?;
    Ok(new)
}
