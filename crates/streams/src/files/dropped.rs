//! Files that something has no longer: a post, an activity or a profile.

use roundtable_model::entities::{Activity, Holder, Media, Post, User};
use roundtable_model::table::Change;
use roundtable_model::{Entity, MediaKey, ObjectType, UserId};

use crate::Failure;
use crate::processor::{Images, entity};

/// A file that what held it has no longer.
#[derive(Clone, Debug)]
pub(super) struct Dropped {
    pub(super) owner: UserId,
    pub(super) key: MediaKey,
    pub(super) holder: Holder,
}

/// The files that a change takes from what it changes.
pub(super) fn dropped(change: &Change) -> Result<Vec<Dropped>, Failure> {
    let kind = entity(change).unwrap_or_default();
    if kind == Post::SHAPE.name {
        let Images { old: Some(old), new } = Images::<Post>::of(change)? else {
            return Ok(Vec::new());
        };
        let left = new.as_ref().map_or(&[][..], |new| &new.media);
        return Ok(missing(&old.author_id, &old.media, left, &Holder::post(&old.id)));
    }
    if kind == User::SHAPE.name {
        let Images { old: Some(old), new } = Images::<User>::of(change)? else {
            return Ok(Vec::new());
        };
        let left = new.as_ref().and_then(|new| new.profile_image.as_ref());
        return Ok(missing(&old.id, &old.profile_image, left, &Holder::profile(&old.id)));
    }
    // An activity never changes, and what it shows of a post is the post's.
    if kind != Activity::SHAPE.name || change.new.is_some() {
        return Ok(Vec::new());
    }
    let Some(old) = Images::<Activity>::of(change)?.old else { return Ok(Vec::new()) };
    if old.object_type == ObjectType::Post {
        return Ok(Vec::new());
    }
    Ok(missing(&old.actor_id, &old.media, None, &Holder::activity(&old)))
}

/// Those that were there and are not left.
fn missing<'a>(
    owner: &UserId,
    were: impl IntoIterator<Item = &'a Media>,
    left: impl IntoIterator<Item = &'a Media>,
    holder: &Holder,
) -> Vec<Dropped> {
    let left: Vec<&MediaKey> = left.into_iter().map(|media| &media.s3_key).collect();
    let keys = were.into_iter().map(|media| &media.s3_key).filter(|key| !left.contains(key));
    let dropped =
        keys.map(|key| Dropped { owner: owner.clone(), key: key.clone(), holder: holder.clone() });
    dropped.collect()
}
