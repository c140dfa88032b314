//! The list of documents that the server answers, if it does not answer all.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use roundtable_graphql::{QueryLimits, Schema};

use crate::configuration::{ConfigurationError, GraphqlSettings};
use crate::wiring::StartError;

/// Bytes of a list, which stays in memory.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// Returns the schema, which answers only the documents that the settings list.
pub(crate) fn open_schema(
    settings: &GraphqlSettings,
    limits: QueryLimits,
) -> Result<Schema, StartError> {
    let Some(path) = &settings.documents else {
        return Schema::new(limits, settings.introspection).map_err(StartError::Schema);
    };
    let list = read(path).map_err(ConfigurationError::file(path))?;
    let schema = Schema::allowing_only(&list, limits, settings.introspection);
    Ok(schema.map_err(|problem| {
        let problem = format!("{}: {problem}", path.display());
        ConfigurationError::conflict("graphql.documents", problem)
    })?)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut list = Vec::new();
    let length = File::open(path)?.take(LIST_BYTES_MAX + 1).read_to_end(&mut list)?;
    if length as u64 > LIST_BYTES_MAX {
        let problem = format!("longer than {LIST_BYTES_MAX} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, problem));
    }
    Ok(list)
}
