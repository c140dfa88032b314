//! The price has a currency in the schema.

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
    fn amount(&self) -> u32 {
        self.0
    }
}

fn main() {}
