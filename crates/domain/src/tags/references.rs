//! The tag references of texts: of posts and comments. They change in the transaction of the text, so
//! a tag never leads to a text without it.

use roundtable_model::entities::{Comment, Post, TagRef};
use roundtable_model::table::Write;
use roundtable_model::{Entity, EntityKind, Shard, SubjectId, Tag, Time};

use crate::limits::NAME_CHARS_MAX;
use crate::{Context, ServiceError};

/// A post or a comment, as its tags refer to it.
#[derive(Debug)]
pub(crate) struct TaggedText<'a> {
    entity: EntityKind,
    id: SubjectId,
    /// The container that it is found in.
    within: Option<SubjectId>,
    tags: &'a [Tag],
    text: &'a str,
    created_at: Time,
}

impl<'a> From<&'a Post> for TaggedText<'a> {
    fn from(post: &'a Post) -> Self {
        Self {
            entity: EntityKind::Post,
            id: (&post.id).into(),
            within: None,
            tags: &post.hashtags,
            text: &post.content,
            created_at: post.created_at,
        }
    }
}

impl<'a> From<&'a Comment> for TaggedText<'a> {
    fn from(comment: &'a Comment) -> Self {
        Self {
            entity: EntityKind::Comment,
            id: (&comment.id).into(),
            within: Some((&comment.post_id).into()),
            tags: comment.tags(),
            text: &comment.content,
            created_at: comment.created_at,
        }
    }
}

/// Returns the references of a new text.
pub(crate) fn references<'a>(context: &Context, text: impl Into<TaggedText<'a>>) -> Vec<TagRef> {
    let (shards, text) = (context.settings().shards.tags.0, text.into());
    let each = text.tags.iter().map(|tag| TagRef {
        tag: tag.clone(),
        shard: Shard::of(&text.id.to_string(), shards),
        entity: text.entity,
        id: text.id.clone(),
        user_id: None,
        within: text.within.clone(),
        title: text.text.trim().chars().take(NAME_CHARS_MAX).collect(),
        created_at: text.created_at,
    });
    each.collect()
}

/// Returns the existing references of a text, in whichever shard each was written: the number of
/// shards may have grown.
pub(crate) async fn existing_references<'a>(
    context: &Context,
    text: impl Into<TaggedText<'a>>,
) -> Result<Vec<TagRef>, ServiceError> {
    let (shards, text) = (context.settings().shards.tags.0, text.into());
    let found = context.core().tag_refs(text.tags, shards, &text.entity, &text.id).get().await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the writes that update the tag references of a changed text.
pub(crate) async fn reference_writes<'a>(
    context: &Context,
    before: impl Into<TaggedText<'a>>,
    after: impl Into<TaggedText<'a>>,
) -> Result<Vec<Write>, ServiceError> {
    let old = existing_references(context, before).await?;
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
