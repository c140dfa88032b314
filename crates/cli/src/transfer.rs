//! `roundtable export` and `roundtable import`: everything in a store as lines of DynamoDB's JSON, as
//! DynamoDB's own exports to S3 and imports from there have it.

mod export;
mod import;
mod lines;
mod wire;

pub(crate) use self::export::Export;
pub(crate) use self::import::Import;

/// What a file of items ends in. Before it comes the table's name in the schema, whatever it is called
/// in an installation.
const ENDING: &str = ".jsonl";
