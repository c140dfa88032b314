//! The schema has no `owner` of a shop.

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

    fn owner(&self) -> &str {
        "Ana"
    }

    async fn shelves(&self, floor: u32) -> Result<Vec<String>, FieldError> {
        Ok(vec![format!("on floor {floor}")])
    }
}

fn main() {}
