//! `docs/TABLE.md`: the schema as documentation. All of it is generated from the shapes, except the
//! prose about conventions and adding an entity. It has no date, so that the same schema gives the
//! same text.

mod allocation;
mod entities;
mod markdown;
mod patterns;
mod prose;

use std::fmt::Write as _;

use self::markdown::{MarkdownTable, anchor, code, link};
use roundtable_model::shape::{AcceptedFinding, Index, TableShape};

/// Renders the documentation of `schema`.
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
        patterns::write(&mut out, table);
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

/// Writes the list of sections, with the number of entities and access patterns.
fn contents(out: &mut String, schema: &[&TableShape]) {
    let _ = writeln!(out, "- {}", link("Conventions", &anchor("Conventions")));
    for table in schema {
        let title = section(table);
        let entities = count(table.entities.len(), "entity", "entities");
        let patterns = count(table.patterns.len(), "access pattern", "access patterns");
        let _ = writeln!(out, "- {}: {entities}, {patterns}", link(&title, &anchor(&title)));
    }
    let adding = "Adding an entity";
    let _ = writeln!(out, "- {}\n", link(adding, &anchor(adding)));
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Writes the keys, indexes and stream of a table.
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
    let _ = write!(out, ". Items expire at `ttl`. {stream}.");
    if let Some(entity) = table.ordered {
        let name = code(entity.name);
        let _ = write!(
            out,
            " The embedded store also keeps items of {name} in the order of their sort keys, across \
             partitions; DynamoDB does not."
        );
    }
    out.push('\n');
}

/// Writes the accepted findings of the lint.
fn accepted(out: &mut String, table: &TableShape) {
    if table.accepted.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### Accepted lint findings of {}\n", table.name);
    let mut grid = MarkdownTable::new(&["lint", "where", "reason"]);
    let same = |a: &AcceptedFinding, b: &AcceptedFinding| a.lint == b.lint && a.reason == b.reason;
    for same in table.accepted.chunk_by(same) {
        let Some(first) = same.first() else { continue };
        let subjects: Vec<String> = same.iter().map(subject).collect();
        grid.row([code(first.lint), subjects.join(", "), markdown::escape(first.reason)]);
    }
    grid.write(out);
}

/// Returns the entity or pattern, and the index unless it is the table.
fn subject(accepted: &AcceptedFinding) -> String {
    match accepted.index.name() {
        None => code(accepted.subject),
        Some(index) => format!("{} in {index}", code(accepted.subject)),
    }
}

#[cfg(test)]
mod tests;
