//! Which posts somebody sees, decided for many at once, and what must still hold when they act on one.

use roundtable_model::entities::Post;
use roundtable_model::table::{Check, Condition};
use roundtable_model::{Entity, PostId};

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

/// A post that the caller may do this to, as far as seeing it decides.
pub(crate) async fn open_to(
    ground: &Ground,
    caller: &Caller,
    act: Act,
    id: &PostId,
) -> Result<Option<Post>, Failure> {
    let post = visible(ground, Some(caller), id).await?;
    let standing = Standing::SIGNED_IN.and_if(post.is_some(), Standing::SEES);
    Ok(post.filter(|_| allows(act, standing)))
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
