//! Finds documents, newest first. Segments are sorted by time, so a walk ends as soon as it has enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use roundtable_domain::{HitPosition, HitRequest, IndexHit, TaggedRequest};
use tantivy::columnar::ColumnValues;
use tantivy::query::{EnableScoring, Scorer, Weight};
use tantivy::schema::Value as _;
use tantivy::{
    DocAddress, DocId, DocSet as _, IndexReader, Searcher, SegmentReader, TERMINATED,
    TantivyDocument,
};

use crate::error::IndexError;
use crate::fields::{CREATED, Fields, KEY_HASH};
use crate::query::FilteredQuery;

/// Reads committed documents.
pub(crate) struct Finder {
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
}

/// The newest documents found so far, the oldest of them on top.
struct Newest {
    limit: usize,
    heap: BinaryHeap<Reverse<(HitPosition, DocAddress)>>,
}

impl Newest {
    /// Returns whether documents of this time or older would be dropped again.
    fn is_closed_to(&self, created_ms: u64) -> bool {
        let oldest = self.heap.peek().filter(|_| self.heap.len() >= self.limit);
        oldest.is_some_and(|Reverse((oldest, _))| created_ms < oldest.created_ms)
    }

    fn add(&mut self, position: HitPosition, address: DocAddress) {
        self.heap.push(Reverse((position, address)));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
}

impl Finder {
    pub(crate) fn hits(&self, request: &HitRequest) -> Result<Vec<IndexHit>, IndexError> {
        self.newest(&self.fields.hit_query(request), request.after, request.limit)
    }

    pub(crate) fn tagged(&self, request: &TaggedRequest) -> Result<Vec<IndexHit>, IndexError> {
        self.newest(&self.fields.tagged_query(request), request.after, request.limit)
    }

    fn newest(
        &self,
        query: &FilteredQuery,
        after: Option<HitPosition>,
        limit: usize,
    ) -> Result<Vec<IndexHit>, IndexError> {
        let searcher = self.reader.searcher();
        let scoring = EnableScoring::disabled_from_searcher(&searcher);
        let wanted = query.wanted.weight(scoring)?;
        let unwanted = query.unwanted.as_ref().map(|it| it.weight(scoring)).transpose()?;
        let mut newest = Newest { limit, heap: BinaryHeap::with_capacity(limit + 1) };
        for (ordinal, segment) in (0..).zip(searcher.segment_readers()) {
            let segment = SearchedSegment { ordinal, segment, after };
            segment.collect(&*wanted, unwanted.as_deref(), &mut newest)?;
        }
        // Ascending by `Reverse`, so from the newest.
        let found = newest.heap.into_sorted_vec().into_iter();
        found.map(|Reverse((position, address))| self.hit(&searcher, position, address)).collect()
    }

    fn hit(
        &self,
        searcher: &Searcher,
        position: HitPosition,
        address: DocAddress,
    ) -> Result<IndexHit, IndexError> {
        let document: TantivyDocument = searcher.doc(address)?;
        let key = document.get_first(self.fields.key).and_then(|key| key.as_str());
        let key = key.ok_or_else(|| IndexError::Damaged("a document without a key".to_owned()))?;
        let key = key.parse().map_err(|error| IndexError::Damaged(format!("{error}")))?;
        Ok(IndexHit { key, position })
    }
}

/// A segment, and the position behind which it is searched.
struct SearchedSegment<'a> {
    ordinal: u32,
    segment: &'a SegmentReader,
    after: Option<HitPosition>,
}

impl SearchedSegment<'_> {
    /// Adds the newest documents of the segment.
    fn collect(
        &self,
        wanted: &dyn Weight,
        unwanted: Option<&dyn Weight>,
        newest: &mut Newest,
    ) -> Result<(), IndexError> {
        let Self { ordinal, segment, after } = *self;
        let created = segment.fast_fields().column_first_or_default::<u64>(CREATED)?;
        if segment.max_doc() == 0 || newest.is_closed_to(created.get_val(0)) {
            return Ok(());
        }
        let hashes = segment.fast_fields().column_first_or_default::<u64>(KEY_HASH)?;
        let start = after.map_or(0, |after| first_not_after(&*created, segment, after.created_ms));
        if start >= segment.max_doc() {
            return Ok(());
        }
        let mut wanted = wanted.scorer(segment, 1.0)?;
        let mut unwanted = unwanted.map(|it| it.scorer(segment, 1.0)).transpose()?;
        let mut document = seek(&mut *wanted, start);
        while document != TERMINATED {
            let created_ms = created.get_val(document);
            if newest.is_closed_to(created_ms) {
                break;
            }
            let position = HitPosition { created_ms, key_hash: hashes.get_val(document) };
            if after.is_none_or(|after| position < after)
                && segment.alive_bitset().is_none_or(|alive| alive.is_alive(document))
                && unwanted.as_mut().is_none_or(|it| seek(&mut **it, document) != document)
            {
                newest.add(position, DocAddress::new(ordinal, document));
            }
            document = wanted.advance();
        }
        Ok(())
    }
}

/// Returns the first document of a scorer from this one on. Scorers only go forward.
fn seek(scorer: &mut dyn Scorer, target: DocId) -> DocId {
    let document = scorer.doc();
    if document < target { scorer.seek(target) } else { document }
}

/// Returns the first document that is not newer than this, in a segment sorted from the newest.
fn first_not_after(created: &dyn ColumnValues<u64>, segment: &SegmentReader, ms: u64) -> DocId {
    let (mut low, mut high) = (0, segment.max_doc());
    while low < high {
        let middle = low + (high - low) / 2;
        if created.get_val(middle) > ms {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
