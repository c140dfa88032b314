//! `visitors` has no resolver.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_execution::FieldError;
use roundtable_graphql_macros::{fields, root};

struct StockQueries;

#[fields(Query)]
impl StockQueries {
    async fn stock(title: String) -> Result<u32, FieldError> {
        if title == "On Bees" { Ok(3) } else { Ok(0) }
    }
}

struct VisitorQueries;

#[fields(Query)]
impl VisitorQueries {
    async fn visitors() -> Option<u32> {
        None
    }
}

root!(Query: StockQueries);

fn main() {}
