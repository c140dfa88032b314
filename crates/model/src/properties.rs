//! Properties that every entity of the schema must have.

use std::fmt::Debug;

use proptest::prelude::*;
use rand::rngs::SmallRng;
use roundtable_table::ValueRef;
use roundtable_table::limits::{PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX};

use crate::attribute::{Sample, seeded};
use crate::entities::*;
use crate::error::display_key;
use crate::shape::{EntityShape, Index, KeySegment, KeyShape, KeyTemplate, TableShape};
use crate::{
    Entity, Error, FollowStatus, KeyPart, ModerationStatus, SCHEMA, Score, Time, Visibility,
};

/// Calls a function for every entity of the schema.
macro_rules! for_each_entity {
    ($check:ident $arguments:tt) => { with_entities!(for_each_entity @ $check $arguments) };
    (@ $check:ident $arguments:tt $(($entity:ident $sample:ident))*) => {
        $($check::<$entity> $arguments?;)*
    };
}

type PropertyResult = Result<(), TestCaseError>;

proptest! {
    /// R3: encode and decode are inverse.
    #[test]
    fn every_entity_reads_back_as_it_was_written(seed: u64) {
        for_each_entity!(reads_back(&mut seeded(seed)));
    }

    /// R3: every item names its type, and its keys are those of the schema, within DynamoDB's
    /// limits.
    #[test]
    fn every_key_is_in_the_schema_and_of_no_other_entity(seed: u64) {
           for_each_entity!(keys_are_in_the_schema(&mut seeded(seed)));
    }

    #[test]
    fn an_item_with_a_bad_attribute_is_refused_by_entity_key_and_field(seed: u64) {
        for_each_entity!(bad_attributes_are_named(&mut seeded(seed)));
    }

    /// Two items of one entity that differ in any part of their identity have different keys. The
    /// test above covers items of two entities.
    #[test]
    fn no_two_items_share_a_primary_key(seed: u64) {
        for_each_entity!(identity_determines_the_key(&mut seeded(seed)));
    }

    /// The text of a sort key orders like the times, scores and ids in it.
    #[test]
    fn sort_keys_order_as_documented(seed: u64) {
        let random = &mut seeded(seed);
        ordered::<Post, _>(random, listed, Index::Gsi3, |post| {
            Some((post.score?, post.published_at?, post.id.clone()))
        })?;
        ordered::<Post, _>(random, listed, Index::Gsi2, |post| {
            Some((post.published_at?, post.id.clone()))
        })?;
        ordered::<Post, _>(random, listed, Index::Gsi1, |post| {
            Some((post.created_at, post.id.clone()))
        })?;
        for index in [Index::Gsi1, Index::Gsi2] {
            ordered::<Task, _>(random, open, index, |task| Some((task.due_at?, task.id.clone())))?;
        }
        ordered::<Follow, _>(random, active, Index::Gsi2, |follow| {
            let Follow { active_since, follower_id, followee_id, .. } = follow;
            Some(((*active_since)?, follower_id.clone(), followee_id.clone()))
        })?;
        ordered::<Activity, _>(random, |_| {}, Index::Main, |activity| {
            Some((activity.created_at, activity.activity_id.clone()))
        })?;
        ordered::<Message, _>(random, |_| {}, Index::Main, |message| {
            Some((message.created_at, message.id.clone()))
        })?;
        ordered::<Comment, _>(random, |_| {}, Index::Main, |comment| Some(comment.id.clone()))?;
        ordered::<Job, _>(random, |_| {}, Index::Main, |job| Some((job.due_at, job.id.clone())))?;
    }
}

fn listed(post: &mut Post) {
    post.visibility = Visibility::Public;
    post.moderation_status = ModerationStatus::Approved;
    (post.is_deleted, post.group_id, post.author_is_private) = (false, None, false);
    post.published_at = post.published_at.or(Some(post.updated_at));
    post.score = post.score.or(Some(Score::new(post.version)));
}

fn open(task: &mut Task) {
    task.done = false;
    task.due_at = task.due_at.or(Some(task.updated_at));
}

fn active(follow: &mut Follow) {
    follow.status = FollowStatus::Active;
    follow.active_since = follow.active_since.or(Some(follow.created_at));
}

fn reads_back<E: Entity + Sample + PartialEq + Debug>(random: &mut SmallRng) -> PropertyResult {
    let entity = E::sample(random);
    let read = E::from_item(&entity.item());
    prop_assert!(matches!(&read, Ok(same) if *same == entity), "{entity:?} became {read:?}");
    Ok(())
}

fn keys_are_in_the_schema<E: Entity + Sample>(random: &mut SmallRng) -> PropertyResult {
    let (entity, table) = (E::sample(random), table_of(E::SHAPE));
    let item = entity.item();
    prop_assert_eq!(item.text("type"), Some(E::SHAPE.name));
    for index in [Index::Main].into_iter().chain(Index::SECONDARY) {
        let partition = item.text(index.partition_attribute());
        let sort = item.text(index.sort_attribute());
        prop_assert_eq!(partition.is_some(), sort.is_some());
        let (Some(partition), Some(sort)) = (partition, sort) else { continue };
        prop_assert!(partition.len() <= PARTITION_KEY_BYTES_MAX, "{}", partition);
        prop_assert!(sort.len() <= SORT_KEY_BYTES_MAX, "{}", sort);
        let fits = |key: &&KeyShape| {
            key.index == index && matches(&key.partition, partition) && matches(&key.sort, sort)
        };
        let entities = table.entities.iter().filter(|entity| entity.keys.iter().any(|k| fits(&k)));
        let names: Vec<&str> = entities.map(|entity| entity.name).collect();
        prop_assert_eq!(names, [E::SHAPE.name], "{} / {}", partition, sort);
    }
    Ok(())
}

/// Replaces each attribute by a value of a type that no field has.
fn bad_attributes_are_named<E: Entity + Sample>(random: &mut SmallRng) -> PropertyResult {
    let entity = E::sample(random);
    let key = display_key(&entity.key().into_key());
    for field in E::SHAPE.fields {
        let item = entity.item().with(field.attribute, &b"no field holds bytes"[..]);
        match E::from_item(&item).err() {
            Some(Error::InvalidItem { entity, key: at, field: named, reason }) => {
                prop_assert_eq!((entity, named), (E::SHAPE.name, field.attribute));
                prop_assert_eq!(&at, &key);
                prop_assert!(!reason.expected.is_empty());
            }
            other => prop_assert!(false, "{} of {}: {:?}", field.field, E::SHAPE.name, other),
        }
    }
    let other = entity.item().with("type", "Stranger");
    let refused = E::from_item(&other).err().map(|error| error.to_string());
    let expected = format!("expected {} at {key}, found Stranger", E::SHAPE.name);
    prop_assert_eq!(refused, Some(expected));
    Ok(())
}

/// Replaces each part of an item's identity by that of another item.
fn identity_determines_the_key<E: Entity + Sample>(random: &mut SmallRng) -> PropertyResult {
    // Names that fold alike share a key on purpose; they have their own tests.
    const FOLDED: [&str; 5] = ["Email", "Nickname", "Handle", "Tag", "LoginName"];
    let (one, other) = (E::sample(random), E::sample(random));
    let identity = E::SHAPE.identity.iter().filter(|part| !FOLDED.contains(&part.kind));
    let sources = identity.flat_map(|part| match part.computed_from {
        [] => std::slice::from_ref(&part.name),
        fields => fields,
    });
    for name in sources {
        let field = E::SHAPE.fields.iter().find(|field| field.field == *name);
        let attribute = field.expect("a part is a field").attribute;
        let Some(value) = other.item().get(attribute).map(ValueRef::to_value) else { continue };
        let same = one.item().get(attribute).map(ValueRef::to_value) == Some(value.clone());
        let mixed = E::from_item(&one.item().with(attribute, value));
        let mixed = mixed.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let (one, mixed) =
            (display_key(&one.key().into_key()), display_key(&mixed.key().into_key()));
        // A group's activity is stored with the group, regardless of the actor.
        let is_activity = ["Activity", "ProfileActivity"].contains(&E::SHAPE.name);
        let covered = is_activity && *name == "actor_id";
        prop_assert_eq!(one == mixed, same || covered && one == mixed, "{} {}", one, mixed);
    }
    Ok(())
}

/// Checks that two entities in the index compare like the parts of their sort keys.
fn ordered<E: Entity + Sample, P: Ord>(
    random: &mut SmallRng,
    change: impl Fn(&mut E),
    index: Index,
    parts: impl Fn(&E) -> Option<P>,
) -> PropertyResult {
    let mut listed = || {
        let mut entity = E::sample(random);
        change(&mut entity);
        let sort = entity.item().text(index.sort_attribute()).map(str::to_owned);
        sort.zip(parts(&entity)).expect("it is in the index")
    };
    let ((left_sort, left), (right_sort, right)) = (listed(), listed());
    prop_assert_eq!(left.cmp(&right), left_sort.cmp(&right_sort), "{} {}", left_sort, right_sort);
    Ok(())
}

/// Returns whether `template` could have written `key`: parts hold no `#`, so a key can be parsed.
fn matches(template: &KeyTemplate, key: &str) -> bool {
    let texts: Vec<&str> = key.split('#').collect();
    let whole = template.segments;
    let short = whole.len() - usize::from(template.is_sharded());
    (texts.len() == whole.len() || texts.len() == short)
        && whole.iter().zip(&texts).all(|(segment, text)| match segment {
            KeySegment::Literal(literal) => literal == text,
            KeySegment::Part { .. } => !text.is_empty(),
            KeySegment::Shard { .. } => text.parse::<u16>().is_ok_and(|shard| shard > 0),
        })
}

fn table_of(entity: &EntityShape) -> &'static TableShape {
    let holds = |table: &&&TableShape| table.entity(entity.name).is_some();
    SCHEMA.iter().find(holds).copied().expect("every entity is in the schema")
}

#[test]
fn scores_and_times_have_a_fixed_width() {
    let width = |part: &dyn Fn(&mut String)| {
        let mut key = String::new();
        part(&mut key);
        key.len()
    };
    for score in [0, 999, 1000, u64::MAX] {
        assert_eq!(width(&|key| Score::new(score).write_part(key)), 12);
    }
    for ms in [0, 1, u64::MAX] {
        assert_eq!(width(&|key| Time::from_ms(ms).write_part(key)), 24);
    }
}
