//! The references by which a goal is found by its tags: written with the goal, so never behind it. They
//! name its owner, for whom alone it is.

use roundtable_model::entities::{Goal, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId};

use crate::{Failure, Ground};

/// The writes that bring a goal's references in step, from what it was to what it becomes: `None` is a
/// goal that is not there. They go into a transaction that demands the goal as it was.
pub(super) async fn in_step(
    ground: &Ground,
    before: Option<&Goal>,
    after: Option<&Goal>,
) -> Result<Vec<Write>, Failure> {
    let look = |goal: &Goal| (goal.title.clone(), goal.tags.clone());
    if before.map(look) == after.map(look) {
        return Ok(Vec::new());
    }
    let old = match before {
        Some(before) => written(ground, before).await?,
        None => Vec::new(),
    };
    let mut new = after.map(|after| references(ground, after)).unwrap_or_default();
    for reference in &mut new {
        // One that is there stays where it is: there may have been fewer shards.
        if let Some(there) = old.iter().find(|old| old.tag.same_as(&reference.tag)) {
            reference.shard = there.shard;
        }
    }
    let dropped = old.iter().filter(|old| !new.iter().any(|new| new.tag.same_as(&old.tag)));
    let removals = dropped.map(|reference| reference.key().delete().into());
    let changed = new.iter().filter(|new| !old.contains(new));
    Ok(removals.chain(changed.map(|reference| reference.put().into())).collect())
}

/// The references there are.
async fn written(ground: &Ground, goal: &Goal) -> Result<Vec<TagRef>, Failure> {
    let (shards, id) = (ground.settings().shards.tags.0, SubjectId::from(&goal.id));
    let found = ground.core().tag_refs(&goal.tags, shards, &EntityKind::Goal, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

fn references(ground: &Ground, goal: &Goal) -> Vec<TagRef> {
    let shards = ground.settings().shards.tags.0;
    let each = goal.tags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&goal.id.to_string(), shards),
        entity: EntityKind::Goal,
        id: (&goal.id).into(),
        user_id: Some(goal.user_id.clone()),
        title: goal.title.clone(),
        created_at: goal.created_at,
    });
    each.collect()
}
