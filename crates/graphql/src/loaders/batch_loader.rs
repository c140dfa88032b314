//! Batches reads: keys that the fields of a page need are collected until no field can continue, and are
//! then read at once. No timer is involved, so a busy machine does not split a page into many reads, and an
//! idle one does not wait.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_graphql::dataloader::Loader;
use futures::future::try_join_all;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::task::yield_now;

use super::ViewerLoader;
use crate::ApiError;

/// A larger batch is split into several reads.
const KEYS_PER_READ_MAX: usize = 100;
/// Yields to the rest of the request before a batch is read. One is enough for the fields of one list;
/// lists of more than thirty items are polled in two or three parts.
const YIELDS: usize = 4;

type LoadResult<K, V> = Result<Arc<HashMap<K, V>>, Arc<ApiError>>;

/// Keys that are read together.
struct LoadBatch<K, V> {
    keys: Mutex<HashSet<K>>,
    result: OnceCell<LoadResult<K, V>>,
}

/// The cached values for one type of key, and the batch that still accepts keys.
struct LoaderCache<K, V> {
    values: HashMap<K, Option<V>>,
    open_batch: Option<Arc<LoadBatch<K, V>>>,
}

impl<K, V> Default for LoaderCache<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), open_batch: None }
    }
}

/// The batches and caches of one request.
#[derive(Default)]
pub(super) struct BatchLoader {
    caches: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    is_cache_disabled: AtomicBool,
}

impl BatchLoader {
    pub(super) fn disable_cache(&self) {
        self.is_cache_disabled.store(true, Ordering::Release);
    }

    pub(super) async fn load<K>(
        &self,
        loader: &ViewerLoader,
        key: K,
    ) -> Result<Option<<ViewerLoader as Loader<K>>::Value>, Arc<ApiError>>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        ViewerLoader: Loader<K, Error = Arc<ApiError>>,
    {
        let joined = self.with_cache(|cache| {
            if let Some(cached) = cache.values.get(&key) {
                return Err(cached.clone());
            }
            let batch = cache.open_batch.get_or_insert_with(|| {
                Arc::new(LoadBatch { keys: Mutex::default(), result: OnceCell::new() })
            });
            batch.keys.lock().insert(key.clone());
            Ok(Arc::clone(batch))
        });
        let batch = match joined {
            Ok(batch) => batch,
            Err(cached) => return Ok(cached),
        };
        // One waiting field reads the batch; if it is dropped, another one takes over.
        // Boxed, because otherwise the future of each field would hold the memory of a whole read.
        let result = batch.result.get_or_init(|| Box::pin(self.read_batch(loader, &batch))).await;
        result.as_ref().map(|values| values.get(&key).cloned()).map_err(Arc::clone)
    }

    /// Waits for more keys, closes the batch and reads it; later keys go to the next batch.
    async fn read_batch<K>(
        &self,
        loader: &ViewerLoader,
        batch: &Arc<LoadBatch<K, <ViewerLoader as Loader<K>>::Value>>,
    ) -> LoadResult<K, <ViewerLoader as Loader<K>>::Value>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        ViewerLoader: Loader<K, Error = Arc<ApiError>>,
    {
        for _ in 0..YIELDS {
            yield_now().await;
        }
        self.with_cache(|cache| drop(cache.open_batch.take_if(|open| Arc::ptr_eq(open, batch))));
        let keys: Vec<K> = batch.keys.lock().iter().cloned().collect();
        let reads = keys.chunks(KEYS_PER_READ_MAX).map(|keys| loader.load(keys));
        let values: HashMap<K, _> = try_join_all(reads).await?.into_iter().flatten().collect();
        if !self.is_cache_disabled.load(Ordering::Acquire) {
            let cached = keys.into_iter().map(|key| (key.clone(), values.get(&key).cloned()));
            self.with_cache(|cache| cache.values.extend(cached));
        }
        Ok(Arc::new(values))
    }

    /// Calls a function with the cache for one type of key.
    fn with_cache<K, V, T>(&self, with: impl FnOnce(&mut LoaderCache<K, V>) -> T) -> T
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        let mut caches = self.caches.lock();
        let cache = caches
            .entry(TypeId::of::<LoaderCache<K, V>>())
            .or_insert_with(|| Box::new(LoaderCache::<K, V>::default()));
        match cache.downcast_mut() {
            Some(cache) => with(cache),
            // Unreachable: each cache is stored under its own type.
            None => with(&mut LoaderCache::default()),
        }
    }
}
