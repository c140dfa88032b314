//! The references by which posts are found under their tags. They change in the transaction of their
//! post, so a tag never leads to a post that does not carry it.

use roundtable_model::entities::{Post, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag};

use crate::limits::NAME_CHARS_MAX;
use crate::{Failure, Ground};

/// The references of a post.
pub(super) fn references(ground: &Ground, post: &Post) -> Vec<TagRef> {
    let shards = ground.settings().shards.tags.0;
    let each = post.hashtags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&post.id.to_string(), shards),
        entity: EntityKind::Post,
        id: (&post.id).into(),
        user_id: None,
        title: post.content.trim().chars().take(NAME_CHARS_MAX).collect(),
        created_at: post.created_at,
    });
    each.collect()
}

/// The references that were written for these tags, wherever they are: there may have been fewer
/// shards then.
pub(super) async fn written(
    ground: &Ground,
    post: &Post,
    tags: &[Tag],
) -> Result<Vec<TagRef>, Failure> {
    let (id, shards) = (SubjectId::from(&post.id), ground.settings().shards.tags.0);
    let found = ground.core().tag_refs(tags, shards, &EntityKind::Post, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

/// The writes that bring the references of a post from its tags `before` to those it has after.
pub(super) async fn moved(
    ground: &Ground,
    before: &Post,
    after: &Post,
) -> Result<Vec<Write>, Failure> {
    let old = written(ground, before, &before.hashtags).await?;
    let mut new = references(ground, after);
    for reference in &mut new {
        // One that is there stays where it is.
        if let Some(there) = old.iter().find(|old| old.tag.same_as(&reference.tag)) {
            reference.shard = there.shard;
        }
    }
    let dropped = old.iter().filter(|old| !new.iter().any(|new| new.tag.same_as(&old.tag)));
    let removals = dropped.map(|reference| reference.key().delete().into());
    let unchanged = |new: &&TagRef| !old.contains(new);
    let writes = new.iter().filter(unchanged).map(|reference| reference.put().into());
    Ok(removals.chain(writes).collect())
}
