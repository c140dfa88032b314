//! The cardinality of key parts: many ids, a few words, times. It is derived from their types, as
//! the schema and the entities name them.

use roundtable_model::shape::{
    EntityShape, KeySegment, KeyShape, KeyTemplate, PartShape, TableShape,
};

const USER: &str = "UserId";

/// The field with the user who acted, if that is not the owner of the item.
const ACTOR: &str = "actor_id";

/// The beginnings of sort keys of items that every change they count or order writes to.
const COUNTER_PREFIXES: [&str; 2] = ["COUNTER", "HEAD"];

/// Types of which there is always a new value, besides entities' own ids and times.
const EVER_NEW: [&str; 2] = ["MediaKey", "StreamShard"];

/// Types with as many values as there are users or objects, besides ids.
const HIGH_CARDINALITY: [&str; 10] = [
    "RequestCaller",
    "Email",
    "Handle",
    "InviteCode",
    "IssuerSubject",
    "LoginName",
    "MediaKey",
    "Nickname",
    "StreamShard",
    "Tag",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartCardinality {
    Many,
    Few,
    Time,
    Day,
}

/// Returns the cardinality of the part `name` when a key contains its whole value.
fn cardinality(entity: &EntityShape, name: &str) -> PartCardinality {
    match kind_of(entity, name) {
        "Time" | "time" => PartCardinality::Time,
        "Day" | "CompactDay" => PartCardinality::Day,
        kind if kind.ends_with("Id") || HIGH_CARDINALITY.contains(&kind) => PartCardinality::Many,
        // All other types count as few, so that a new type causes a finding rather than hides one.
        _ => PartCardinality::Few,
    }
}

/// Returns the type of a part: of the primary key, or else of the field.
fn kind_of(entity: &EntityShape, name: &str) -> &'static str {
    let identity = entity.identity.iter().find(|part| part.name == name).map(|part| part.kind);
    let field = || entity.fields.iter().find(|field| field.field == name).map(|field| field.kind);
    identity.or_else(field).unwrap_or_default()
}

/// Returns the cardinalities of the parts of `template`, in order, without shards.
pub(super) fn cardinalities(
    entity: &EntityShape,
    template: &KeyTemplate,
) -> impl Iterator<Item = PartCardinality> {
    template.segments.iter().filter_map(|segment| match segment {
        KeySegment::Literal(_) | KeySegment::Shard { .. } => None,
        KeySegment::Part { method: Some(_), .. } => Some(PartCardinality::Day),
        KeySegment::Part { name, method: None } => Some(cardinality(entity, name)),
    })
}

/// Returns the parts that `template` contains as whole values.
pub(super) fn whole_parts(template: &KeyTemplate) -> impl Iterator<Item = &'static str> {
    template.segments.iter().filter_map(|segment| match segment {
        KeySegment::Part { name, method: None } => Some(*name),
        _ => None,
    })
}

/// Returns the parts that distinguish items of `entity` within a partition, if there can be many.
pub(super) fn distinguishing_parts<'a>(
    entity: &'a EntityShape,
    partition: &'a KeyTemplate,
) -> impl Iterator<Item = &'static PartShape> + 'a {
    entity.identity.iter().filter(|part| {
        whole_parts(partition).all(|name| name != part.name)
            && matches!(
                cardinality(entity, part.name),
                PartCardinality::Many | PartCardinality::Time
            )
    })
}

/// Returns whether there is always a new value of `part`: the entity's own id, or a time.
pub(super) fn is_ever_new(table: &TableShape, entity: &EntityShape, part: &PartShape) -> bool {
    is_own_id(table, entity, part)
        || EVER_NEW.contains(&part.kind)
        || cardinality(entity, part.name) == PartCardinality::Time
}

/// Returns whether `part` is the own id of `entity`, rather than a reference to another entity.
pub(super) fn is_own_id(table: &TableShape, entity: &EntityShape, part: &PartShape) -> bool {
    let belongs_to_another = |other: &&EntityShape| {
        other.identity.iter().any(|own| own.kind == part.kind && is_named_as_own_id(other, own))
    };
    is_named_as_own_id(entity, part)
        || (entity.identity.len() == 1 && !table.entities.iter().any(belongs_to_another))
}

/// Returns whether `part` is named like an entity's own id: `id`, or after the entity.
fn is_named_as_own_id(entity: &EntityShape, part: &PartShape) -> bool {
    part.name == "id" || part.kind.strip_suffix("Id") == Some(entity.name)
}

/// Returns whether `name` is the first part or field of its type. Of two users in one item, the
/// first is the owner, and the second the affected or acting user.
pub(super) fn is_first_of_kind(entity: &EntityShape, name: &str) -> bool {
    let kind = kind_of(entity, name);
    names_of_kind(entity, kind).next() == Some(name)
}

/// Returns the type of `name` if it has many values.
pub(super) fn id_kind(entity: &EntityShape, name: &str) -> Option<&'static str> {
    (cardinality(entity, name) == PartCardinality::Many).then(|| kind_of(entity, name))
}

/// Returns the field with the user who writes items of `entity`: the actor, or else the first user.
/// A notification and a feed item belong to their reader and are written by the actor.
pub(super) fn writer(entity: &EntityShape) -> Option<&'static str> {
    let mut users = names_of_kind(entity, USER).peekable();
    let first = users.peek().copied();
    users.find(|name| *name == ACTOR).or(first)
}

/// Returns whether `key` is that of a counter or a head: one item that every counted or ordered
/// change writes to.
pub(super) fn is_counter(key: &KeyShape) -> bool {
    matches!(key.sort.segments.first(), Some(KeySegment::Literal(text)) if COUNTER_PREFIXES.contains(text))
}

/// Returns all parts and fields of type `kind`: of the primary key first, then of index keys, then
/// the rest.
fn names_of_kind<'a>(
    entity: &'a EntityShape,
    kind: &'a str,
) -> impl Iterator<Item = &'static str> + 'a {
    let identity = entity.identity.iter().map(|part| part.name);
    let parts = entity.parts.iter().map(|part| part.name);
    let fields = entity.fields.iter().map(|field| field.field);
    identity.chain(parts).chain(fields).filter(move |name| kind_of(entity, name) == kind)
}

/// Returns whether ids of type `kind` are of objects with one owner: their entity is stored in a
/// user's partition.
pub(super) fn is_private(table: &TableShape, kind: &str) -> bool {
    let is_in_user_partition = |entity: &EntityShape| {
        entity.identity.iter().any(|part| part.name == "id" && part.kind == kind)
            && whole_parts(&entity.main().partition).any(|name| kind_of(entity, name) == USER)
    };
    kind != USER && table.entities.iter().any(|entity| is_in_user_partition(entity))
}
