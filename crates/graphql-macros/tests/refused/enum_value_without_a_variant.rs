//! A binding may also be soft.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_graphql_macros::enums;

enum Binding {
    Hard,
}

enums!(Binding);

fn main() {}
