//! The tag references of posts. They change in the transaction of the post, so a tag never leads to
//! a post without it.

use roundtable_model::entities::{Post, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag};

use crate::limits::NAME_CHARS_MAX;
use crate::{Context, ServiceError};

pub(super) fn references(context: &Context, post: &Post) -> Vec<TagRef> {
    let shards = context.settings().shards.tags.0;
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

/// The existing references of these tags, in whichever shard each was written: the number of shards
/// may have grown.
pub(super) async fn existing_references(
    context: &Context,
    post: &Post,
    tags: &[Tag],
) -> Result<Vec<TagRef>, ServiceError> {
    let (id, shards) = (SubjectId::from(&post.id), context.settings().shards.tags.0);
    let found = context.core().tag_refs(tags, shards, &EntityKind::Post, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the writes that update the tag references of a changed post.
pub(super) async fn reference_writes(
    context: &Context,
    before: &Post,
    after: &Post,
) -> Result<Vec<Write>, ServiceError> {
    let old = existing_references(context, before, &before.hashtags).await?;
    let mut new = references(context, after);
    for reference in &mut new {
        // Existing references keep their shard.
        if let Some(existing) = old.iter().find(|old| old.tag.same_as(&reference.tag)) {
            reference.shard = existing.shard;
        }
    }
    let dropped = old.iter().filter(|old| !new.iter().any(|new| new.tag.same_as(&old.tag)));
    let removals = dropped.map(|reference| reference.key().delete().into());
    let unchanged = |new: &&TagRef| !old.contains(new);
    let writes = new.iter().filter(unchanged).map(|reference| reference.put().into());
    Ok(removals.chain(writes).collect())
}
