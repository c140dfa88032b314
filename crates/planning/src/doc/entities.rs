//! The entities: an overview of all keys, then each entity with its attributes.

use std::fmt::Write as _;

use roundtable_model::shape::{
    EntityShape, FieldShape, Index, Predicate, SparseCondition, TableShape,
};

use super::markdown::{MarkdownTable, anchor, code, escape, link};
use crate::key_patterns;

/// Writes an overview of all keys.
pub(super) fn write_keys(out: &mut String, table: &TableShape) {
    let _ = writeln!(out, "\n### Entities of {}\n", table.name);
    let mut grid = MarkdownTable::new(&["entity", "PK", "SK", "GSI1", "GSI2", "GSI3"]);
    for entity in table.entities {
        let keys = |index| index_keys(entity, index);
        let main = entity.main();
        grid.row([
            link_to(entity),
            code(main.partition.text),
            code(main.sort.text),
            keys(Index::Gsi1),
            keys(Index::Gsi2),
            keys(Index::Gsi3),
        ]);
    }
    grid.write(out);
}

/// Writes each entity with its attributes.
pub(super) fn write_each(out: &mut String, table: &TableShape) {
    let _ = writeln!(out, "\n### Attributes of {}", table.name);
    for entity in table.entities {
        one(out, table, entity);
    }
}

/// Returns a link to the section of an entity.
pub(super) fn link_to(entity: &EntityShape) -> String {
    link(entity.name, &anchor(entity.name))
}

/// Returns the condition of a sparse key, in terms of field names.
pub(super) fn condition(when: &SparseCondition) -> String {
    let call = |predicate: &Predicate| {
        code(&format!("{}({})", predicate.name, predicate.fields.join(", ")))
    };
    let present = when.present.iter().map(|field| code(field));
    let words: Vec<String> = present.chain(when.predicates.iter().map(call)).collect();
    let start = match (when.otherwise, words.is_empty()) {
        (false, true) => return String::new(),
        (true, true) => return String::from("else"),
        (false, false) => "if",
        (true, false) => "else if",
    };
    format!("{start} {}", words.join(" and "))
}

fn index_keys(entity: &EntityShape, index: Index) -> String {
    let keys = entity.keys.iter().filter(|key| key.index == index);
    let shown = keys.map(|key| {
        let (partition, sort) = (code(key.partition.text), code(key.sort.text));
        format!("{partition} / {sort} {}", condition(&key.when)).trim_end().to_owned()
    });
    shown.collect::<Vec<_>>().join("<br>")
}

fn one(out: &mut String, table: &TableShape, entity: &EntityShape) {
    let _ = writeln!(out, "\n#### {}\n\n{}\n", entity.name, entity.doc);
    let mut grid = MarkdownTable::new(&["key", "partition", "sort", "condition", "read by"]);
    for key in entity.keys {
        let patterns: Vec<String> = key_patterns::patterns_reading(table, entity, key)
            .map(|pattern| code(pattern.name))
            .collect();
        grid.row([
            key.index.to_string(),
            code(key.partition.text),
            code(key.sort.text),
            condition(&key.when),
            patterns.join(", "),
        ]);
    }
    grid.write(out);
    let computed: Vec<String> = entity
        .identity
        .iter()
        .filter(|part| !part.computed_from.is_empty())
        .map(|part| {
            format!("{} is computed from {}", code(part.name), codes(part.computed_from, " and "))
        })
        .collect();
    if !computed.is_empty() {
        let _ = writeln!(out, "\n{}.", computed.join(", "));
    }
    if !entity.owners.is_empty() {
        let owners: Vec<&str> = entity.owners.iter().map(|owner| owner.field).collect();
        let _ = writeln!(out, "\nRemoved with its {}.", codes(&owners, " or "));
    }
    if entity.fields.is_empty() {
        return;
    }
    out.push('\n');
    let mut grid = MarkdownTable::new(&["attribute", "type", "description", "in keys"]);
    for field in entity.fields {
        let mark = if field.optional { "?" } else { "" };
        grid.row([
            format!("{}{mark}", code(field.attribute)),
            escape(field.kind),
            escape(field.doc),
            uses(entity, field),
        ]);
    }
    grid.write(out);
}

/// Returns the keys that contain a field, and whether the field may change.
fn uses(entity: &EntityShape, field: &FieldShape) -> String {
    let names: Vec<&str> = entity
        .identity
        .iter()
        .filter(|part| part.computed_from.contains(&field.field))
        .map(|part| part.name)
        .chain([field.field])
        .collect();
    let mut shown: Vec<&str> = Vec::new();
    for key in entity.keys {
        for (attribute, template) in [
            (key.index.partition_attribute(), &key.partition),
            (key.index.sort_attribute(), &key.sort),
        ] {
            if template.parts().any(|part| names.contains(&part)) && !shown.contains(&attribute) {
                shown.push(attribute);
            }
        }
    }
    let part = entity.parts.iter().find(|part| part.name == field.field);
    match part.is_some_and(|part| part.mutable) {
        true if shown.is_empty() => String::from("may change"),
        true => format!("{}; may change", shown.join(", ")),
        false => shown.join(", "),
    }
}

fn codes(names: &[&str], last_with: &str) -> String {
    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(last_with)
}
