//! The access patterns, and the reads composed of several of them.

use std::fmt::Write as _;

use roundtable_model::shape::{
    PatternFilter, PatternOperation, PatternShape, PatternSort, TableShape,
};

use super::markdown::{MarkdownTable, anchor, code, escape, link};

pub(super) fn write(out: &mut String, table: &TableShape) {
    if table.patterns.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### Access patterns of {}\n", table.name);
    let mut grid = MarkdownTable::new(&[
        "pattern",
        "operation",
        "index",
        "key condition",
        "order",
        "read",
        "page",
        "filter",
        "returns",
    ]);
    for pattern in table.patterns {
        grid.row(row(pattern));
    }
    grid.write(out);
    if table.composites.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### Composite reads of {}\n", table.name);
    let mut grid = MarkdownTable::new(&["read", "patterns", "description"]);
    for composite in table.composites {
        let of: Vec<String> = composite.of.iter().map(|name| code(name)).collect();
        grid.row([code(composite.name), of.join(", "), escape(composite.doc)]);
    }
    grid.write(out);
}

fn row(pattern: &PatternShape) -> [String; 9] {
    let arguments: Vec<String> = pattern
        .arguments
        .iter()
        .map(|argument| format!("{}: {}", argument.name, argument.kind))
        .collect();
    // Few patterns have a description, so it goes below the name instead of into a column.
    let doc = match pattern.doc {
        "" => String::new(),
        doc => format!("<br>{}", escape(doc)),
    };
    let signature = code(&format!("{}({})", pattern.name, arguments.join(", "))) + &doc;
    let paged = is_paged(pattern);
    let order = if pattern.descending { "↓" } else { "↑" };
    let read = if pattern.strong { "strong" } else { "eventual" };
    let page = pattern.page.to_string();
    let view = pattern.view.map(|view| format!(" as {}", code(view)));
    [
        signature,
        String::from(operation(pattern.operation)),
        pattern.index.to_string(),
        key_condition(pattern),
        if paged { String::from(order) } else { String::new() },
        String::from(read),
        if paged { page } else { String::new() },
        pattern.filter.as_ref().map(filter).unwrap_or_default(),
        format!("{}{}", link(pattern.entity, &anchor(pattern.entity)), view.unwrap_or_default()),
    ]
}

/// Returns whether the pattern returns ordered pages rather than the requested items.
const fn is_paged(pattern: &PatternShape) -> bool {
    match pattern.operation {
        PatternOperation::Get | PatternOperation::BatchGet | PatternOperation::First => false,
        PatternOperation::Query | PatternOperation::Merge | PatternOperation::WalkDays => true,
    }
}

const fn operation(operation: PatternOperation) -> &'static str {
    match operation {
        PatternOperation::Get => "get",
        PatternOperation::BatchGet => "batch get",
        PatternOperation::First => "query, first item",
        PatternOperation::Query => "query",
        PatternOperation::Merge => "queries, merged",
        PatternOperation::WalkDays => "queries, day by day",
    }
}

fn key_condition(pattern: &PatternShape) -> String {
    let partition = code(pattern.partition.text);
    match &pattern.sort {
        PatternSort::All => partition,
        PatternSort::Equal(sort) => format!("{partition} and {}", code(sort.text)),
        PatternSort::Begins(sort) => format!("{partition} begins {}", code(sort.text)),
        PatternSort::Within(sort) => format!("{partition} within {}", code(sort.text)),
    }
}

fn filter(filter: &PatternFilter) -> String {
    let with = if filter.contains { "has" } else { "is" };
    format!("{} {with} {}", code(filter.field), code(filter.with))
}
