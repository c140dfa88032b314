//! The search index of a process: where it is, and what it may take.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_domain::{Context, LiveBus, NoSearchIndex, SearchIndex};
use roundtable_search::{IndexLocation, IndexSettings, Indexer, SearchStatus};

use crate::configuration::SearchSettings;

/// The directory of the index within the data directory.
const SEARCH_DIRECTORY: &str = "search";

/// Returns the location of an installation's index.
pub fn search_location(data: &Path, settings: &SearchSettings) -> IndexLocation {
    let directory = settings.directory.clone();
    IndexLocation::Directory(directory.unwrap_or_else(|| data.join(SEARCH_DIRECTORY)))
}

/// The index of a process, and the indexer until it is started.
pub(crate) struct ProcessIndex {
    indexer: Mutex<Option<Indexer>>,
    status: Box<dyn Fn() -> SearchStatus + Send + Sync>,
}

impl fmt::Debug for ProcessIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProcessIndex").field(&self.status()).finish()
    }
}

impl ProcessIndex {
    /// Returns the index for searches, and its process; `None` if this process has none.
    pub(crate) fn open(
        context: &Context,
        bus: &LiveBus,
        data: &Path,
        settings: &SearchSettings,
        serves_api: bool,
    ) -> (Arc<dyn SearchIndex>, Option<Self>) {
        if !settings.enabled || !serves_api {
            return (Arc::new(NoSearchIndex), None);
        }
        let budgets = IndexSettings {
            writer_bytes: settings.writer_mb << 20,
            index_bytes_max: settings.index_mb_max << 20,
        };
        let location = search_location(data, settings);
        let indexer = Indexer::new(context.clone(), bus, location, budgets);
        let (index, status) = (indexer.index(), Box::new(indexer.status()));
        (index, Some(Self { indexer: Mutex::new(Some(indexer)), status }))
    }

    /// Takes the indexer, to be run once.
    pub(crate) fn take_indexer(&self) -> Option<Indexer> {
        self.indexer.lock().take()
    }

    pub(crate) fn status(&self) -> SearchStatus {
        (self.status)()
    }
}
