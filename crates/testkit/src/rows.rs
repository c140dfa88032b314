//! Formats items as lines for assertions.

use roundtable_model::shape::{EntityShape, FieldShape};
use roundtable_model::table::{Item, Query, Table, ValueRef};
use roundtable_model::{SCHEMA, TYPE};

pub(crate) async fn of(table: &Table, partition: &str, prefix: &str) -> Vec<String> {
    let query = Query::new(partition);
    let query = if prefix.is_empty() { query } else { query.begins_with(prefix) };
    let page = table.query(query).await.unwrap();
    page.items.iter().map(line).collect()
}

fn line(item: &Item) -> String {
    let mut words = vec![item.text("SK").unwrap_or("?").to_owned()];
    let entity = SCHEMA
        .iter()
        .find_map(|table| table.entity(item.text(TYPE).unwrap_or_default()))
        .unwrap_or_else(|| panic!("{item:?} is of no known type"));
    for field in entity.fields.iter().filter(|field| is_shown(entity, field)) {
        if let Some(value) = item.get(field.attribute) {
            words.push(format!("{}={}", field.attribute, format_value(value)));
        }
    }
    words.join(" ")
}

/// Returns `true` if a field is not part of the key and is the same in every run.
fn is_shown(entity: &EntityShape, field: &FieldShape) -> bool {
    let identity = entity.identity.iter().any(|part| part.name == field.field);
    !identity && !matches!(field.kind, "time" | "shard") && field.field != "version"
}

fn format_value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::S(text) => text.to_owned(),
        ValueRef::N(number) => number.to_string(),
        ValueRef::Bool(truth) => truth.to_string(),
        ValueRef::L(values) => {
            format!("[{}]", values.map(format_value).collect::<Vec<_>>().join(","))
        }
        ValueRef::M(entries) => {
            let each = entries.map(|(name, value)| format!("{name}={}", format_value(value)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(","))
        }
        other => format!("{other:?}"),
    }
}
