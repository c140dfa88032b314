//! What the parts of a key tell apart: many things, a few words, times. Known by their types, as the
//! page and the entities name them.

use crate::shape::{EntityShape, KeyShape, PartShape, Segment, TableShape, Template};

/// The type of a person's id.
const PERSON: &str = "UserId";

/// The field with the person who did what an item tells of, where that is not whose item it is.
const ACTOR: &str = "actor_id";

/// How the sort keys of items begin that are written with everything they count, or are the head of.
const TALLIES: [&str; 2] = ["COUNTER", "HEAD"];

/// Types of which there is always a new one, beside entities' own ids and moments.
const FRESH: [&str; 2] = ["MediaKey", "StreamShard"];

/// Types of which there are as many as people or things, beside the ids.
const NAMES: [&str; 9] = [
    "Caller",
    "Email",
    "Handle",
    "InviteCode",
    "LoginName",
    "MediaKey",
    "Nickname",
    "StreamShard",
    "Tag",
];

/// What a part of a key tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// One of very many: an id, a name.
    Thing,
    /// One of a few: a status, a kind, a number.
    Word,
    /// A moment.
    Time,
    /// A stretch of time.
    Day,
}

/// What the part `name` tells apart when it stands in a key as it is.
fn spread_of(entity: &EntityShape, name: &str) -> Spread {
    match kind_of(entity, name) {
        "Time" | "time" => Spread::Time,
        "Day" | "CompactDay" => Spread::Day,
        kind if kind.ends_with("Id") || NAMES.contains(&kind) => Spread::Thing,
        // Whatever else there is counts as few, so that a new type is noticed rather than missed.
        _ => Spread::Word,
    }
}

/// The type of a part: of the primary key, or else of the field.
fn kind_of(entity: &EntityShape, name: &str) -> &'static str {
    let identity = entity.identity.iter().find(|part| part.name == name).map(|part| part.kind);
    let field = || entity.fields.iter().find(|field| field.field == name).map(|field| field.kind);
    identity.or_else(field).unwrap_or_default()
}

/// What the parts of `template` tell apart, in order; shards tell nothing apart.
pub(super) fn spreads(entity: &EntityShape, template: &Template) -> impl Iterator<Item = Spread> {
    template.segments.iter().filter_map(|segment| match segment {
        Segment::Literal(_) | Segment::Shard { .. } => None,
        Segment::Part { through: Some(_), .. } => Some(Spread::Day),
        Segment::Part { name, through: None } => Some(spread_of(entity, name)),
    })
}

/// The parts that stand in `template` as they are.
pub(super) fn whole_parts(template: &Template) -> impl Iterator<Item = &'static str> {
    template.segments.iter().filter_map(|segment| match segment {
        Segment::Part { name, through: None } => Some(*name),
        _ => None,
    })
}

/// What tells the items of `entity` apart within a partition written by `partition`, when there can
/// be many.
pub(super) fn apart<'a>(
    entity: &'a EntityShape,
    partition: &'a Template,
) -> impl Iterator<Item = &'static PartShape> + 'a {
    entity.identity.iter().filter(|part| {
        whole_parts(partition).all(|name| name != part.name)
            && matches!(spread_of(entity, part.name), Spread::Thing | Spread::Time)
    })
}

/// Whether there is always a new one of `part`, whatever else there is: the entity's own id, a moment.
pub(super) fn is_fresh(table: &TableShape, entity: &EntityShape, part: &PartShape) -> bool {
    is_own(table, entity, part)
        || FRESH.contains(&part.kind)
        || spread_of(entity, part.name) == Spread::Time
}

/// Whether `part` is what items of `entity` are known by, rather than something they are about.
pub(super) fn is_own(table: &TableShape, entity: &EntityShape, part: &PartShape) -> bool {
    let anothers = |other: &&EntityShape| {
        other.identity.iter().any(|own| own.kind == part.kind && is_called_own(other, own))
    };
    is_called_own(entity, part)
        || (entity.identity.len() == 1 && !table.entities.iter().any(anothers))
}

/// Whether `part` is called as an entity's own id is: `id`, or after the entity.
fn is_called_own(entity: &EntityShape, part: &PartShape) -> bool {
    part.name == "id" || part.kind.strip_suffix("Id") == Some(entity.name)
}

/// Whether `name` is the first part or field of its type. Of two people in one item, the first is the
/// one whose it is, and the second somebody it is done to, or who did it.
pub(super) fn is_first_of_kind(entity: &EntityShape, name: &str) -> bool {
    let kind = kind_of(entity, name);
    names_of_kind(entity, kind).next() == Some(name)
}

/// The type of `name`, and whether it is of very many.
pub(super) fn thing_kind(entity: &EntityShape, name: &str) -> Option<&'static str> {
    (spread_of(entity, name) == Spread::Thing).then(|| kind_of(entity, name))
}

/// Whoever writes items of `entity`, as far as it names them: its actor, or else the first person. A
/// notification is its reader's and written by whoever did something, as is a copy in a feed.
pub(super) fn writer(entity: &EntityShape) -> Option<&'static str> {
    let mut people = names_of_kind(entity, PERSON).peekable();
    let first = people.peek().copied();
    people.find(|name| *name == ACTOR).or(first)
}

/// Whether what stands under `key` is a count or a head: one item, written by whoever does anything
/// that it counts or is the head of.
pub(super) fn is_tally(key: &KeyShape) -> bool {
    matches!(key.sort.segments.first(), Some(Segment::Literal(text)) if TALLIES.contains(text))
}

/// Everything of type `kind` that an item names: its primary key first, then what index keys depend
/// on, then the rest.
fn names_of_kind<'a>(
    entity: &'a EntityShape,
    kind: &'a str,
) -> impl Iterator<Item = &'static str> + 'a {
    let identity = entity.identity.iter().map(|part| part.name);
    let parts = entity.parts.iter().map(|part| part.name);
    let fields = entity.fields.iter().map(|field| field.field);
    identity.chain(parts).chain(fields).filter(move |name| kind_of(entity, name) == kind)
}

/// Whether things of type `kind` are somebody's own: the entity they are the ids of lives with a
/// person. People are nobody's.
pub(super) fn is_private(table: &TableShape, kind: &str) -> bool {
    let lives_with_a_person = |entity: &EntityShape| {
        entity.identity.iter().any(|part| part.name == "id" && part.kind == kind)
            && whole_parts(&entity.main().partition).any(|name| kind_of(entity, name) == PERSON)
    };
    kind != PERSON && table.entities.iter().any(|entity| lives_with_a_person(entity))
}
