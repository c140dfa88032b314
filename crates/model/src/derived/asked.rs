//! Which question is about which key.

use crate::shape::{EntityShape, KeyShape, PatternShape, TableShape};

/// The questions of `table` that read `entity` under `key`.
pub(super) fn questions_of<'a>(
    table: &'a TableShape,
    entity: &'a EntityShape,
    key: &'a KeyShape,
) -> impl Iterator<Item = &'static PatternShape> + 'a {
    table.patterns.iter().copied().filter(|pattern| reads(pattern, entity, key))
}

/// Keys of one entity differ in their constant text, so that is enough to tell them apart.
fn reads(pattern: &PatternShape, entity: &EntityShape, key: &KeyShape) -> bool {
    let starts = pattern.sort.template().map_or("", |template| template.prefix());
    let sort = key.sort.prefix();
    pattern.entity == entity.name
        && pattern.index == key.index
        && pattern.partition.prefix() == key.partition.prefix()
        && (sort.starts_with(starts) || starts.starts_with(sort))
}
