//! Companies, their offers, and the references from tags to tagged objects.

use crate::{
    CompanyId, EntityKind, Fields, OfferId, OfferStatus, Shard, SubjectId, Tag, Time, UserId,
};

/// A company that makes offers.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Company {
    pub id: CompanyId,
    pub owner_id: UserId,
    pub name: String,
    pub created_at: Time,
}

/// An offer of a company.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Offer {
    pub id: OfferId,
    pub company_id: CompanyId,
    pub title: String,
    pub tags: Vec<Tag>,
    pub status: OfferStatus,
    pub created_at: Time,
}

/// A reference from a tag to a tagged object.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct TagRef {
    pub tag: Tag,
    /// The shard of the tag it is listed in.
    pub shard: Shard,
    /// The kind of the tagged object.
    pub entity: EntityKind,
    pub id: SubjectId,
    /// The owner, where it is needed to find the object: goals and quests.
    pub user_id: Option<UserId>,
    /// The container of the object, where it is needed to find it: the post of a comment.
    pub within: Option<SubjectId>,
    pub title: String,
    pub created_at: Time,
}
