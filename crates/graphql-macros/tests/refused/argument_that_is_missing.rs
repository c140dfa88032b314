//! The schema passes `floor`.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use roundtable_execution::FieldError;
use roundtable_graphql_macros::object;

/// What the table stores of a shop.
struct StoredShop {
    name: String,
}

struct Shop(StoredShop);

#[object(of = self.0)]
impl Shop {
    fn floors(&self) -> Option<u32> {
        None
    }

    async fn shelves(&self) -> Result<Vec<String>, FieldError> {
        Ok(Vec::new())
    }
}

fn main() {}
