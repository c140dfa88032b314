//! Visibility of posts, decided in batches, and the checks that must still hold when a user acts on
//! one.

use std::collections::BTreeSet;

use roundtable_model::entities::{Follow, Group, Post, User};
use roundtable_model::table::{Check, Condition};
use roundtable_model::{Entity, FollowStatus, PostId, UserId, Visibility};

use crate::access::{Permission, Relations, allows};
use crate::contact::unblocked_checks;
use crate::groups::active_member_check;
use crate::{Caller, Context, ServiceError, ViewerAccess};

pub(crate) async fn posts(
    context: &Context,
    ids: &[PostId],
) -> Result<Vec<Option<Post>>, ServiceError> {
    Ok(context.core().posts(ids).strong().get().await?)
}

/// Re-reads posts found through an index that may be stale.
pub(crate) async fn reread(
    context: &Context,
    found: Vec<Post>,
) -> Result<Vec<Option<Post>>, ServiceError> {
    if context.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    let ids: Vec<PostId> = found.into_iter().map(|post| post.id).collect();
    posts(context, &ids).await
}

/// The viewer's access to the authors and groups of posts.
async fn viewer_access<'a>(
    context: &Context,
    viewer: Option<&Caller>,
    posts: impl Iterator<Item = &'a Post> + Clone,
) -> Result<ViewerAccess, ServiceError> {
    let authors = posts.clone().map(|post| &post.author_id);
    let groups = posts.filter_map(|post| post.group_id.as_ref());
    Ok(context.viewer_access(viewer, authors, groups).await?)
}

/// Keeps the posts the viewer may see.
pub(crate) async fn filter_visible(
    context: &Context,
    viewer: Option<&Caller>,
    posts: Vec<Option<Post>>,
) -> Result<Vec<Option<Post>>, ServiceError> {
    let access = viewer_access(context, viewer, posts.iter().flatten()).await?;
    Ok(posts.into_iter().map(|post| post.filter(|post| access.can_see_post(post))).collect())
}

pub(crate) async fn visible(
    context: &Context,
    viewer: Option<&Caller>,
    id: &PostId,
) -> Result<Option<Post>, ServiceError> {
    let post = context.core().post(id).get().await?;
    Ok(filter_visible(context, viewer, vec![post]).await?.into_iter().flatten().next())
}

/// As [`visible`], for a caller whose profile has been read.
pub(crate) async fn visible_to_caller(
    context: &Context,
    caller: &Caller,
    me: &User,
    id: &PostId,
) -> Result<Option<Post>, ServiceError> {
    let Some(post) = context.core().post(id).get().await? else { return Ok(None) };
    let access = context.viewer_access_of(caller, me, [&post.author_id], &post.group_id).await?;
    Ok(Some(post).filter(|post| access.can_see_post(post)))
}

/// A post that the caller may act on.
#[derive(Debug)]
pub(crate) struct ActionablePost {
    pub(crate) post: Post,
    /// True if the author's account is private now; the post's own copy may be stale.
    pub(crate) is_author_private: bool,
    me: UserId,
    /// The follow or membership that makes the post visible to the caller.
    visibility_check: Option<Check>,
    is_group_archived: bool,
}

/// Returns the post, if the caller sees it and so may act on it.
pub(crate) async fn load_actionable(
    context: &Context,
    caller: &Caller,
    me: &User,
    permission: Permission,
    id: &PostId,
) -> Result<Option<ActionablePost>, ServiceError> {
    let Some(post) = context.core().post(id).get().await? else { return Ok(None) };
    let access = context.viewer_access_of(caller, me, [&post.author_id], &post.group_id).await?;
    Ok(ActionablePost::new(caller, &access, permission, post))
}

impl ActionablePost {
    /// Returns the post, if the caller may act on it. Staff see posts of users who have blocked
    /// them, but may not react to them.
    pub(crate) fn new(
        caller: &Caller,
        access: &ViewerAccess,
        permission: Permission,
        post: Post,
    ) -> Option<Self> {
        let sees = access.can_see_post(&post) && !access.is_blocked(&post.author_id);
        if !allows(permission, Relations::SIGNED_IN.with_if(sees, Relations::CAN_SEE)) {
            return None;
        }
        let author = access.visible_user(&post.author_id);
        let is_author_private = author.is_none_or(|author| author.is_private);
        let visibility_check = visibility_check(caller, access, &post, is_author_private);
        let is_group_archived = access.require_writable(post.group_id.as_ref()).is_err();
        let me = caller.user_id.clone();
        Some(Self { is_author_private, me, visibility_check, is_group_archived, post })
    }

    /// The checks that must hold when the caller acts on the post and on what `people` wrote there:
    /// the post is visible as it was, and there is no block between them. Fails if the post's group
    /// is archived.
    pub(crate) fn checks<'a>(
        &'a self,
        people: impl IntoIterator<Item = &'a UserId>,
    ) -> Result<Vec<Check>, ServiceError> {
        if self.is_group_archived {
            return Err(ServiceError::GroupArchived);
        }
        let others = people.into_iter().chain([&self.post.author_id]);
        // Each once: an item may occur only once in a transaction.
        let others: BTreeSet<&UserId> = others.filter(|other| **other != self.me).collect();
        let unblocked = others.into_iter().flat_map(|other| unblocked_checks(&self.me, other));
        let own = std::iter::once(unchanged(&self.post)).chain(self.visibility_check.clone());
        Ok(own.chain(unblocked).collect())
    }
}

/// The check of what makes a restricted post visible: the caller's follow or membership or, to those
/// who are not in its group, the group's privacy. `None` for its author and for staff, who see it
/// anyway.
fn visibility_check(
    caller: &Caller,
    access: &ViewerAccess,
    post: &Post,
    is_author_private: bool,
) -> Option<Check> {
    let (me, author) = (&caller.user_id, &post.author_id);
    if me == author || access.is_staff() {
        return None;
    }
    if let Some(group) = &post.group_id {
        if access.is_active_member(group) {
            return Some(active_member_check(group, me));
        }
        let since = access.visible_group(group).and_then(|group| group.public_since);
        let is_public = Group::IS_PRIVATE.is(&false).and(Group::PUBLIC_SINCE.is(&since));
        return Some(Group::at(group).check(is_public));
    }
    let active = Follow::STATUS.is(&FollowStatus::Active);
    let is_private = is_author_private || post.visibility == Visibility::Followers;
    is_private.then(|| Follow::at(me, author).check(active))
}

/// Requires that the post exists with the same visibility. The version is not checked: popularity
/// raises it, too.
pub(crate) fn unchanged(post: &Post) -> Check {
    let not_deleted: Condition = Post::IS_DELETED.is(&false);
    let same = not_deleted
        .and(Post::VISIBILITY.is(&post.visibility))
        .and(Post::MODERATION_STATUS.is(&post.moderation_status));
    post.key().check(same)
}
