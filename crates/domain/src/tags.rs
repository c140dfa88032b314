//! Search by tag: users, groups, goals, quests, posts, comments and offers, found by references
//! written with each of them, and shown as far as the viewer may see them now (R4, R53).

mod references;

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::{try_join, try_join4};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, Goal, Group, Offer, Post, Quest, TagRef, User};
use roundtable_model::table::Order;
use roundtable_model::{
    CommentId, EntityKind, GoalId, GroupId, OfferId, OfferStatus, PostId, QuestId, SubjectId, Tag,
    UserId, UserStatus,
};

pub(crate) use self::references::{reference_writes, references};
use crate::limits::{TAGS_MAX, check_count};
use crate::pages::fill_page;
use crate::{
    Caller, Comments, Context, Page, PageInput, ServiceError, ViewerAccess, offers, posts, refusals,
};

refusals! {
    TagError {
        NotTaggable: BadRequest = "entities of this kind have no tags",
    }
}

#[derive(Clone, Debug)]
pub struct Tags {
    context: Context,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TaggedItem {
    User(Box<User>),
    Group(Box<Group>),
    Goal(Box<Goal>),
    Quest(Box<Quest>),
    Post(Box<Post>),
    Comment(Box<Comment>),
    Offer(Box<Offer>),
}

type TaggedByKey = HashMap<(EntityKind, SubjectId), TaggedItem>;

#[boxed]
impl Tags {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns the items with a tag, of one kind or of all, that the viewer may see; by kind, then
    /// by id, which is by time; both in one order.
    pub async fn search(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        entity: Option<EntityKind>,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<TaggedItem>, TagError> {
        if entity.is_some_and(|entity| !is_tagged(entity)) {
            return Err(TagError::NotTaggable);
        }
        let (core, shards) = (self.context.core(), self.context.settings().shards.tags.0);
        fill_page(
            page,
            async |limit, after| {
                let listing = match &entity {
                    Some(entity) => core.tagged_of(tag, entity, shards),
                    None => core.tagged(tag, shards),
                };
                listing.order(order).limit(limit).after(after).page().await
            },
            async |references: Vec<TagRef>| {
                let mut found = self.load_visible(viewer, &references).await?;
                // A reference may be stale for a moment.
                let still_tagged =
                    |one: &TaggedItem| one.tags().iter().any(|other| other.same_as(tag));
                let each = references.into_iter().map(|reference| {
                    found.remove(&(reference.entity, reference.id)).filter(still_tagged)
                });
                Ok(each.collect())
            },
        )
        .await
    }

    /// Returns a tag as the first of these items spells it that has it now and that the viewer may see.
    pub(crate) async fn newest_spelling(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        references: &[TagRef],
    ) -> Result<Option<Tag>, ServiceError> {
        let found = self.load_visible(viewer, references).await?;
        let items = references.iter().filter_map(|it| found.get(&(it.entity, it.id.clone())));
        let mut spellings = items.flat_map(TaggedItem::tags);
        Ok(spellings.find(|other| other.same_as(tag)).cloned())
    }

    /// Reads the items that references name, each kind in as few reads as possible.
    async fn load_visible(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<TaggedByKey, ServiceError> {
        let context = &self.context;
        let users: Vec<UserId> = ids(named, EntityKind::User);
        let groups: Vec<GroupId> = ids(named, EntityKind::Group);
        let owners = named.iter().filter_map(|reference| reference.user_id.as_ref());
        let access = context.viewer_access(viewer, users.iter().chain(owners), &groups).await?;
        let content = try_join(self.posts(viewer, named), self.comments(viewer, named));
        let ((posts, comments), offers, goals, quests) = try_join4(
            content,
            self.offers(viewer, named),
            self.goals(viewer, &access, named),
            self.quests(viewer, &access, named),
        )
        .await?;
        let users = users.iter().filter_map(|id| access.shown_profile(id));
        let users = users.map(|user| TaggedItem::User(Box::new(Arc::unwrap_or_clone(user))));
        let groups = groups.iter().filter_map(|id| access.visible_group(id).cloned());
        let groups = groups.map(|group| TaggedItem::Group(Box::new(group)));
        let content = posts.into_iter().chain(comments);
        let all = users.chain(groups).chain(content).chain(offers).chain(goals).chain(quests);
        Ok(all.map(|one| (one.key(), one)).collect())
    }

    async fn posts(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<Vec<TaggedItem>, ServiceError> {
        let ids: Vec<PostId> = ids(named, EntityKind::Post);
        let found = posts::posts(&self.context, &ids).await?;
        let visible = posts::filter_visible(&self.context, viewer, found).await?;
        Ok(visible.into_iter().flatten().map(|post| TaggedItem::Post(Box::new(post))).collect())
    }

    async fn comments(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<Vec<TaggedItem>, ServiceError> {
        let of_kind = named.iter().filter(|reference| reference.entity == EntityKind::Comment);
        let at = of_kind.filter_map(|it| Some((it.within.as_ref()?.recast(), it.id.recast())));
        let at: Vec<(PostId, CommentId)> = at.collect();
        let comments = Comments::new(self.context.clone());
        let visible = comments.visible_at(viewer, &at).await?;
        let comments = visible.into_iter().flatten();
        Ok(comments.map(|comment| TaggedItem::Comment(Box::new(comment))).collect())
    }

    async fn offers(
        &self,
        viewer: Option<&Caller>,
        named: &[TagRef],
    ) -> Result<Vec<TaggedItem>, ServiceError> {
        let ids: Vec<OfferId> = ids(named, EntityKind::Offer);
        let found = offers::offers(&self.context, &ids).await?;
        let visible = offers::filter_visible(&self.context, viewer, found).await?;
        let open = visible.into_iter().flatten().filter(|offer| offer.status == OfferStatus::Open);
        Ok(open.map(|offer| TaggedItem::Offer(Box::new(offer))).collect())
    }

    async fn goals(
        &self,
        viewer: Option<&Caller>,
        access: &ViewerAccess,
        named: &[TagRef],
    ) -> Result<Vec<TaggedItem>, ServiceError> {
        let own = visible_owned(viewer, access, named, EntityKind::Goal).into_iter();
        let own = own.map(|(user, id)| Goal::at(user, &id.recast::<GoalId>()));
        let found = self.context.items_at("goals_among", own).await?.into_iter().flatten();
        Ok(found.map(|goal| TaggedItem::Goal(Box::new(goal))).collect())
    }

    async fn quests(
        &self,
        viewer: Option<&Caller>,
        access: &ViewerAccess,
        named: &[TagRef],
    ) -> Result<Vec<TaggedItem>, ServiceError> {
        let own = visible_owned(viewer, access, named, EntityKind::Quest).into_iter();
        let own = own.map(|(user, id)| Quest::at(user, &id.recast::<QuestId>()));
        let found = self.context.items_at("quests_among", own).await?.into_iter().flatten();
        Ok(found.map(|quest| TaggedItem::Quest(Box::new(quest))).collect())
    }
}

impl TaggedItem {
    pub fn tags(&self) -> &[Tag] {
        match self {
            Self::User(user) => &user.tags,
            Self::Group(group) => &group.tags,
            Self::Goal(goal) => &goal.tags,
            Self::Quest(quest) => &quest.tags,
            Self::Post(post) => &post.hashtags,
            Self::Comment(comment) => comment.tags(),
            Self::Offer(offer) => &offer.tags,
        }
    }

    fn key(&self) -> (EntityKind, SubjectId) {
        match self {
            Self::User(user) => (EntityKind::User, (&user.id).into()),
            Self::Group(group) => (EntityKind::Group, (&group.id).into()),
            Self::Goal(goal) => (EntityKind::Goal, (&goal.id).into()),
            Self::Quest(quest) => (EntityKind::Quest, (&quest.id).into()),
            Self::Post(post) => (EntityKind::Post, (&post.id).into()),
            Self::Comment(comment) => (EntityKind::Comment, (&comment.id).into()),
            Self::Offer(offer) => (EntityKind::Offer, (&offer.id).into()),
        }
    }
}

const fn is_tagged(entity: EntityKind) -> bool {
    use EntityKind::{Comment, Goal, Group, Offer, Post, Quest, User};
    matches!(entity, User | Group | Goal | Quest | Post | Comment | Offer)
}

fn ids<T: From<roundtable_model::Id>>(named: &[TagRef], kind: EntityKind) -> Vec<T> {
    let of_kind = named.iter().filter(|reference| reference.entity == kind);
    of_kind.map(|reference| reference.id.recast()).collect()
}

/// Returns the goals or quests that the viewer may see: their own and, for admins, those of all
/// existing users. Suspended viewers see none.
fn visible_owned<'a>(
    viewer: Option<&Caller>,
    access: &ViewerAccess,
    named: &'a [TagRef],
    kind: EntityKind,
) -> Vec<(&'a UserId, &'a SubjectId)> {
    let Some((viewer, me)) = viewer.and_then(|it| Some((it, access.visible_user(&it.user_id)?)))
    else {
        return Vec::new();
    };
    if me.status != UserStatus::Active {
        return Vec::new();
    }
    let is_admin = viewer.current_roles(me).admin;
    let of_kind = named.iter().filter(|reference| reference.entity == kind);
    let owned = of_kind.filter_map(|it| Some((it.user_id.as_ref()?, &it.id)));
    let is_visible =
        |user: &UserId| *user == me.id || (is_admin && access.visible_user(user).is_some());
    owned.filter(|(user, _)| is_visible(user)).collect()
}

/// Removes equivalent spellings, which share a tag reference; refuses too many tags.
pub(crate) fn distinct(tags: Vec<Tag>) -> Result<Vec<Tag>, ServiceError> {
    check_count("tags", tags.len(), TAGS_MAX)?;
    let mut distinct: Vec<Tag> = Vec::with_capacity(tags.len());
    for tag in tags {
        if !distinct.iter().any(|existing| existing.same_as(&tag)) {
            distinct.push(tag);
        }
    }
    Ok(distinct)
}
