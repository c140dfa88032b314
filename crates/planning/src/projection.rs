//! The projections and key attributes of tables, as tools that create tables need them.

use roundtable_table::{
    IndexDefinition, IndexProjection, KeyAttribute, KeyDefinition, KeyKind, TableDefinition,
};

/// Returns the attributes that an index projects besides keys; `None` for all.
///
/// The ttl is always included, or readers of the index could not recognize expired items. The
/// DynamoDB backend creates its tables the same way.
pub(super) fn projected_attributes<'a>(
    table: &'a TableDefinition,
    index: &'a IndexDefinition,
) -> Option<Vec<&'a str>> {
    let included: &[String] = match &index.projection {
        IndexProjection::All => return None,
        IndexProjection::KeysOnly => &[],
        IndexProjection::Include(names) => names,
    };
    let is_key = |name: &str| table.key.contains(name) || index.key.contains(name);
    let names = included.iter().chain(&table.ttl).map(String::as_str);
    let mut names: Vec<&str> = names.filter(|name| !is_key(name)).collect();
    names.sort_unstable();
    names.dedup();
    Some(names)
}

/// Returns every key attribute of the table and its indexes once, by name.
pub(super) fn key_attributes(table: &TableDefinition) -> Vec<&KeyAttribute> {
    let keys = std::iter::once(&table.key).chain(table.indexes.iter().map(|index| &index.key));
    let mut attributes: Vec<&KeyAttribute> = keys.flat_map(KeyDefinition::attributes).collect();
    attributes.sort_by(|a, b| a.name.cmp(&b.name));
    attributes.dedup_by(|a, b| a.name == b.name);
    attributes
}

pub(super) const fn type_name(kind: KeyKind) -> &'static str {
    kind.kind().name()
}

/// Returns the text in double quotes, escaped as in JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
