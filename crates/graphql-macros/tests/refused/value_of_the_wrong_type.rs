//! `floors` is a number in the schema.

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
    fn floors(&self) -> Option<String> {
        None
    }

    async fn shelves(&self, floor: u32) -> Result<Vec<String>, FieldError> {
        Ok(vec![format!("on floor {floor}")])
    }
}

fn main() {}
