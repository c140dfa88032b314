//! The directory of an index: a subdirectory for each build, of which the newest complete one is used.

use std::fs;
use std::path::{Path, PathBuf};

use tantivy::directory::error::OpenReadError;
use tantivy::schema::Schema;
use tantivy::store::Compressor;
use tantivy::{Index, IndexSettings as TantivySettings, IndexSortByField, Order, TantivyError};

use crate::IndexLocation;
use crate::error::IndexError;
use crate::fields::{CREATED, Fields, VERSION};

/// The position of an index: what it has of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexPosition {
    /// Every change of the stream up to this one.
    Sequence(u64),
    /// What the relay delivered, which cannot be resumed.
    Relayed,
}

/// An index with its directory and position.
pub(crate) struct StoredIndex {
    pub(crate) index: Index,
    pub(crate) fields: Fields,
    pub(crate) path: Option<PathBuf>,
    pub(crate) position: IndexPosition,
}

impl IndexPosition {
    /// The text that is committed with the index. An index without it is not complete.
    pub(crate) fn to_payload(self) -> String {
        match self {
            Self::Sequence(sequence) => format!("roundtable {VERSION} sequence {sequence}"),
            Self::Relayed => format!("roundtable {VERSION} relayed"),
        }
    }

    fn of_payload(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let version = (words.next()? == "roundtable").then(|| words.next())??;
        version.parse::<u32>().ok().filter(|version| *version == VERSION)?;
        match (words.next()?, words.next()) {
            ("sequence", Some(sequence)) => sequence.parse().ok().map(Self::Sequence),
            ("relayed", None) => Some(Self::Relayed),
            _ => None,
        }
    }
}

impl IndexLocation {
    /// Opens the newest complete index; `None` if there is none, or it is damaged, or of another version.
    /// Blocks: every file is read, because a damaged one must not be found later.
    pub(crate) fn open(&self) -> Option<StoredIndex> {
        let Self::Directory(root) = self else { return None };
        // A build that was interrupted is newer than the index that was used meanwhile.
        builds(root).into_iter().rev().find_map(|build| {
            let opened = open_at(&root.join(build.to_string()));
            opened.unwrap_or_else(|error| {
                tracing::warn!(%error, build, "this search index cannot be used");
                None
            })
        })
    }

    /// Creates an empty index beside those that exist.
    pub(crate) fn create(&self, position: IndexPosition) -> Result<StoredIndex, IndexError> {
        let (schema, fields) = Fields::schema();
        let (index, path) = match self {
            Self::Memory => (builder(schema).create_in_ram()?, None),
            Self::Directory(root) => {
                fs::create_dir_all(root)?;
                let next = builds(root).last().map_or(1, |last| last + 1);
                let path = root.join(next.to_string());
                fs::create_dir(&path)?;
                (builder(schema).create_in_dir(&path)?, Some(path))
            }
        };
        Ok(StoredIndex { index, fields, path, position })
    }

    /// Removes all builds except one.
    pub(crate) fn remove_others(&self, used: Option<&Path>) {
        let Self::Directory(root) = self else { return };
        for build in builds(root) {
            let path = root.join(build.to_string());
            if Some(&*path) != used
                && let Err(error) = fs::remove_dir_all(&path)
            {
                tracing::warn!(path = %path.display(), %error, "cannot remove an old search index");
            }
        }
    }

    /// The size of all files.
    pub(crate) fn bytes(&self) -> u64 {
        let Self::Directory(root) = self else { return 0 };
        let builds = builds(root).into_iter().map(|build| root.join(build.to_string()));
        let files = builds.filter_map(|build| fs::read_dir(build).ok()).flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}

/// The numbers of the builds, ascending.
fn builds(root: &Path) -> Vec<u64> {
    let entries = fs::read_dir(root).ok().into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

fn open_at(path: &Path) -> Result<Option<StoredIndex>, IndexError> {
    let mut index = match Index::open_in_dir(path) {
        Err(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))) => return Ok(None),
        index => index?,
    };
    let payload = index.load_metas()?.payload.unwrap_or_default();
    let Some(position) = IndexPosition::of_payload(&payload) else { return Ok(None) };
    let (schema, fields) = Fields::schema();
    if index.schema() != schema {
        return Ok(None);
    }
    let damaged = index.validate_checksum()?;
    if let Some(file) = damaged.iter().next() {
        return Err(IndexError::Damaged(format!("{} has another checksum", file.display())));
    }
    index.set_tokenizers(Fields::tokenizers());
    Ok(Some(StoredIndex { index, fields, path: Some(path.to_owned()), position }))
}

fn builder(schema: Schema) -> tantivy::IndexBuilder {
    let newest_first = IndexSortByField { field: CREATED.to_owned(), order: Order::Desc };
    let settings = TantivySettings {
        sort_by_field: Some(newest_first),
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..TantivySettings::default()
    };
    Index::builder().schema(schema).settings(settings).tokenizers(Fields::tokenizers())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_were_committed() {
        for position in
            [IndexPosition::Sequence(0), IndexPosition::Sequence(7), IndexPosition::Relayed]
        {
            assert_eq!(IndexPosition::of_payload(&position.to_payload()), Some(position));
        }
        let older = format!("roundtable {} sequence 7", VERSION - 1);
        for bad in ["", "roundtable", &older, "other 1 relayed", "roundtable 1 sequence x"] {
            assert_eq!(IndexPosition::of_payload(bad), None, "{bad}");
        }
    }
}
