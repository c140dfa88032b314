//! Maps keys to the access patterns that read them.

use roundtable_model::shape::{
    EntityShape, Index, KeyShape, PatternOperation, PatternShape, TableShape,
};

/// Returns the access patterns of `table` that read `entity` under `key`.
pub(super) fn patterns_reading<'a>(
    table: &'a TableShape,
    entity: &'a EntityShape,
    key: &'a KeyShape,
) -> impl Iterator<Item = &'static PatternShape> + 'a {
    table.patterns.iter().copied().filter(|pattern| reads(pattern, entity, key))
}

/// Returns whether `key` leads to one item: an index key of which patterns read only the first
/// item.
pub(super) fn is_lookup(table: &TableShape, entity: &EntityShape, key: &KeyShape) -> bool {
    let mut patterns = patterns_reading(table, entity, key).peekable();
    key.index != Index::Main
        && patterns.peek().is_some()
        && patterns.all(|pattern| pattern.operation == PatternOperation::First)
}

/// Compares constant text only: it is enough to distinguish the keys of one entity.
fn reads(pattern: &PatternShape, entity: &EntityShape, key: &KeyShape) -> bool {
    let starts = pattern.sort.template().map_or("", |template| template.prefix());
    let sort = key.sort.prefix();
    pattern.entity == entity.name
        && pattern.index == key.index
        && pattern.partition.prefix() == key.partition.prefix()
        && (sort.starts_with(starts) || starts.starts_with(sort))
}
