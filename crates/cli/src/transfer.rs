//! `roundtable export` and `roundtable import`: all items as lines of DynamoDB JSON, the format of
//! DynamoDB's own exports to S3 and imports.

mod dynamodb_json;
mod export;
mod import;
mod line_reader;

use std::path::Path;

use roundtable_model::Core;

pub(crate) use self::export::ExportArgs;
pub(crate) use self::import::ImportArgs;

/// The extension of a file of items. Its stem is the table's name in the schema, regardless of
/// prefixes.
const EXTENSION: &str = ".jsonl";

/// Returns whether a directory holds an export.
pub(crate) fn is_export(directory: &Path) -> bool {
    directory.join(format!("{}{EXTENSION}", Core::SHAPE.name)).is_file()
}
