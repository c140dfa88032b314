//! Reads and checks a file of items line by line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use roundtable_table::limits::ITEM_BYTES_MAX;
use roundtable_table::{Item, KeyDefinition, TableDefinition};

use super::dynamodb_json;
use crate::error::CommandError;

/// Bytes of a line: the largest item, with type names, Base64 and escapes.
const LINE_BYTES_MAX: u64 = 8 * ITEM_BYTES_MAX as u64;

pub(super) struct LineReader<'a> {
    path: PathBuf,
    file: BufReader<File>,
    table: &'a TableDefinition,
    number: u64,
}

pub(super) struct ItemLine {
    /// The line's number, counted from 1.
    pub(super) number: u64,
    /// The item, or what is wrong with it.
    pub(super) item: Result<Item, String>,
}

impl<'a> LineReader<'a> {
    pub(super) fn open(path: &Path, table: &'a TableDefinition) -> Result<Self, CommandError> {
        let file = BufReader::new(File::open(path).map_err(CommandError::file(path))?);
        Ok(Self { path: path.to_owned(), file, table, number: 0 })
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> Result<Option<ItemLine>, CommandError> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.file).take(LINE_BYTES_MAX);
            let failed = CommandError::file(&self.path);
            if limited.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
                self.skip()?;
                let item = Err(String::from("the line is longer than any item can be"));
                return Ok(Some(ItemLine { number, item }));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            return Ok(Some(ItemLine { number, item: parse_item(self.table, &line) }));
        }
    }

    /// Skips the rest of a line that is too long.
    fn skip(&mut self) -> Result<(), CommandError> {
        loop {
            let failed = CommandError::file(&self.path);
            let bytes = self.file.fill_buf().map_err(failed)?;
            let (length, ended) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), bytes.is_empty()),
            };
            self.file.consume(length);
            if ended {
                return Ok(());
            }
        }
    }
}

/// Parses an item and checks that the table can hold it.
fn parse_item(table: &TableDefinition, line: &[u8]) -> Result<Item, String> {
    let item = dynamodb_json::read(line)?;
    let bytes = item.size();
    if bytes > ITEM_BYTES_MAX {
        return Err(format!("the item has {bytes} bytes; at most {ITEM_BYTES_MAX} are allowed"));
    }
    let KeyDefinition { partition, sort } = &table.key;
    for key in std::iter::once(partition).chain(sort) {
        if item.text(&key.name).is_none_or(str::is_empty) {
            return Err(format!(
                "{}: expected a non-empty string, because it is part of the key",
                key.name
            ));
        }
    }
    Ok(item)
}
