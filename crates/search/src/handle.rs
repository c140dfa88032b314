//! The index as services see it: the current one, or none while it is being built. A search that fails or
//! panics takes the index out of use, and its indexer builds another.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;
use roundtable_domain::{
    HitRequest, IndexHit, IndexUnavailable, SearchIndex, TagRequest, TaggedRequest,
};
use roundtable_model::Tag;

use crate::error::IndexError;
use crate::find::Finder;

/// The state of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexState {
    /// Not looked at yet.
    #[default]
    Opening,
    Building,
    /// Current up to its last commit.
    Ready,
}

/// The state of an index, for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStatus {
    pub state: IndexState,
    /// Whether searches are answered, if only by what was there before a build.
    pub answers: bool,
    pub documents: u64,
    /// Items read by the build in progress, or the last one.
    pub scanned: u64,
    /// Builds since the process started.
    pub builds: u64,
    pub bytes: u64,
}

#[derive(Default)]
pub(crate) struct IndexHandle {
    shared: RwLock<Shared>,
}

#[derive(Default)]
struct Shared {
    finder: Option<Arc<Finder>>,
    is_damaged: bool,
    status: SearchStatus,
}

impl fmt::Debug for IndexHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexHandle").field(&self.status()).finish()
    }
}

impl IndexHandle {
    pub(crate) fn status(&self) -> SearchStatus {
        let shared = self.shared.read();
        let documents = shared.finder.as_ref().map_or(0, |it| it.reader.searcher().num_docs());
        SearchStatus { answers: shared.finder.is_some(), documents, ..shared.status }
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut SearchStatus)) {
        change(&mut self.shared.write().status);
    }

    pub(crate) fn use_index(&self, finder: Arc<Finder>) {
        let mut shared = self.shared.write();
        shared.finder = Some(finder);
        shared.is_damaged = false;
        shared.status.state = IndexState::Ready;
    }

    /// Returns whether a search found the index damaged, and forgets it.
    pub(crate) fn take_damage(&self) -> bool {
        std::mem::take(&mut self.shared.write().is_damaged)
    }

    fn mark_damaged(&self, damaged: &Arc<Finder>) {
        let mut shared = self.shared.write();
        if shared.finder.as_ref().is_some_and(|it| Arc::ptr_eq(it, damaged)) {
            shared.finder = None;
            shared.is_damaged = true;
            shared.status.state = IndexState::Building;
        }
    }

    /// Searches on a thread where it may read files.
    async fn search<T: Send + 'static>(
        &self,
        search: impl FnOnce(&Finder) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexUnavailable> {
        let finder = self.shared.read().finder.clone().ok_or(IndexUnavailable::Building)?;
        let searched = Arc::clone(&finder);
        let found = tokio::task::spawn_blocking(move || search(&searched)).await;
        let error: IndexError = match found {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => error,
            Err(panicked) => panicked.into(),
        };
        tracing::error!(%error, "a search failed; building the search index again");
        self.mark_damaged(&finder);
        Err(IndexUnavailable::Building)
    }
}

#[async_trait]
impl SearchIndex for IndexHandle {
    async fn hits(&self, request: HitRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        self.search(move |finder| finder.hits(&request)).await
    }

    async fn tags(&self, request: TagRequest) -> Result<Vec<Tag>, IndexUnavailable> {
        self.search(move |finder| finder.tags(&request)).await
    }

    async fn tagged(&self, request: TaggedRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        self.search(move |finder| finder.tagged(&request)).await
    }
}
