//! The struct has a field that the input has not.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_graphql_macros::inputs;

struct BookDraft {
    title: String,
    pages: Option<u32>,
    publisher: String,
}

inputs!(NewBook = BookDraft);

fn main() {}
