//! Changes of an offer by the owner of its company. The references from tags change with it.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Company, Offer};
use roundtable_model::table::{Condition, Write};
use roundtable_model::{Entity, OfferId, OfferStatus, RequestId, Tag};
use serde::Serialize;

use super::{OfferError, Offers};
use crate::access::{Permission, allows};
use crate::account::active_account_check;
use crate::limits::{TITLE_CHARS_MAX, check_filled};
use crate::tags::distinct;
use crate::{Caller, ServiceError};

/// The fields to change; absent ones stay.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OfferChange {
    pub title: Option<String>,
    pub tags: Option<Vec<Tag>>,
}

#[boxed]
impl Offers {
    /// Changes the title or the tags of an offer. A closed offer is not found by its tags, whatever they
    /// are.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &OfferId,
        change: OfferChange,
        request: Option<&RequestId>,
    ) -> Result<Offer, OfferError> {
        let mutation = self.context.mutation(caller).await?;
        let change = change.checked()?;
        mutation
            .once("updateOffer", &(id, &change), request)?
            .replay(async |id: OfferId| self.offer(Some(caller), &id).await)
            .run(async |me, attempt| {
                let before = self.offer(Some(caller), id).await?;
                let company = self.company(caller, &before.company_id).await?;
                let company = company.ok_or(OfferError::NoSuchOffer)?;
                if !allows(Permission::UpdateOffer, caller.relations_to(&me, &company.owner_id)) {
                    return Err(OfferError::NotOwner);
                }
                let after = change.applied_to(&before);
                if after == before {
                    return attempt.unchanged(id, before).await;
                }
                let patch = before
                    .key()
                    .patch()
                    .set(Offer::TITLE, &after.title)
                    .set(Offer::TAGS, &after.tags)
                    .when(as_read(&before));
                attempt
                    .commit()
                    .with("offer", patch)
                    .with("company", company.key().check(Company::OWNER_ID.is(&me.id)))
                    .with("user", active_account_check(&me.id))
                    .with_all("tag", self.changed_references(&before, &after).await?)
                    .finish(id, after)
                    .await
            })
            .await
    }

    /// Returns the writes that lead from the tags of an offer to those after a change.
    async fn changed_references(
        &self,
        before: &Offer,
        after: &Offer,
    ) -> Result<Vec<Write>, ServiceError> {
        if before.status != OfferStatus::Open {
            return Ok(Vec::new());
        }
        let old = self.references(before).await?;
        let new = after.tags.iter().map(|tag| {
            let mut reference = self.reference(after, tag);
            // Existing references keep their shard: the number of shards may have grown.
            if let Some(existing) = old.iter().find(|old| old.tag.same_as(tag)) {
                reference.shard = existing.shard;
            }
            reference
        });
        let new: Vec<_> = new.collect();
        let dropped = old.iter().filter(|old| !new.iter().any(|new| new.tag.same_as(&old.tag)));
        let removals = dropped.map(|reference| reference.key().delete().into());
        let changed = new.iter().filter(|new| !old.contains(new));
        Ok(removals.chain(changed.map(|reference| reference.put().into())).collect())
    }
}

impl OfferChange {
    /// Checks the title and removes duplicate tags.
    fn checked(self) -> Result<Self, ServiceError> {
        let title = self.title.map(|title| {
            check_filled("title", &title, TITLE_CHARS_MAX)?;
            Ok::<_, ServiceError>(title.trim().to_owned())
        });
        Ok(Self { title: title.transpose()?, tags: self.tags.map(distinct).transpose()? })
    }

    fn applied_to(&self, before: &Offer) -> Offer {
        let Self { title, tags } = self.clone();
        Offer {
            title: title.unwrap_or_else(|| before.title.clone()),
            tags: tags.unwrap_or_else(|| before.tags.clone()),
            ..before.clone()
        }
    }
}

fn as_read(offer: &Offer) -> Condition {
    let same = Offer::TITLE.is(&offer.title).and(Offer::TAGS.is(&offer.tags));
    same.and(Offer::STATUS.is(&offer.status))
}
