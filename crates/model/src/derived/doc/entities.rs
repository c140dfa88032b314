//! The entities: all keys at a glance, then each with its attributes.

use std::fmt::Write as _;

use super::markdown::{Grid, anchor, code, escape, link};
use crate::derived::asked;
use crate::shape::{EntityShape, FieldShape, Index, Predicate, TableShape, When};

/// All keys at a glance.
pub(super) fn write_keys(out: &mut String, table: &TableShape) {
    let _ = writeln!(out, "\n### Entities of {}\n", table.name);
    let mut grid = Grid::new(&["entity", "PK", "SK", "GSI1", "GSI2", "GSI3"]);
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

/// Each entity with its attributes.
pub(super) fn write_each(out: &mut String, table: &TableShape) {
    let _ = writeln!(out, "\n### Attributes of {}", table.name);
    for entity in table.entities {
        one(out, table, entity);
    }
}

/// An entity, as other sections refer to it.
pub(super) fn link_to(entity: &EntityShape) -> String {
    link(entity.name, &anchor(entity.name))
}

/// When a key is there, in the names of fields, as keys and filters are.
pub(super) fn condition(when: &When) -> String {
    let asked = |asks: &Predicate| code(&format!("{}({})", asks.name, asks.fields.join(", ")));
    let present = when.present.iter().map(|field| code(field));
    let words: Vec<String> = present.chain(when.predicates.iter().map(asked)).collect();
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
    let mut grid = Grid::new(&["key", "partition", "sort", "only", "asked by"]);
    for key in entity.keys {
        let questions: Vec<String> =
            asked::questions_of(table, entity, key).map(|asks| code(asks.name)).collect();
        grid.row([
            key.index.to_string(),
            code(key.partition.text),
            code(key.sort.text),
            condition(&key.when),
            questions.join(", "),
        ]);
    }
    grid.write(out);
    let computed: Vec<String> = entity
        .identity
        .iter()
        .filter(|part| !part.computed_from.is_empty())
        .map(|part| format!("{} is made of {}", code(part.name), codes(part.computed_from)))
        .collect();
    if !computed.is_empty() {
        let _ = writeln!(out, "\n{}.", computed.join(", "));
    }
    if entity.fields.is_empty() {
        return;
    }
    out.push('\n');
    let mut grid = Grid::new(&["attribute", "holds", "which is", "in keys"]);
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

/// How keys depend on a field: those it stands in, and whether it may change there.
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

fn codes(names: &[&str]) -> String {
    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(" and ")
}
