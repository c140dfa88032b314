//! `roundtable export` and `roundtable import`: everything in a store as lines of DynamoDB's JSON, as
//! DynamoDB's own exports to S3 and imports from there have it.

mod export;
mod import;
mod lines;
mod wire;

use roundtable_model::SCHEMA;
use roundtable_table::TableDefinition;

pub(crate) use self::export::Export;
pub(crate) use self::import::Import;
use crate::names::Names;

/// What a file of items ends in.
const ENDING: &str = ".jsonl";

/// The tables by their names in the schema, which files have, and as they are here.
fn tables(names: &Names) -> impl Iterator<Item = (&'static str, TableDefinition)> {
    SCHEMA.iter().map(|table| table.name).zip(names.definitions())
}
