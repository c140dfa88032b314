//! The references by which a quest is found by its tags: written with the quest, and taken away after
//! it. They name its owner, for whom alone it is.

use roundtable_model::entities::{Quest, TagRef};
use roundtable_model::table::{BatchWrite, Put};
use roundtable_model::{Entity, EntityKind, QuestId, Shard, SubjectId, Tag};

use crate::{Failure, Ground};

/// Those of a quest that is being made: it stays as it is, so they do.
pub(super) fn of(ground: &Ground, quest: &Quest) -> Vec<Put> {
    let shards = ground.settings().shards.tags.0;
    let each = quest.tags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&quest.id.to_string(), shards),
        entity: EntityKind::Quest,
        id: (&quest.id).into(),
        user_id: Some(quest.user_id.clone()),
        title: quest.title.clone(),
        created_at: quest.created_at,
    });
    each.map(|reference| reference.create()).collect()
}

/// Takes away those of a quest that is gone, whichever shards there were when it was made.
pub(super) async fn clear(ground: &Ground, id: &QuestId, tags: &[Tag]) -> Result<(), Failure> {
    let (core, shards) = (ground.core(), ground.settings().shards.tags.0);
    let id = SubjectId::from(id);
    let found = core.tag_refs(tags, shards, &EntityKind::Quest, &id).get().await?;
    for reference in found.into_iter().flatten() {
        let gone = vec![BatchWrite::Delete(reference.key().into())];
        core.table().batch_write(gone).await?;
    }
    Ok(())
}
