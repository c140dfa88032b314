//! What indexes carry and which attributes are keys, as the tools that make tables want it told.

use roundtable_table::{
    IndexDefinition, IndexProjection, KeyAttribute, KeyDefinition, KeyKind, TableDefinition,
};

/// What an index carries beside keys: `None` for everything.
///
/// The ttl is always with it, or readers of the index could not tell expired items: the backend
/// for DynamoDB makes its tables so, too.
pub(super) fn carried<'a>(
    table: &'a TableDefinition,
    index: &'a IndexDefinition,
) -> Option<Vec<&'a str>> {
    let included: &[String] = match &index.projection {
        IndexProjection::All => return None,
        IndexProjection::KeysOnly => &[],
        IndexProjection::Include(names) => names,
    };
    let is_key = |name: &str| table.key.names(name) || index.key.names(name);
    let names = included.iter().chain(&table.ttl).map(String::as_str);
    let mut names: Vec<&str> = names.filter(|name| !is_key(name)).collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

/// Every key attribute of the table and its indexes once, by name.
pub(super) fn key_attributes(table: &TableDefinition) -> Vec<&KeyAttribute> {
    let keys = std::iter::once(&table.key).chain(table.indexes.iter().map(|index| &index.key));
    let mut attributes: Vec<&KeyAttribute> = keys.flat_map(KeyDefinition::attributes).collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    attributes.dedup_by(|a, b| a.name == b.name);
    attributes
}

/// The type as DynamoDB names it.
pub(super) const fn type_name(kind: KeyKind) -> &'static str {
    kind.kind().name()
}

/// The text in double quotes, as JSON writes it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
