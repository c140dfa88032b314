//! The programs of all cases, without their mistakes.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use request::RequestContext;
use roundtable_execution::FieldError;
use roundtable_graphql_macros::{enums, fields, input, object, root, union};

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

    async fn shelves(&self, floor: u32) -> Result<Vec<String>, FieldError> {
        Ok(vec![format!("on floor {floor}")])
    }
}

struct Price(u32);

#[object]
impl Price {
    fn amount(&self) -> u32 {
        self.0
    }

    fn currency(&self) -> Option<&str> {
        None
    }
}

struct Book {
    title: String,
    author_id: u32,
}

#[object(of = self)]
impl Book {
    fn author(&self) -> &u32 {
        &self.author_id
    }
}

struct Author {
    name: String,
}

impl Author {
    async fn load(_: &RequestContext, ids: &[u32]) -> Result<Vec<Option<Self>>, FieldError> {
        Ok(ids.iter().map(|_| None).collect())
    }
}

#[object(of = self)]
impl Author {}

#[union]
enum Entry {
    Book(Book),
    Author(Author),
}

#[input]
struct NewBook {
    title: String,
    pages: Option<u32>,
}

enum Binding {
    Hard,
    SoftCover,
}

enums!(Binding);

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

root!(Query: StockQueries, VisitorQueries);

fn main() {}
