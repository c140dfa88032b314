//! Which posts somebody sees, decided for many at once, and what must still hold when they act on one.

use std::collections::BTreeSet;

use roundtable_model::entities::{Block, Follow, GroupMember, Post, User};
use roundtable_model::table::{Check, Condition};
use roundtable_model::{Entity, FollowStatus, MemberStatus, PostId, UserId, Visibility};

use crate::access::{Act, Standing, allows};
use crate::{Caller, Failure, Ground, Sight};

/// Posts by id, as they are now.
pub(crate) async fn posts(ground: &Ground, ids: &[PostId]) -> Result<Vec<Option<Post>>, Failure> {
    Ok(ground.core().posts(ids).strong().get().await?)
}

/// Posts that an index told of, as they are now. Where indexes are never behind, they are already.
pub(crate) async fn current(
    ground: &Ground,
    found: Vec<Post>,
) -> Result<Vec<Option<Post>>, Failure> {
    if ground.store().capabilities().strong_index_reads {
        return Ok(found.into_iter().map(Some).collect());
    }
    let ids: Vec<PostId> = found.into_iter().map(|post| post.id).collect();
    posts(ground, &ids).await
}

/// What decides who sees these posts.
async fn sight<'a>(
    ground: &Ground,
    viewer: Option<&Caller>,
    posts: impl Iterator<Item = &'a Post> + Clone,
) -> Result<Sight, Failure> {
    let authors = posts.clone().map(|post| &post.author_id);
    let groups = posts.filter_map(|post| post.group_id.as_ref());
    Ok(ground.sight(viewer, authors, groups).await?)
}

/// Those of the posts that the viewer may see, each in its place.
pub(crate) async fn seen(
    ground: &Ground,
    viewer: Option<&Caller>,
    posts: Vec<Option<Post>>,
) -> Result<Vec<Option<Post>>, Failure> {
    let sight = sight(ground, viewer, posts.iter().flatten()).await?;
    Ok(posts.into_iter().map(|post| post.filter(|post| sight.post(post))).collect())
}

/// A post, if the viewer may see it.
pub(crate) async fn visible(
    ground: &Ground,
    viewer: Option<&Caller>,
    id: &PostId,
) -> Result<Option<Post>, Failure> {
    let post = ground.core().post(id).get().await?;
    Ok(seen(ground, viewer, vec![post]).await?.into_iter().flatten().next())
}

/// As [`visible`], for a caller whose profile has been read.
pub(crate) async fn visible_to(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    id: &PostId,
) -> Result<Option<Post>, Failure> {
    let Some(post) = ground.core().post(id).get().await? else { return Ok(None) };
    let sight = ground.sight_of(caller, me, [&post.author_id], &post.group_id).await?;
    Ok(Some(post).filter(|post| sight.post(post)))
}

/// A post that somebody may do something to.
#[derive(Debug)]
pub(crate) struct Open {
    /// The post.
    pub(crate) post: Post,
    /// Whether only those who follow its author see it at present, whatever the post says.
    pub(crate) is_author_private: bool,
    me: UserId,
    /// What let them see it.
    tie: Option<Check>,
}

/// A post that the caller may do this to, as far as seeing it decides.
pub(crate) async fn open_to(
    ground: &Ground,
    caller: &Caller,
    me: &User,
    act: Act,
    id: &PostId,
) -> Result<Option<Open>, Failure> {
    let Some(post) = ground.core().post(id).get().await? else { return Ok(None) };
    let sight = ground.sight_of(caller, me, [&post.author_id], &post.group_id).await?;
    Ok(Open::new(caller, &sight, act, post))
}

impl Open {
    /// The post, if the caller may do this to it. Staff see what those wrote who have blocked them, but
    /// may not join in.
    pub(crate) fn new(caller: &Caller, sight: &Sight, act: Act, post: Post) -> Option<Self> {
        let sees = sight.post(&post) && !sight.is_blocked(&post.author_id);
        if !allows(act, Standing::SIGNED_IN.and_if(sees, Standing::SEES)) {
            return None;
        }
        let author = sight.person(&post.author_id);
        let is_author_private = author.is_none_or(|author| author.is_private);
        let tie = tie(caller, sight, &post, is_author_private);
        Some(Self { is_author_private, me: caller.user_id.clone(), tie, post })
    }

    /// What must still hold when they do it, also to what these people wrote there: the post is for
    /// them as it was, and nobody of them has blocked the other.
    pub(crate) fn checks<'a>(&'a self, people: impl IntoIterator<Item = &'a UserId>) -> Vec<Check> {
        let others = people.into_iter().chain([&self.post.author_id]);
        // Each once: no item may occur twice in a transaction.
        let others: BTreeSet<&UserId> = others.filter(|other| **other != self.me).collect();
        let unblocked = others.into_iter().flat_map(|other| {
            [Block::at(&self.me, other).absent(), Block::at(other, &self.me).absent()]
        });
        let own = std::iter::once(unchanged(&self.post)).chain(self.tie.clone());
        own.chain(unblocked).collect()
    }
}

/// The edge by which somebody sees a post that is not for everybody; none for its author and for staff,
/// who see it anyway. Groups do not turn private, so what is in one for everybody stays so.
fn tie(caller: &Caller, sight: &Sight, post: &Post, is_author_private: bool) -> Option<Check> {
    let (me, author) = (&caller.user_id, &post.author_id);
    if me == author || caller.moderates() {
        return None;
    }
    if let Some(group) = &post.group_id {
        let active = GroupMember::STATUS.is(&MemberStatus::Active);
        let is_private = sight.group(group).is_some_and(|group| group.is_private);
        return is_private.then(|| GroupMember::at(group, me).check(active));
    }
    let active = Follow::STATUS.is(&FollowStatus::Active);
    let is_private = is_author_private || post.visibility == Visibility::Followers;
    is_private.then(|| Follow::at(me, author).check(active))
}

/// The post is still there, and still for those it was for when it was read. Its version is not asked
/// for: popularity raises that, too, and refuses nothing.
pub(crate) fn unchanged(post: &Post) -> Check {
    let live: Condition = Post::IS_DELETED.is(&false);
    let same = live
        .and(Post::VISIBILITY.is(&post.visibility))
        .and(Post::MODERATION_STATUS.is(&post.moderation_status));
    post.key().check(same)
}
