//! The tag references of groups, written together with the group.

use roundtable_model::entities::{Group, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag};

use crate::{Context, ServiceError};

/// Returns the writes that update a group's tag references; `None` is a group that does not exist.
/// Their transaction must require [`super::writes::unchanged`].
pub(super) async fn reference_writes(
    context: &Context,
    before: Option<&Group>,
    after: Option<&Group>,
) -> Result<Vec<Write>, ServiceError> {
    let look = |group: &Group| (group.name.clone(), group.tags.clone());
    let (old, new) = (before.map(look), after.map(look));
    if old == new {
        return Ok(Vec::new());
    }
    let existing = match before {
        Some(before) => references(context, before, after).await?,
        None => Vec::new(),
    };
    let wanted = after.map(|after| after.tags.as_slice()).unwrap_or_default();
    let mut writes = Vec::with_capacity(existing.len() + wanted.len());
    for reference in &existing {
        let retained = wanted.iter().find(|tag| tag.same_as(&reference.tag));
        match (retained, after) {
            (Some(tag), Some(after)) => {
                let title = after.name.clone();
                let changed = TagRef { tag: tag.clone(), title, ..reference.clone() };
                writes.extend((changed != *reference).then(|| changed.put().into()));
            }
            _ => writes.push(reference.key().delete().into()),
        }
    }
    if let Some(after) = after {
        let missing = |tag: &&Tag| !existing.iter().any(|reference| reference.tag.same_as(tag));
        let new = wanted.iter().filter(missing).map(|tag| reference(context, after, tag));
        writes.extend(new.map(|reference| Write::from(reference.create())));
    }
    Ok(writes)
}

/// The existing references, in whichever shard each was written: the number of shards may have
/// grown.
async fn references(
    context: &Context,
    before: &Group,
    after: Option<&Group>,
) -> Result<Vec<TagRef>, ServiceError> {
    let mut tags = before.tags.clone();
    let new = after.map(|after| after.tags.as_slice()).unwrap_or_default();
    tags.extend(new.iter().filter(|tag| !before.tags.iter().any(|old| old.same_as(tag))).cloned());
    let (shards, id) = (context.settings().shards.tags.0, SubjectId::from(&before.id));
    let found = context.core().tag_refs(&tags, shards, &EntityKind::Group, &id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

fn reference(context: &Context, group: &Group, tag: &Tag) -> TagRef {
    TagRef {
        tag: tag.clone(),
        shard: Shard::of(&group.id.to_string(), context.settings().shards.tags.0),
        entity: EntityKind::Group,
        id: (&group.id).into(),
        user_id: None,
        within: None,
        title: group.name.clone(),
        created_at: group.updated_at,
    }
}
