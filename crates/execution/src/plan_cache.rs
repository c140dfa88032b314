//! Plans of documents seen lately, in a fixed amount of memory.
//!
//! A document that was seen once is among the recent ones, and one that was seen again is kept. Each of
//! the two has its own budget, so that a client that sends many documents, each once, evicts only other
//! documents that were seen once.

use std::collections::HashMap;
use std::sync::Arc;

use lru::LruCache;

use crate::persisted::DocumentHash;
use crate::plan::Plan;

/// The memory that all plans may take, and those of documents that were seen once.
pub(crate) const BYTES_MAX: usize = 16 * 1024 * 1024;
const RECENT_BYTES_MAX: usize = BYTES_MAX / 4;
/// The memory that the plans of one document may take. Larger ones are planned again for each request.
const DOCUMENT_BYTES_MAX: usize = RECENT_BYTES_MAX / 2;
/// The memory that a plan takes for each of its nodes and fields, roughly.
const BYTES_PER_PART: usize = 400;
/// The memory that a document takes for each byte of its text, roughly: the text and its constants. Plans
/// that ask for the schema keep the parsed document, too.
const BYTES_PER_TEXT_BYTE: usize = 4;
const BYTES_PER_PARSED_BYTE: usize = 40;
/// The memory of an entry without its plans, roughly: keys, hash and places in maps.
const BYTES_PER_DOCUMENT: usize = 400;

/// Documents that were evicted. They are large, so they must be dropped when the cache is no longer locked.
pub(crate) type EvictedDocuments = Vec<CachedDocument>;

#[derive(Debug)]
pub(crate) struct PlanCache {
    recent: Segment,
    kept: Segment,
    /// The texts of documents that clients may send as a hash.
    texts: HashMap<DocumentHash, Arc<str>>,
}

/// A document, and the plans of those of its operations that were asked for.
#[derive(Debug)]
pub(crate) struct CachedDocument {
    hash: Option<DocumentHash>,
    plans: Vec<(Option<String>, Arc<Plan>)>,
    bytes: usize,
}

impl CachedDocument {
    const EMPTY: Self = Self { hash: None, plans: Vec::new(), bytes: BYTES_PER_DOCUMENT };

    fn plan(&self, operation: Option<&str>) -> Option<&Arc<Plan>> {
        let mut plans = self.plans.iter();
        plans.find(|(name, _)| name.as_deref() == operation).map(|(_, plan)| plan)
    }
}

/// Documents by their text, the least recently used first to go.
#[derive(Debug)]
struct Segment {
    documents: LruCache<Arc<str>, CachedDocument>,
    bytes: usize,
    bytes_max: usize,
}

impl Segment {
    fn new(bytes_max: usize) -> Self {
        Self { documents: LruCache::unbounded(), bytes: 0, bytes_max }
    }

    fn take(&mut self, text: &str) -> Option<(Arc<str>, CachedDocument)> {
        let taken = self.documents.pop_entry(text)?;
        self.bytes -= taken.1.bytes;
        Some(taken)
    }

    fn push(&mut self, text: Arc<str>, document: CachedDocument) {
        self.bytes += document.bytes;
        self.documents.push(text, document);
    }

    /// Removes the least recently used document, if all of them take too much memory.
    fn pop_excess(&mut self) -> Option<(Arc<str>, CachedDocument)> {
        let popped = if self.bytes > self.bytes_max { self.documents.pop_lru() } else { None }?;
        self.bytes -= popped.1.bytes;
        Some(popped)
    }
}

impl PlanCache {
    pub(crate) fn new() -> Self {
        let (recent, kept) = (RECENT_BYTES_MAX, BYTES_MAX - RECENT_BYTES_MAX);
        Self { recent: Segment::new(recent), kept: Segment::new(kept), texts: HashMap::new() }
    }

    /// Returns the text of a document by its hash.
    pub(crate) fn text(&self, hash: &DocumentHash) -> Option<Arc<str>> {
        self.texts.get(hash).cloned()
    }

    pub(crate) fn contains(&self, text: &str, operation: Option<&str>) -> bool {
        let document = self.kept.documents.peek(text).or_else(|| self.recent.documents.peek(text));
        document.is_some_and(|document| document.plan(operation).is_some())
    }

    /// Returns a plan, and keeps its document.
    pub(crate) fn get(
        &mut self,
        text: &str,
        operation: Option<&str>,
    ) -> (Option<Arc<Plan>>, EvictedDocuments) {
        if let Some(document) = self.kept.documents.get(text) {
            return (document.plan(operation).cloned(), Vec::new());
        }
        let plan = self.recent.documents.peek(text).and_then(|it| it.plan(operation)).cloned();
        if plan.is_none() {
            return (None, Vec::new());
        }
        if let Some((text, document)) = self.recent.take(text) {
            self.kept.push(text, document);
        }
        (plan, self.trim())
    }

    /// Adds a plan, and the hash of its document if clients may send that alone.
    pub(crate) fn add(
        &mut self,
        text: Arc<str>,
        operation: Option<String>,
        plan: &Arc<Plan>,
        hash: Option<DocumentHash>,
    ) -> EvictedDocuments {
        let is_kept = self.kept.documents.contains(&*text);
        let segment = if is_kept { &mut self.kept } else { &mut self.recent };
        let known = segment.take(&text);
        let (text, mut document) = known.unwrap_or((text, CachedDocument::EMPTY));
        let per_byte = if plan.introspects() { BYTES_PER_PARSED_BYTE } else { BYTES_PER_TEXT_BYTE };
        let bytes = plan.parts * BYTES_PER_PART + text.len() * per_byte;
        let is_known = document.plan(operation.as_deref()).is_some();
        if !is_known && document.bytes + bytes <= DOCUMENT_BYTES_MAX {
            document.plans.push((operation, Arc::clone(plan)));
            document.bytes += bytes;
        }
        if document.plans.is_empty() {
            return Vec::new();
        }
        if let Some(hash) = hash.filter(|_| document.hash.is_none()) {
            document.hash = Some(hash);
            self.texts.insert(hash, Arc::clone(&text));
        }
        segment.push(text, document);
        self.trim()
    }

    /// Evicts documents until the others are within their budgets.
    fn trim(&mut self) -> EvictedDocuments {
        while let Some((text, document)) = self.kept.pop_excess() {
            self.recent.push(text, document);
        }
        let mut evicted = Vec::new();
        while let Some((_, document)) = self.recent.pop_excess() {
            if let Some(hash) = &document.hash {
                self.texts.remove(hash);
            }
            evicted.push(document);
        }
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{PageSizes, Schema};

    fn plan() -> Arc<Plan> {
        let schema = Schema::parse("type Query { a: Int b: Int }", PageSizes::default()).unwrap();
        let documents = crate::Documents::new(schema, crate::QueryLimits::default());
        documents.prepare("{ a __schema { description } }".into()).unwrap().plan
    }

    /// A text that takes about `bytes` in the cache.
    fn text(name: usize, bytes: usize) -> Arc<str> {
        format!("{name:>0$}", bytes / BYTES_PER_PARSED_BYTE).into()
    }

    #[test]
    fn documents_that_are_sent_once_evict_none_that_are_used_again() {
        let (mut cache, plan) = (PlanCache::new(), plan());
        let popular: Arc<str> = "popular".into();
        let hash = DocumentHash::of(&popular);
        cache.add(Arc::clone(&popular), None, &plan, Some(hash));
        assert!(cache.get(&popular, None).0.is_some());
        for name in 0..2_000 {
            let text = text(name, 100_000);
            let hash = DocumentHash::of(&text);
            cache.add(text, None, &plan, Some(hash));
            assert!(cache.recent.bytes <= RECENT_BYTES_MAX);
        }
        assert_eq!(cache.text(&hash), Some(popular));
        // An entry of a hash is gone with its document.
        assert!(cache.texts.len() <= RECENT_BYTES_MAX / 100_000 + 1, "{}", cache.texts.len());
    }

    #[test]
    fn documents_that_are_used_again_have_a_budget_too() {
        let (mut cache, plan) = (PlanCache::new(), plan());
        for name in 0..2_000 {
            let text = text(name, 100_000);
            let hash = DocumentHash::of(&text);
            cache.add(Arc::clone(&text), None, &plan, Some(hash));
            assert!(cache.get(&text, None).0.is_some());
            assert!(cache.recent.bytes + cache.kept.bytes <= BYTES_MAX);
            assert_eq!(
                cache.texts.len(),
                cache.recent.documents.len() + cache.kept.documents.len()
            );
        }
        assert!(cache.text(&DocumentHash::of(&text(0, 100_000))).is_none());
        assert!(cache.text(&DocumentHash::of(&text(1_999, 100_000))).is_some());
    }

    #[test]
    fn a_document_that_is_too_large_is_not_cached() {
        let (mut cache, plan) = (PlanCache::new(), plan());
        let large = text(0, DOCUMENT_BYTES_MAX);
        cache.add(Arc::clone(&large), None, &plan, Some(DocumentHash::of(&large)));
        assert!(cache.get(&large, None).0.is_none());
        assert_eq!((cache.texts.len(), cache.recent.bytes), (0, 0));
    }

    #[test]
    fn each_operation_of_a_document_has_a_plan() {
        let (mut cache, plan) = (PlanCache::new(), plan());
        let text: Arc<str> = "two operations".into();
        for name in ["a", "b", "a"] {
            cache.add(Arc::clone(&text), Some(name.into()), &plan, None);
        }
        assert!(cache.get(&text, Some("a")).0.is_some());
        assert!(cache.get(&text, Some("b")).0.is_some());
        assert!(cache.get(&text, None).0.is_none());
        assert_eq!(cache.kept.documents.get(&*text).map(|it| it.plans.len()), Some(2));
    }
}
