//! Reads a file of items line by line, and says of each what is wrong with it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use roundtable_table::limits::ITEM_BYTES_MAX;
use roundtable_table::{Item, KeyDefinition, TableDefinition};

use super::wire;
use crate::failure::Failure;

/// Bytes of a line: the largest item, with names for types, in Base64 and with escapes.
const LINE_BYTES_MAX: u64 = 8 * ITEM_BYTES_MAX as u64;

/// The lines of a file.
pub(super) struct Lines<'a> {
    path: PathBuf,
    file: BufReader<File>,
    table: &'a TableDefinition,
    number: u64,
}

/// What a line holds.
pub(super) struct Line {
    /// Which line it is, from 1 on.
    pub(super) number: u64,
    /// The item, or what is wrong with it.
    pub(super) item: Result<Item, String>,
}

impl<'a> Lines<'a> {
    pub(super) fn open(path: &Path, table: &'a TableDefinition) -> Result<Self, Failure> {
        let file = BufReader::new(File::open(path).map_err(Failure::file(path))?);
        Ok(Self { path: path.to_owned(), file, table, number: 0 })
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.file).take(LINE_BYTES_MAX);
            let failed = Failure::file(&self.path);
            if limited.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
                self.skip()?;
                let item = Err(String::from("longer than any item"));
                return Ok(Some(Line { number, item }));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            return Ok(Some(Line { number, item: checked(self.table, &line) }));
        }
    }

    /// Reads to the end of a line that is too long to keep.
    fn skip(&mut self) -> Result<(), Failure> {
        loop {
            let failed = Failure::file(&self.path);
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

/// An item that the table can hold.
fn checked(table: &TableDefinition, line: &[u8]) -> Result<Item, String> {
    let item = wire::read(line)?;
    let bytes = item.size();
    if bytes > ITEM_BYTES_MAX {
        return Err(format!("{bytes} bytes, and {ITEM_BYTES_MAX} are the most"));
    }
    let KeyDefinition { partition, sort } = &table.key;
    for key in std::iter::once(partition).chain(sort) {
        if item.text(&key.name).is_none_or(str::is_empty) {
            return Err(format!("{}: expected a text: it is part of the key", key.name));
        }
    }
    Ok(item)
}
