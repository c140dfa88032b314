//! Companies and what they offer, and the references by which anything tagged is found.

use crate::{
    CompanyId, EntityKind, Fields, OfferId, OfferStatus, Shard, SubjectId, Tag, Time, UserId,
};

/// Somebody who makes offers.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Company {
    /// Which company.
    pub id: CompanyId,
    /// Who speaks for it.
    pub owner_id: UserId,
    /// What it is called.
    pub name: String,
    /// When it was entered.
    pub created_at: Time,
}

/// What a company offers.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Offer {
    /// Which offer.
    pub id: OfferId,
    /// The company.
    pub company_id: CompanyId,
    /// What is offered.
    pub title: String,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
    /// Whether it can still be taken up.
    pub status: OfferStatus,
    /// When it was made.
    pub created_at: Time,
}

/// Something that carries a tag.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct TagRef {
    /// The tag.
    pub tag: Tag,
    /// The part of the tag it is listed under.
    pub shard: Shard,
    /// What kind of thing carries it.
    pub entity: EntityKind,
    /// Which.
    pub id: SubjectId,
    /// Whose it is, where that is needed to find it: goals and quests.
    pub user_id: Option<UserId>,
    /// What it is called.
    pub title: String,
    /// When it was tagged.
    pub created_at: Time,
}
