//! Lookups of entities: from memory, or loaded into it.

use std::hash::Hash;
use std::sync::Arc;

use futures::future::BoxFuture;
use hashbrown::HashMap;
use roundtable_model::table::Item;
use roundtable_model::{FromItem, Result};

use super::bounded_cache::{BoundedCache, MemorySize};
use super::pending_loads::LoadTicket;
use super::{EntityMemory, EntityMemoryState};
use crate::Context;

/// An entity cached by id.
pub(super) trait CachedEntity: FromItem + MemorySize + Send + Sync + 'static {
    type Id: Clone + Eq + Ord + Hash + Send + Sync + std::fmt::Debug;

    fn cache(state: &EntityMemoryState) -> &BoundedCache<Self::Id, Self>;
    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<Self::Id, Self>;
    /// Reads entities in the order of their ids, strongly where memory has to be exact.
    fn read_all<'a>(
        context: &'a Context,
        ids: &'a [Self::Id],
        strong: bool,
    ) -> EntityRead<'a, Self>;

    /// The form in which the entity is kept.
    fn remembered(self) -> Self {
        self
    }

    /// Returns whether only a change can end the entity's life. Others are read again whenever they are
    /// needed, because they expire.
    fn is_lasting(&self) -> bool {
        true
    }
}

pub(super) type EntityRead<'a, T> = BoxFuture<'a, Result<Vec<Option<T>>>>;

impl EntityMemory {
    /// Returns the entities that exist.
    pub(super) async fn entities<T: CachedEntity>(
        &self,
        context: &Context,
        ids: &[T::Id],
    ) -> Result<HashMap<T::Id, Arc<T>>> {
        let mut found = HashMap::with_capacity(ids.len());
        let mut missing = Vec::new();
        {
            let state = self.state.read();
            let cache = T::cache(&state);
            for id in ids {
                match cache.get(id) {
                    Some(Some(entity)) if entity.is_lasting() => {
                        found.insert(id.clone(), Arc::clone(entity));
                    }
                    Some(None) => {}
                    Some(Some(_)) | None => missing.push(id.clone()),
                }
            }
            cache.count_lookups(ids.len(), missing.len());
        }
        // As if they had been read, so that a request is not too complex only after a restart.
        let bytes = || found.values().map(|entity: &Arc<T>| entity.bytes()).sum();
        context.store().charge_cached(bytes)?;
        if missing.is_empty() {
            return Ok(found);
        }
        missing.sort_unstable();
        missing.dedup();
        let loading = EntityLoad::begin(self, missing);
        let read = T::read_all(context, &loading.ids, self.is_exact).await?.into_iter();
        let entities =
            read.map(|entity| entity.map(|entity| Arc::new(entity.remembered()))).collect();
        found.extend(loading.finish(entities));
        Ok(found)
    }
}

/// A load of entities. Dropping it abandons the load.
struct EntityLoad<'m, T: CachedEntity> {
    memory: &'m EntityMemory,
    ids: Vec<T::Id>,
    /// One per id, or empty if the entities will not be cached.
    tickets: Vec<LoadTicket>,
}

impl<'m, T: CachedEntity> EntityLoad<'m, T> {
    fn begin(memory: &'m EntityMemory, ids: Vec<T::Id>) -> Self {
        let mut state = memory.state.write();
        let is_remembered = memory.is_exact && state.is_following;
        let cache = T::cache_mut(&mut state);
        let is_remembered = is_remembered && !cache.is_off();
        let begun = ids.iter().filter(|_| is_remembered);
        let tickets = begun.map(|id| cache.begin(id)).collect();
        drop(state);
        Self { memory, ids, tickets }
    }

    /// Stores the entities and returns those that exist.
    fn finish(mut self, entities: Vec<Option<Arc<T>>>) -> Vec<(T::Id, Arc<T>)> {
        let tickets = std::mem::take(&mut self.tickets);
        if !tickets.is_empty() {
            let mut state = self.memory.state.write();
            let cache = T::cache_mut(&mut state);
            for ((id, ticket), entity) in self.ids.iter().zip(tickets).zip(&entities) {
                cache.finish(id, ticket, entity.clone());
            }
        }
        let ids = std::mem::take(&mut self.ids);
        ids.into_iter().zip(entities).filter_map(|(id, entity)| Some((id, entity?))).collect()
    }
}

impl<T: CachedEntity> Drop for EntityLoad<'_, T> {
    fn drop(&mut self) {
        if !self.tickets.is_empty() {
            let mut state = self.memory.state.write();
            let cache = T::cache_mut(&mut state);
            self.ids.iter().zip(&self.tickets).for_each(|(id, ticket)| cache.abandon(id, *ticket));
        }
    }
}

/// Applies a change, if the entity is cached or being loaded.
pub(super) fn update_cached<T: CachedEntity>(
    state: &mut EntityMemoryState,
    id: &T::Id,
    item: Option<&Item>,
) {
    let cache = T::cache_mut(state);
    if !cache.is_tracked(id) {
        return;
    }
    match item.map(T::from_item).transpose() {
        Ok(entity) => cache.update(id, entity.map(|entity| Arc::new(entity.remembered()))),
        Err(error) => {
            tracing::warn!(?id, %error, "cannot decode a change; dropping the cached entity");
            cache.remove(id);
        }
    }
}
