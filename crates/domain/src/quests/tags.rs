//! The tag references of quests, written with the quest and deleted after it. They name its owner,
//! because only the owner may find it.

use roundtable_model::entities::{Quest, TagRef};
use roundtable_model::table::{BatchWrite, Put};
use roundtable_model::{Entity, EntityKind, QuestId, Shard, SubjectId, Tag};

use crate::{Context, ServiceError};

/// The references of a new quest. They never change, because its tags do not.
pub(super) fn of(context: &Context, quest: &Quest) -> Vec<Put> {
    let shards = context.settings().shards.tags.0;
    let each = quest.tags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&quest.id.to_string(), shards),
        entity: EntityKind::Quest,
        id: (&quest.id).into(),
        user_id: Some(quest.user_id.clone()),
        within: None,
        title: quest.title.clone(),
        created_at: quest.created_at,
    });
    each.map(|reference| reference.create()).collect()
}

/// Deletes the references of a deleted quest, in whichever shard each was written.
pub(super) async fn clear(
    context: &Context,
    id: &QuestId,
    tags: &[Tag],
) -> Result<(), ServiceError> {
    let (core, shards) = (context.core(), context.settings().shards.tags.0);
    let id = SubjectId::from(id);
    let found = core.tag_refs(tags, shards, &EntityKind::Quest, &id).get().await?;
    for reference in found.into_iter().flatten() {
        let deletes = vec![BatchWrite::Delete(reference.key().into())];
        core.table().batch_write(deletes).await.map_err(ServiceError::of_write)?;
    }
    Ok(())
}
