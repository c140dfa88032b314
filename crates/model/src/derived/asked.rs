//! Which question is about which key.

use crate::shape::{EntityShape, Index, KeyShape, PatternOperation, PatternShape, TableShape};

/// The questions of `table` that read `entity` under `key`.
pub(super) fn questions_of<'a>(
    table: &'a TableShape,
    entity: &'a EntityShape,
    key: &'a KeyShape,
) -> impl Iterator<Item = &'static PatternShape> + 'a {
    table.patterns.iter().copied().filter(|pattern| reads(pattern, entity, key))
}

/// Whether `key` leads to one item: a name in an index that is only asked for the first.
pub(super) fn is_lookup(table: &TableShape, entity: &EntityShape, key: &KeyShape) -> bool {
    let mut questions = questions_of(table, entity, key).peekable();
    key.index != Index::Main
        && questions.peek().is_some()
        && questions.all(|pattern| pattern.operation == PatternOperation::First)
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
