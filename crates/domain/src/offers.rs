//! Offers of companies: created by the owner, found by company and tag, and closed (R17, R29).
//!
//! An offer is hidden with its company's owner. Its tag references are written with it and removed
//! when it is closed.

mod reads;
mod update;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Company, Offer, TagRef, User};
use roundtable_model::{
    CompanyId, Entity, EntityKind, OfferId, OfferStatus, RequestId, Shard, SubjectId, Tag,
};
use serde::Serialize;

pub(crate) use self::reads::{filter_visible, offers};
pub use self::update::OfferChange;

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::accounts::staff::StaffMember;
use crate::companies::visible_companies;
use crate::limits::{TITLE_CHARS_MAX, check_filled};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::tags::distinct;
use crate::{Caller, Context, ServiceError, audit, refusals};

refusals! {
    OfferError {
        NoSuchCompany: NotFound = "there is no such company",
        NoSuchOffer: NotFound = "there is no such offer",
        NotOwner: Forbidden = "only the owner of the company can do this",
    }
}

#[derive(Clone, Debug)]
pub struct Offers {
    context: Context,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewOffer {
    pub company_id: CompanyId,
    pub title: String,
    pub tags: Vec<Tag>,
}

#[boxed]
impl Offers {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates an offer of the caller's own company.
    pub async fn create(
        &self,
        caller: &Caller,
        input: NewOffer,
        request: Option<&RequestId>,
    ) -> Result<Offer, OfferError> {
        let mutation = self.context.mutation(caller).await?;
        let new = checked(input)?;
        mutation
            .once("createOffer", &new, request)?
            .replay(async |id: OfferId| self.offer(Some(caller), &id).await)
            .run(async |me, attempt| {
                let company = self.company(caller, &new.company_id).await?;
                let company = company.ok_or(OfferError::NoSuchCompany)?;
                if !allows(Permission::CreateOffer, caller.relations_to(&me, &company.owner_id)) {
                    return Err(OfferError::NotOwner);
                }
                let offer = self.new_offer(&new);
                let references = offer.tags.iter().map(|tag| self.reference(&offer, tag));
                attempt
                    .commit()
                    .with("offer", offer.create())
                    .with("company", company.key().check(Company::OWNER_ID.is(&me.id)))
                    .with("user", active_account_check(&me.id))
                    .with_all("tag", references.map(|reference| reference.create()))
                    .finish(offer.id.clone(), offer)
                    .await
            })
            .await
    }

    /// Closes an offer: it stays visible, but is no longer found by tag. For the company's owner
    /// and for staff. Repeating it has no effect.
    pub async fn close(
        &self,
        caller: &Caller,
        id: &OfferId,
        request: Option<&RequestId>,
    ) -> Result<Offer, OfferError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("closeOffer", id, request)?
            .replay(async |id: OfferId| self.offer(Some(caller), &id).await)
            .run(async |me, attempt| self.try_close(caller, &me, id, attempt).await)
            .await
    }

    async fn try_close(
        &self,
        caller: &Caller,
        me: &User,
        id: &OfferId,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Offer>, OfferError> {
        let offer = self.offer(Some(caller), id).await?;
        let company = self.company(caller, &offer.company_id).await?;
        let company = company.ok_or(OfferError::NoSuchOffer)?;
        let owns = company.owner_id == me.id;
        let staff = StaffMember::new(caller, me);
        let owner = Relations::SIGNED_IN.with_if(owns, Relations::OWNER);
        if !allows(Permission::CloseOffer, owner) && staff.require(Permission::CloseOffer).is_err()
        {
            return Err(OfferError::NotOwner);
        }
        if offer.status == OfferStatus::Closed {
            return attempt.unchanged(id, offer).await;
        }
        let references = self.references(&offer).await?;
        let closed = Offer { status: OfferStatus::Closed, ..offer };
        let patch = closed
            .key()
            .patch()
            .set(Offer::STATUS, &closed.status)
            .when(Offer::STATUS.is(&OfferStatus::Open));
        let mut commit = attempt
            .commit()
            .with("offer", patch)
            .with("company", company.key().exists())
            .with_all("tag", references.iter().map(|reference| reference.key().delete()));
        commit = if owns {
            commit.with("user", active_account_check(&me.id))
        } else {
            let entry = audit::entry(&self.context, Some(caller), "closeOffer", id, None);
            commit.with("user", staff.role_check()).with("audit", entry)
        };
        commit.finish(id, closed).await
    }

    async fn company(
        &self,
        caller: &Caller,
        id: &CompanyId,
    ) -> Result<Option<Company>, ServiceError> {
        Ok(visible_companies(&self.context, Some(caller), std::slice::from_ref(id))
            .await?
            .remove(id))
    }

    fn new_offer(&self, new: &NewOffer) -> Offer {
        let now = self.context.now();
        Offer {
            id: self.context.ids().next_at(now),
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
            shard: Shard::of(&offer.id.to_string(), self.context.settings().shards.tags.0),
            entity: EntityKind::Offer,
            id: (&offer.id).into(),
            user_id: None,
            within: None,
            title: offer.title.clone(),
            created_at: offer.created_at,
        }
    }

    /// The existing references, in whichever shard each was written: the number of shards may have
    /// grown.
    async fn references(&self, offer: &Offer) -> Result<Vec<TagRef>, ServiceError> {
        let (id, shards) = (SubjectId::from(&offer.id), self.context.settings().shards.tags.0);
        let core = self.context.core();
        let found = core.tag_refs(&offer.tags, shards, &EntityKind::Offer, &id).get().await?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Checks the title and removes duplicate tags.
fn checked(mut new: NewOffer) -> Result<NewOffer, ServiceError> {
    check_filled("title", &new.title, TITLE_CHARS_MAX)?;
    new.title = new.title.trim().to_owned();
    new.tags = distinct(new.tags)?;
    Ok(new)
}
