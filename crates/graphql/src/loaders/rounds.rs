//! Rounds: whatever the fields of a page ask for is gathered until none of them can go on without an
//! answer, and is then looked up at once. Nobody waits for a clock, so a busy machine does not cut a
//! page into many reads, and an idle one does not make anybody wait.

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

use super::Look;
use crate::Refused;

/// Keys of one read, at most: what a round is cut into.
const KEYS_AT_ONCE: usize = 100;
/// How often everything else of the request gets a turn before a round is closed. Once is enough for
/// fields of one list; lists of more than thirty items take their turns in two or three parts.
const TURNS: usize = 4;

/// What was found of a round, or why nothing was.
type Found<K, V> = Result<Arc<HashMap<K, V>>, Arc<Refused>>;

/// Everything that is asked for at the same time.
struct Round<K, V> {
    keys: Mutex<HashSet<K>>,
    found: OnceCell<Found<K, V>>,
}

/// What is known of one kind, and what is being asked for.
struct Shelf<K, V> {
    kept: HashMap<K, Option<V>>,
    open: Option<Arc<Round<K, V>>>,
}

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self { kept: HashMap::new(), open: None }
    }
}

/// The rounds of one request.
#[derive(Default)]
pub(super) struct Rounds {
    shelves: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    keeps_nothing: AtomicBool,
}

impl Rounds {
    /// From now on nothing is kept.
    pub(super) fn keep_nothing(&self) {
        self.keeps_nothing.store(true, Ordering::Release);
    }

    /// What is behind a key.
    pub(super) async fn one<K>(
        &self,
        look: &Look,
        key: K,
    ) -> Result<Option<<Look as Loader<K>>::Value>, Arc<Refused>>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        Look: Loader<K, Error = Arc<Refused>>,
    {
        let joined = self.shelf(|shelf| {
            if let Some(known) = shelf.kept.get(&key) {
                return Err(known.clone());
            }
            let round = shelf.open.get_or_insert_with(|| {
                Arc::new(Round { keys: Mutex::default(), found: OnceCell::new() })
            });
            round.keys.lock().insert(key.clone());
            Ok(Arc::clone(round))
        });
        let round = match joined {
            Ok(round) => round,
            Err(known) => return Ok(known),
        };
        // One of them closes the round, and another one if that one is not wanted any more.
        // Apart, for the same reason as pages: each field would hold the room for a whole read.
        let found = round.found.get_or_init(|| Box::pin(self.close(look, &round))).await;
        found.as_ref().map(|found| found.get(&key).cloned()).map_err(Arc::clone)
    }

    /// Gathers, and looks up what a round has gathered; whoever asks from then on is in the next one.
    async fn close<K>(
        &self,
        look: &Look,
        round: &Arc<Round<K, <Look as Loader<K>>::Value>>,
    ) -> Found<K, <Look as Loader<K>>::Value>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        Look: Loader<K, Error = Arc<Refused>>,
    {
        for _ in 0..TURNS {
            yield_now().await;
        }
        self.shelf(|shelf| drop(shelf.open.take_if(|open| Arc::ptr_eq(open, round))));
        let keys: Vec<K> = round.keys.lock().iter().cloned().collect();
        let reads = keys.chunks(KEYS_AT_ONCE).map(|keys| look.load(keys));
        let found: HashMap<K, _> = try_join_all(reads).await?.into_iter().flatten().collect();
        if !self.keeps_nothing.load(Ordering::Acquire) {
            let known = keys.into_iter().map(|key| (key.clone(), found.get(&key).cloned()));
            self.shelf(|shelf| shelf.kept.extend(known));
        }
        Ok(Arc::new(found))
    }

    /// Does something with what is known of one kind. There is one loader for each kind of key.
    fn shelf<K, V, T>(&self, with: impl FnOnce(&mut Shelf<K, V>) -> T) -> T
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        let mut shelves = self.shelves.lock();
        let shelf = shelves
            .entry(TypeId::of::<Shelf<K, V>>())
            .or_insert_with(|| Box::new(Shelf::<K, V>::default()));
        match shelf.downcast_mut() {
            Some(shelf) => with(shelf),
            // Never: it is kept under its own type.
            None => with(&mut Shelf::default()),
        }
    }
}
