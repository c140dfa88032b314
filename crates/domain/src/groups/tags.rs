//! The references by which a group is found by its tags: written with the group, so never behind it.

use roundtable_model::entities::{Group, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag};

use crate::{Failure, Ground};

/// The writes that bring a group's references in step, from what it was to what it becomes: `None` is
/// a group that is not there. They go into a transaction that demands [`super::writes::unchanged`].
pub(super) async fn in_step(
    ground: &Ground,
    before: Option<&Group>,
    after: Option<&Group>,
) -> Result<Vec<Write>, Failure> {
    let look = |group: &Group| (group.name.clone(), group.tags.clone());
    let (old, new) = (before.map(look), after.map(look));
    if old == new {
        return Ok(Vec::new());
    }
    let known = match before {
        Some(before) => references(ground, before, after).await?,
        None => Vec::new(),
    };
    let wanted = after.map(|after| after.tags.as_slice()).unwrap_or_default();
    let mut writes = Vec::with_capacity(known.len() + wanted.len());
    for reference in &known {
        let kept = wanted.iter().find(|tag| tag.same_as(&reference.tag));
        match (kept, after) {
            (Some(tag), Some(after)) => {
                let title = after.name.clone();
                let changed = TagRef { tag: tag.clone(), title, ..reference.clone() };
                writes.extend((changed != *reference).then(|| changed.put().into()));
            }
            _ => writes.push(reference.key().delete().into()),
        }
    }
    if let Some(after) = after {
        let missing = |tag: &&Tag| !known.iter().any(|reference| reference.tag.same_as(tag));
        let new = wanted.iter().filter(missing).map(|tag| reference(ground, after, tag));
        writes.extend(new.map(|reference| Write::from(reference.create())));
    }
    Ok(writes)
}

/// The references there are, in whichever shard each was written: there may have been fewer shards.
async fn references(
    ground: &Ground,
    before: &Group,
    after: Option<&Group>,
) -> Result<Vec<TagRef>, Failure> {
    let mut tags = before.tags.clone();
    let new = after.map(|after| after.tags.as_slice()).unwrap_or_default();
    tags.extend(new.iter().filter(|tag| !before.tags.iter().any(|old| old.same_as(tag))).cloned());
    let (shards, id) = (ground.settings().shards.tags.0, SubjectId::from(&before.id));
    let found = ground.core().tag_refs(&tags, shards, &EntityKind::Group, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

fn reference(ground: &Ground, group: &Group, tag: &Tag) -> TagRef {
    TagRef {
        tag: tag.clone(),
        shard: Shard::of(&group.id.to_string(), ground.settings().shards.tags.0),
        entity: EntityKind::Group,
        id: (&group.id).into(),
        user_id: None,
        title: group.name.clone(),
        created_at: group.updated_at,
    }
}
