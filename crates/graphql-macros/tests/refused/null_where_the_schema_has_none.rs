//! `amount` is never null in the schema.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_graphql_macros::object;

struct Price(u32);

#[object]
impl Price {
    fn amount(&self) -> Option<u32> {
        Some(self.0)
    }

    fn currency(&self) -> Option<&str> {
        None
    }
}

fn main() {}
