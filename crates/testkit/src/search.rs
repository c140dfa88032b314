//! The search index of a town.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    Context, HitRequest, IndexHit, IndexUnavailable, SearchIndex, TagRequest, TaggedRequest,
};
use roundtable_model::Tag;
use roundtable_search::{IndexLocation, IndexSettings, Indexer};
use tokio::sync::Mutex;

/// A search index in memory that reads the stream to its end before each search. It is built by the first one.
#[derive(Debug)]
pub struct CurrentSearchIndex {
    indexer: Mutex<Indexer>,
}

impl CurrentSearchIndex {
    pub fn of(context: Context) -> Self {
        let (location, settings) = (IndexLocation::Memory, IndexSettings::default());
        Self { indexer: Mutex::new(Indexer::of_stream(context, location, settings)) }
    }

    async fn current(&self) -> Arc<dyn SearchIndex> {
        let mut indexer = self.indexer.lock().await;
        indexer.catch_up().await.unwrap();
        indexer.index()
    }
}

#[async_trait]
impl SearchIndex for CurrentSearchIndex {
    async fn hits(&self, request: HitRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        self.current().await.hits(request).await
    }

    async fn tags(&self, request: TagRequest) -> Result<Vec<Tag>, IndexUnavailable> {
        self.current().await.tags(request).await
    }

    async fn tagged(&self, request: TaggedRequest) -> Result<Vec<IndexHit>, IndexUnavailable> {
        self.current().await.tagged(request).await
    }
}
