//! Compares an index with the table. Both are summed up in parts by their keys, and only parts that differ are
//! read again for the keys, so that memory is bounded.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use roundtable_domain::{DocumentState, SearchDocument};
use roundtable_model::table::{Scan, Table};
use tantivy::schema::Value as _;
use tantivy::{ReloadPolicy, Searcher, TantivyDocument};
use tokio::task::spawn_blocking;

use crate::IndexLocation;
use crate::directory::{IndexPosition, StoredIndex};
use crate::error::IndexError;
use crate::fields::{DIGEST, Fields, KEY_HASH, digest, key_hash};

/// Parts that are summed up separately.
const PARTS: usize = 1 << 16;
/// Differences that are named.
const NAMED_MAX: usize = 100;

/// A document that differs between index and table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDifference {
    /// The document's key.
    pub key: String,
    pub problem: &'static str,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexComparison {
    /// There is no usable index: it will be built.
    Missing,
    /// The number of documents, and the first differences.
    Compared { documents: u64, differences: Vec<IndexDifference> },
}

/// Compares the index of a store that nothing writes to with its table. The position tells how far the index
/// is: an index that is behind differs.
pub async fn compare(
    location: &IndexLocation,
    table: &Table,
) -> Result<(IndexComparison, Option<u64>), IndexError> {
    let opened = location.clone();
    let Some(stored) = spawn_blocking(move || opened.open()).await? else {
        return Ok((IndexComparison::Missing, None));
    };
    let position = match stored.position {
        IndexPosition::Sequence(sequence) => Some(sequence),
        IndexPosition::Relayed => None,
    };
    let index = Arc::new(IndexedDocuments::of(&stored)?);
    let summed = Arc::clone(&index);
    let mut sums = spawn_blocking(move || summed.sums()).await??;
    let documents = index.searcher.num_docs();
    each_document(table, |document, key| {
        let difference = sum(key, digest(document));
        if let Some(part) = sums.get_mut(part_of(key)) {
            *part = part.wrapping_sub(difference);
        }
    })
    .await?;
    let different: HashSet<usize> =
        sums.iter().enumerate().filter(|(_, sum)| **sum != 0).map(|(part, _)| part).collect();
    let differences = if different.is_empty() {
        Vec::new()
    } else {
        name_differences(index, table, different).await?
    };
    Ok((IndexComparison::Compared { documents, differences }, position))
}

/// Reads the documents of the parts that differ, and names those that do.
async fn name_differences(
    index: Arc<IndexedDocuments>,
    table: &Table,
    parts: HashSet<usize>,
) -> Result<Vec<IndexDifference>, IndexError> {
    let wanted = parts.clone();
    let mut indexed = spawn_blocking(move || index.documents_in(&wanted)).await??;
    let mut differences = Vec::new();
    each_document(table, |document, key| {
        if !parts.contains(&part_of(key)) {
            return;
        }
        let text = document.key.to_string();
        let problem = match indexed.remove(&text).as_deref() {
            Some([one]) if *one == digest(document) => return,
            Some([_]) => "is indexed with other content",
            Some(_) => "is indexed more than once",
            None => "is not indexed",
        };
        differences.push(IndexDifference { key: text, problem });
    })
    .await?;
    let gone = indexed.into_keys();
    differences.extend(gone.map(|key| IndexDifference { key, problem: "is indexed and gone" }));
    differences.truncate(NAMED_MAX);
    Ok(differences)
}

/// Passes every document of the table to `visit`, with the hash of its key.
async fn each_document(
    table: &Table,
    mut visit: impl FnMut(&SearchDocument, u64),
) -> Result<(), IndexError> {
    let mut next = None;
    loop {
        let page = table.scan(Scan { strong: true, ..Scan::new() }.after(next.take())).await?;
        let states = page.items.iter().filter_map(DocumentState::of);
        for document in states.filter_map(|state| state.document) {
            visit(&document, key_hash(&document.key.to_string()));
        }
        next = page.next;
        if next.is_none() {
            return Ok(());
        }
        // A backend in this process never waits, so let other tasks run.
        tokio::task::yield_now().await;
    }
}

/// The documents of an index.
struct IndexedDocuments {
    searcher: Searcher,
    fields: Fields,
}

impl IndexedDocuments {
    fn of(stored: &StoredIndex) -> Result<Self, IndexError> {
        let reader = stored.index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader: tantivy::IndexReader = reader.try_into()?;
        Ok(Self { searcher: reader.searcher(), fields: stored.fields })
    }

    fn sums(&self) -> Result<Vec<u64>, IndexError> {
        let mut sums = vec![0_u64; PARTS];
        for segment in self.searcher.segment_readers() {
            let fast = segment.fast_fields();
            let keys = fast.column_first_or_default::<u64>(KEY_HASH)?;
            let digests = fast.column_first_or_default::<u64>(DIGEST)?;
            for document in segment.doc_ids_alive() {
                let key = keys.get_val(document);
                if let Some(part) = sums.get_mut(part_of(key)) {
                    *part = part.wrapping_add(sum(key, digests.get_val(document)));
                }
            }
        }
        Ok(sums)
    }

    fn documents_in(
        &self,
        parts: &HashSet<usize>,
    ) -> Result<BTreeMap<String, Vec<u64>>, IndexError> {
        let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (ordinal, segment) in (0..).zip(self.searcher.segment_readers()) {
            let fast = segment.fast_fields();
            let keys = fast.column_first_or_default::<u64>(KEY_HASH)?;
            let digests = fast.column_first_or_default::<u64>(DIGEST)?;
            for document in segment.doc_ids_alive() {
                if !parts.contains(&part_of(keys.get_val(document))) {
                    continue;
                }
                let address = tantivy::DocAddress::new(ordinal, document);
                let stored: TantivyDocument = self.searcher.doc(address)?;
                let key = stored.get_first(self.fields.key).and_then(|key| key.as_str());
                let digests_of = found.entry(key.unwrap_or_default().to_owned()).or_default();
                digests_of.push(digests.get_val(document));
            }
        }
        Ok(found)
    }
}

fn part_of(key_hash: u64) -> usize {
    usize::try_from(key_hash).unwrap_or_default() % PARTS
}

/// The contribution of a document to the sum of its part.
fn sum(key_hash: u64, digest: u64) -> u64 {
    (key_hash.rotate_left(17) ^ digest).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}
