//! Values that a request has read, so that it reads each once, wherever the document asks for it.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use roundtable_interface::ApiError;
use tokio::sync::Mutex;

/// Values by key; `None` for those that the viewer may not see.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Mutex<HashMap<K, Option<V>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Memo<K, V> {
    /// Returns the values of all keys, in their order, and reads those not yet known. Reads of one kind
    /// wait for each other, because they often want the same keys.
    pub(crate) async fn get(
        &self,
        keys: &[K],
        read: impl AsyncFnOnce(&[K]) -> Result<Vec<Option<V>>, ApiError>,
    ) -> Result<Vec<Option<V>>, ApiError> {
        let mut known = self.0.lock().await;
        let mut seen = HashSet::new();
        let missing = keys.iter().filter(|key| !known.contains_key(*key) && seen.insert(*key));
        let missing: Vec<K> = missing.cloned().collect();
        if !missing.is_empty() {
            let values = read(&missing).await?;
            known.extend(missing.into_iter().zip(values));
        }
        Ok(keys.iter().map(|key| known.get(key).cloned().flatten()).collect())
    }

    /// Adds values that were read together with something else.
    pub(crate) async fn add(&self, values: impl IntoIterator<Item = (K, V)>) {
        let mut known = self.0.lock().await;
        known.extend(values.into_iter().map(|(key, value)| (key, Some(value))));
    }

    /// Forgets everything. Called between reads, when nothing waits.
    pub(crate) fn clear(&self) {
        if let Ok(mut known) = self.0.try_lock() {
            known.clear();
        }
    }
}
