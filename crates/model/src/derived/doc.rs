//! `docs/TABLE.md`: the schema for people. Everything in it comes from the shapes, save the prose about
//! conventions and about adding an entity; it has no date, so that the same schema is the same text.

mod allocation;
mod entities;
mod markdown;
mod prose;
mod questions;

use std::fmt::Write as _;

use self::markdown::{Grid, anchor, code, link};
use crate::shape::{Accepted, Index, TableShape};

/// The document about `schema`.
pub fn render(schema: &[&TableShape]) -> String {
    let mut out = String::from(prose::HEAD);
    out.push('\n');
    contents(&mut out, schema);
    out.push_str(prose::CONVENTIONS);
    for table in schema {
        let title = section(table);
        let _ = writeln!(out, "\n## {title}\n\n{}\n", table.doc);
        facts(&mut out, table);
        entities::write_keys(&mut out, table);
        questions::write(&mut out, table);
        allocation::write(&mut out, table);
        accepted(&mut out, table);
        entities::write_each(&mut out, table);
    }
    out.push_str(prose::ADDING);
    out
}

fn section(table: &TableShape) -> String {
    format!("Table `{}`", table.name)
}

/// The sections, with the numbers that tell how large the design is.
fn contents(out: &mut String, schema: &[&TableShape]) {
    let _ = writeln!(out, "- {}", link("Conventions", &anchor("Conventions")));
    for table in schema {
        let title = section(table);
        let entities = count(table.entities.len(), "entity", "entities");
        let questions = count(table.patterns.len(), "question", "questions");
        let _ = writeln!(out, "- {}: {entities}, {questions}", link(&title, &anchor(&title)));
    }
    let adding = "Adding an entity";
    let _ = writeln!(out, "- {}\n", link(adding, &anchor(adding)));
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// What a table is, in a sentence or two.
fn facts(out: &mut String, table: &TableShape) {
    let keys = |index: Index| {
        format!("{} and {}", code(index.partition_attribute()), code(index.sort_attribute()))
    };
    let _ = write!(out, "Its key is {}", keys(Index::Main));
    let indexes: Vec<String> =
        table.indexes.iter().map(|index| format!("{index} is {}", keys(*index))).collect();
    if !indexes.is_empty() {
        let _ = write!(out, "; {}", indexes.join(", "));
    }
    let stream = if table.stream { "Changes are streamed" } else { "Changes are not streamed" };
    let _ = writeln!(out, ". Items expire at `ttl`. {stream}.");
}

/// What the lint says of the table and is as it should be.
fn accepted(out: &mut String, table: &TableShape) {
    if table.accepted.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### What the lint finds in {}, and why it is so\n", table.name);
    let mut grid = Grid::new(&["lint", "where", "why it is as it should be"]);
    let together = |a: &Accepted, b: &Accepted| a.lint == b.lint && a.reason == b.reason;
    for same in table.accepted.chunk_by(together) {
        let Some(first) = same.first() else { continue };
        let places: Vec<String> = same.iter().map(place).collect();
        grid.row([code(first.lint), places.join(", "), markdown::escape(first.reason)]);
    }
    grid.write(out);
}

/// The entity or pattern, and the index, unless it is the table.
fn place(accepted: &Accepted) -> String {
    match accepted.index.name() {
        None => code(accepted.subject),
        Some(index) => format!("{} in {index}", code(accepted.subject)),
    }
}

#[cfg(test)]
mod tests;
