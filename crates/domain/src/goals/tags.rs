//! The tag references of goals, written together with the goal. They name its owner, because only
//! the owner may find it.

use roundtable_model::entities::{Goal, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId};

use crate::{Context, ServiceError};

/// Returns the writes that update a goal's tag references; `None` is a goal that does not exist.
/// Their transaction must require the goal as it was read.
pub(super) async fn reference_writes(
    context: &Context,
    before: Option<&Goal>,
    after: Option<&Goal>,
) -> Result<Vec<Write>, ServiceError> {
    let look = |goal: &Goal| (goal.title.clone(), goal.tags.clone());
    if before.map(look) == after.map(look) {
        return Ok(Vec::new());
    }
    let old = match before {
        Some(before) => existing_references(context, before).await?,
        None => Vec::new(),
    };
    let mut new = after.map(|after| references(context, after)).unwrap_or_default();
    for reference in &mut new {
        // Existing references keep their shard: the number of shards may have grown.
        if let Some(existing) = old.iter().find(|old| old.tag.same_as(&reference.tag)) {
            reference.shard = existing.shard;
        }
    }
    let dropped = old.iter().filter(|old| !new.iter().any(|new| new.tag.same_as(&old.tag)));
    let removals = dropped.map(|reference| reference.key().delete().into());
    let changed = new.iter().filter(|new| !old.contains(new));
    Ok(removals.chain(changed.map(|reference| reference.put().into())).collect())
}

async fn existing_references(context: &Context, goal: &Goal) -> Result<Vec<TagRef>, ServiceError> {
    let (shards, id) = (context.settings().shards.tags.0, SubjectId::from(&goal.id));
    let found = context.core().tag_refs(&goal.tags, shards, &EntityKind::Goal, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

fn references(context: &Context, goal: &Goal) -> Vec<TagRef> {
    let shards = context.settings().shards.tags.0;
    let each = goal.tags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&goal.id.to_string(), shards),
        entity: EntityKind::Goal,
        id: (&goal.id).into(),
        user_id: Some(goal.user_id.clone()),
        within: None,
        title: goal.title.clone(),
        created_at: goal.created_at,
    });
    each.collect()
}
