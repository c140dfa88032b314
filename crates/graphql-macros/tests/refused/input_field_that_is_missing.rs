//! `pages` of the input is not read.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_graphql_macros::input;

#[input]
struct NewBook {
    title: String,
}

fn main() {}
