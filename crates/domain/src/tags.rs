//! Everything that carries a tag: people, groups, goals, quests, posts and offers, found by references
//! that are written with each of them, and shown as far as the viewer may see it now (R4).

use std::collections::HashMap;

use futures::future::try_join4;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Goal, Group, Offer, Post, Quest, TagRef, User};
use roundtable_model::{
    EntityKind, GoalId, GroupId, OfferId, OfferStatus, PostId, QuestId, Role, SubjectId, Tag,
    UserId, UserStatus,
};

use crate::accounts::shown;
use crate::limits::{TAGS_MAX, check_count};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, Sight, offers, posts, refusals};

refusals! {
    /// Why nothing was found by a tag.
    TagError {
        NeverTagged: BadRequest = "nothing of this kind carries tags",
    }
}

/// The tags of everything.
#[derive(Clone, Debug)]
pub struct Tags {
    ground: Ground,
}

/// Something that carries a tag.
#[derive(Clone, Debug, PartialEq)]
pub enum Tagged {
    User(Box<User>),
    Group(Box<Group>),
    Goal(Box<Goal>),
    Quest(Box<Quest>),
    Post(Box<Post>),
    Offer(Box<Offer>),
}

/// What was found, by its kind and id.
type Found = HashMap<(EntityKind, SubjectId), Tagged>;

#[boxed]
impl Tags {
    /// The tags on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// What carries a tag, of one kind or of all, as far as the viewer may see it; by kind, then by id,
    /// which is by time.
    pub async fn search(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        entity: Option<EntityKind>,
        page: &PageInput,
    ) -> Result<Page<Tagged>, TagError> {
        if entity.is_some_and(|entity| !is_tagged(entity)) {
            return Err(TagError::NeverTagged);
        }
        let (core, shards) = (self.ground.core(), self.ground.settings().shards.tags.0);
        fill(
            page,
            async |limit, after| {
                let listing = match &entity {
                    Some(entity) => core.tagged_of(tag, entity, shards),
                    None => core.tagged(tag, shards),
                };
                listing.limit(limit).after(after).page().await
            },
            async |references: Vec<TagRef>| {
                let mut found = self.seen(viewer, &references).await?;
                // A reference may be about to follow what it names.
                let carried = |one: &Tagged| one.tags().iter().any(|other| other.same_as(tag));
                let each = references.into_iter().map(|reference| {
                    found.remove(&(reference.entity, reference.id)).filter(carried)
                });
                Ok(each.collect())
            },
        )
        .await
    }

    /// What references name, each kind in as few reads as it takes.
    async fn seen(&self, viewer: Option<&Caller>, named: &[TagRef]) -> Result<Found, Failure> {
        let ground = &self.ground;
        let users: Vec<UserId> = ids(named, EntityKind::User);
        let groups: Vec<GroupId> = ids(named, EntityKind::Group);
        let owners = named.iter().filter_map(|reference| reference.user_id.as_ref());
        let sight = ground.sight(viewer, users.iter().chain(owners), &groups).await?;
        let (posts, offers, goals, quests) = try_join4(
            self.posts(viewer, named),
            self.offers(viewer, named),
            self.goals(viewer, &sight, named),
            self.quests(viewer, &sight, named),
        )
        .await?;
        let users = users.iter().filter_map(|id| sight.person(id).cloned());
        let users = users.map(|user| Tagged::User(Box::new(shown(viewer, user))));
        let groups = groups.iter().filter_map(|id| sight.group(id).cloned());
        let groups = groups.map(|group| Tagged::Group(Box::new(group)));
        let all = users.chain(groups).chain(posts).chain(offers).chain(goals).chain(quests);
        Ok(all.map(|one| (one.place(), one)).collect())
    }

    async fn posts(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<Vec<Tagged>, Failure> {
        let ids: Vec<PostId> = ids(named, EntityKind::Post);
        let found = posts::posts(&self.ground, &ids).await?;
        let seen = posts::seen(&self.ground, viewer, found).await?;
        Ok(seen.into_iter().flatten().map(|post| Tagged::Post(Box::new(post))).collect())
    }

    async fn offers(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<Vec<Tagged>, Failure> {
        let ids: Vec<OfferId> = ids(named, EntityKind::Offer);
        let found = offers::offers(&self.ground, &ids).await?;
        let seen = offers::seen(&self.ground, viewer, found).await?;
        let open = seen.into_iter().flatten().filter(|offer| offer.status == OfferStatus::Open);
        Ok(open.map(|offer| Tagged::Offer(Box::new(offer))).collect())
    }

    async fn goals(
        &self,
        viewer: Option<&Caller>,
        sight: &Sight,
        named: &[TagRef],
    ) -> Result<Vec<Tagged>, Failure> {
        let own = own(viewer, sight, named, EntityKind::Goal).into_iter();
        let own = own.map(|(user, id)| Goal::at(user, &id.recast::<GoalId>()));
        let found = self.ground.at("goals_among", own).await?.into_iter().flatten();
        Ok(found.map(|goal| Tagged::Goal(Box::new(goal))).collect())
    }

    async fn quests(
        &self,
        viewer: Option<&Caller>,
        sight: &Sight,
        named: &[TagRef],
    ) -> Result<Vec<Tagged>, Failure> {
        let own = own(viewer, sight, named, EntityKind::Quest).into_iter();
        let own = own.map(|(user, id)| Quest::at(user, &id.recast::<QuestId>()));
        let found = self.ground.at("quests_among", own).await?.into_iter().flatten();
        Ok(found.map(|quest| Tagged::Quest(Box::new(quest))).collect())
    }
}

impl Tagged {
    /// What it is about, in a word each.
    pub fn tags(&self) -> &[Tag] {
        match self {
            Self::User(user) => &user.tags,
            Self::Group(group) => &group.tags,
            Self::Goal(goal) => &goal.tags,
            Self::Quest(quest) => &quest.tags,
            Self::Post(post) => &post.hashtags,
            Self::Offer(offer) => &offer.tags,
        }
    }

    fn place(&self) -> (EntityKind, SubjectId) {
        match self {
            Self::User(user) => (EntityKind::User, (&user.id).into()),
            Self::Group(group) => (EntityKind::Group, (&group.id).into()),
            Self::Goal(goal) => (EntityKind::Goal, (&goal.id).into()),
            Self::Quest(quest) => (EntityKind::Quest, (&quest.id).into()),
            Self::Post(post) => (EntityKind::Post, (&post.id).into()),
            Self::Offer(offer) => (EntityKind::Offer, (&offer.id).into()),
        }
    }
}

const fn is_tagged(entity: EntityKind) -> bool {
    use EntityKind::{Goal, Group, Offer, Post, Quest, User};
    matches!(entity, User | Group | Goal | Quest | Post | Offer)
}

/// The ids of one kind among what references name.
fn ids<T: From<roundtable_model::Id>>(named: &[TagRef], kind: EntityKind) -> Vec<T> {
    let of_kind = named.iter().filter(|reference| reference.entity == kind);
    of_kind.map(|reference| reference.id.recast()).collect()
}

/// Goals or quests that the viewer may see, with whose they are: their own, and for admins everybody's
/// who is there. A suspended account shows them to nobody but admins, as their services do.
fn own<'a>(
    viewer: Option<&Caller>,
    sight: &Sight,
    named: &'a [TagRef],
    kind: EntityKind,
) -> Vec<(&'a UserId, &'a SubjectId)> {
    let Some((viewer, me)) = viewer.and_then(|it| Some((it, sight.person(&it.user_id)?))) else {
        return Vec::new();
    };
    if me.status != UserStatus::Active {
        return Vec::new();
    }
    let is_admin = viewer.roles.admin && me.roles.contains(&Role::Admin);
    let of_kind = named.iter().filter(|reference| reference.entity == kind);
    let owned = of_kind.filter_map(|it| Some((it.user_id.as_ref()?, &it.id)));
    let is_seen = |user: &UserId| *user == me.id || (is_admin && sight.person(user).is_some());
    owned.filter(|(user, _)| is_seen(user)).collect()
}

/// Tags that people would take for the same have one reference, so they are one tag; refused when they
/// are too many.
pub(crate) fn distinct(tags: Vec<Tag>) -> Result<Vec<Tag>, Failure> {
    check_count("tags", tags.len(), TAGS_MAX)?;
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|known| known.same_as(&tag)) {
            distinct.push(tag);
        }
    }
    Ok(distinct)
}
