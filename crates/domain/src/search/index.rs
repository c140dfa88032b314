//! The interface to an index of documents. The domain decides what a match is and who may see it; an index
//! only names candidates, in order.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_model::{Tag, UserId};

use super::document::{DocumentKey, SearchType};
use super::matching::MatchClass;
use super::query::SearchQuery;

/// An index of documents.
#[async_trait]
pub trait SearchIndex: Send + Sync + fmt::Debug + 'static {
    /// Returns the documents that match in this way, newest first. It may return some that no longer do.
    async fn hits(&self, request: HitRequest) -> Result<Vec<IndexHit>, IndexUnavailable>;

    /// Returns the folded tags that match in this way, in order.
    async fn tags(&self, request: TagRequest) -> Result<Vec<Tag>, IndexUnavailable>;

    /// Returns references of a tag, newest first.
    async fn tagged(&self, request: TaggedRequest) -> Result<Vec<IndexHit>, IndexUnavailable>;
}

/// The reason that an index has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexUnavailable {
    /// It is missing or damaged, and being built.
    Building,
    /// This process has none.
    Off,
}

/// A request for documents.
#[derive(Clone, Debug)]
pub struct HitRequest {
    pub query: Arc<SearchQuery>,
    pub class: MatchClass,
    pub types: Arc<[SearchType]>,
    pub sees: RestrictedAccess,
    pub after: Option<HitPosition>,
    pub limit: usize,
}

/// A request for tags.
#[derive(Clone, Debug)]
pub struct TagRequest {
    pub query: Arc<SearchQuery>,
    pub class: TagClass,
    pub after: Option<Tag>,
    pub limit: usize,
}

/// A request for the references of a tag.
#[derive(Clone, Debug)]
pub struct TaggedRequest {
    pub tag: Tag,
    pub sees: RestrictedAccess,
    pub after: Option<HitPosition>,
    pub limit: usize,
}

/// The ways in which a tag matches, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TagClass {
    Whole,
    Prefix,
    Typos,
}

/// The restricted documents that a viewer may see. It spares the walk past those of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestrictedAccess {
    /// The owner whose documents are all visible.
    pub own: Option<UserId>,
    /// Goals, quests and their tags of all owners.
    pub goals: bool,
    /// Posts and comments that only their authors and staff may see.
    pub content: bool,
}

/// The position of a hit among those of its class: by time, newest first, then by a hash of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HitPosition {
    pub created_ms: u64,
    pub key_hash: u64,
}

/// A document that an index found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHit {
    pub key: DocumentKey,
    pub position: HitPosition,
}

/// The index of a process without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSearchIndex;

#[async_trait]
impl SearchIndex for NoSearchIndex {
    async fn hits(&self, _: HitRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        Err(IndexUnavailable::Off)
    }

    async fn tags(&self, _: TagRequest) -> Result<Vec<Tag>, IndexUnavailable> {
        Err(IndexUnavailable::Off)
    }

    async fn tagged(&self, _: TaggedRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        Err(IndexUnavailable::Off)
    }
}
