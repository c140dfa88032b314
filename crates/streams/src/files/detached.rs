//! Finds files that a change detaches from their post, activity or profile.

use roundtable_model::entities::{Activity, Holder, Media, Post, ProfileActivity, User};
use roundtable_model::table::Change;
use roundtable_model::{Entity, MediaKey, ObjectType, UserId};

use crate::Result;
use crate::processor::{Images, entity_type};

/// A file that its holder no longer has.
#[derive(Clone, Debug)]
pub(super) struct DetachedFile {
    pub(super) owner: UserId,
    pub(super) key: MediaKey,
    pub(super) holder: Holder,
}

/// Returns the files that a change detaches.
pub(super) fn detached_files(change: &Change) -> Result<Vec<DetachedFile>> {
    let kind = entity_type(change).unwrap_or_default();
    if kind == Post::SHAPE.name {
        let Images { old: Some(old), new } = Images::<Post>::of(change)? else {
            return Ok(Vec::new());
        };
        let after = new.as_ref().map_or(&[][..], |new| &new.media);
        return Ok(detached(&old.author_id, &old.media, after, &Holder::post(&old.id)));
    }
    if kind == User::SHAPE.name {
        let Images { old: Some(old), new } = Images::<User>::of(change)? else {
            return Ok(Vec::new());
        };
        let after = new.as_ref().and_then(|new| new.profile_image.as_ref());
        return Ok(detached(&old.id, &old.profile_image, after, &Holder::profile(&old.id)));
    }
    // An activity never changes, and a post's file that it shows belongs to the post.
    let old = match kind {
        _ if change.new.is_some() => None,
        _ if kind == Activity::SHAPE.name => Images::<Activity>::of(change)?.old,
        _ if kind == ProfileActivity::SHAPE.name => {
            Images::<ProfileActivity>::of(change)?.old.map(Activity::from)
        }
        _ => None,
    };
    let Some(old) = old else { return Ok(Vec::new()) };
    if old.object_type == ObjectType::Post {
        return Ok(Vec::new());
    }
    Ok(detached(&old.actor_id, &old.media, None, &Holder::activity(&old)))
}

/// Returns the files in `before` that are not in `after`.
fn detached<'a>(
    owner: &UserId,
    before: impl IntoIterator<Item = &'a Media>,
    after: impl IntoIterator<Item = &'a Media>,
    holder: &Holder,
) -> Vec<DetachedFile> {
    let after: Vec<&MediaKey> = after.into_iter().map(|media| &media.s3_key).collect();
    let keys = before.into_iter().map(|media| &media.s3_key).filter(|key| !after.contains(key));
    let detached = keys.map(|key| DetachedFile {
        owner: owner.clone(),
        key: key.clone(),
        holder: holder.clone(),
    });
    detached.collect()
}
