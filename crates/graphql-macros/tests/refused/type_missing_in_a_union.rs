//! An entry may also be an author.

#![allow(dead_code)]

#[path = "shared.rs"]
mod request;
mod schema_types {
    roundtable_graphql_macros::schema_types!();
}

use request::RequestContext;
use roundtable_execution::FieldError;
use roundtable_graphql_macros::{object, union};

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
}

fn main() {}
