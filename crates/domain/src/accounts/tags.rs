//! The tag references of users. They change in the transaction of the profile, which fails when the
//! profile has changed concurrently.

use roundtable_model::entities::{TagRef, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag};

use crate::{Context, ServiceError};

/// Returns the writes that update a user's tag references.
pub(super) async fn reference_writes(
    context: &Context,
    before: &User,
    after: &User,
) -> Result<Vec<Write>, ServiceError> {
    if before.tags == after.tags && before.nickname == after.nickname {
        return Ok(Vec::new());
    }
    let (id, shards) = (SubjectId::from(&before.id), context.settings().shards.tags.0);
    let is_new = |tag: &&Tag| !before.tags.iter().any(|old| old.same_as(tag));
    let mut tags = before.tags.clone();
    tags.extend(after.tags.iter().filter(is_new).cloned());
    // In whichever shard each was written: the number of shards may have grown since.
    let found = context.core().tag_refs(&tags, shards, &EntityKind::User, &id).get().await?;
    let found: Vec<TagRef> = found.into_iter().flatten().collect();
    let removed = found.iter().filter(|old| !after.tags.iter().any(|tag| tag.same_as(&old.tag)));
    let removed = removed.map(|reference| Write::from(reference.key().delete()));
    let updated = after.tags.iter().filter_map(|tag| {
        let old = found.iter().find(|old| old.tag.same_as(tag));
        let new = TagRef {
            tag: tag.clone(),
            shard: old.map_or_else(|| Shard::of(&id.to_string(), shards), |old| old.shard),
            entity: EntityKind::User,
            id: id.clone(),
            user_id: None,
            within: None,
            title: after.nickname.to_string(),
            created_at: old.map_or(after.updated_at, |old| old.created_at),
        };
        (old != Some(&new)).then(|| Write::from(new.put()))
    });
    Ok(removed.chain(updated).collect())
}
