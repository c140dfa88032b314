//! Lookups of posts, their counters, users, groups and uploads: from the cache, or loaded into it.

use std::hash::Hash;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use hashbrown::HashMap;
use roundtable_model::entities::{Group, Post, PostCounter, Upload, User};
use roundtable_model::table::Item;
use roundtable_model::{BatchLookup, FromItem, GroupId, MediaKey, PostId, Result, UserId};

use super::super::bounded_cache::{BoundedCache, MemorySize};
use super::super::pending_loads::LoadTicket;
use super::{FeedMemory, FeedMemoryState};
use crate::Context;
use crate::accounts::public_profile;
use crate::media::read_uploads;

/// An entity cached by id.
pub(super) trait CachedEntity: FromItem + MemorySize + Send + Sync + 'static {
    type Id: Clone + Eq + Ord + Hash + Send + Sync + std::fmt::Debug;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<Self::Id, Self>;
    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<Self::Id, Self>;
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

type EntityRead<'a, T> = BoxFuture<'a, Result<Vec<Option<T>>>>;

impl FeedMemory {
    /// Returns the posts that exist.
    pub(crate) async fn posts(
        &self,
        context: &Context,
        ids: &[PostId],
    ) -> Result<HashMap<PostId, Arc<Post>>> {
        self.entities(context, ids).await
    }

    /// Returns the profiles that exist, as the public sees them.
    pub(crate) async fn people(
        &self,
        context: &Context,
        ids: &[UserId],
    ) -> Result<HashMap<UserId, Arc<User>>> {
        self.entities(context, ids).await
    }

    /// Returns the groups that exist.
    pub(crate) async fn groups(
        &self,
        context: &Context,
        ids: &[GroupId],
    ) -> Result<HashMap<GroupId, Arc<Group>>> {
        self.entities(context, ids).await
    }

    /// Returns the counters of posts that have one.
    pub(crate) async fn post_counters(
        &self,
        context: &Context,
        ids: &[PostId],
    ) -> Result<HashMap<PostId, Arc<PostCounter>>> {
        self.entities(context, ids).await
    }

    /// Returns the uploads that exist.
    pub(crate) async fn uploads(
        &self,
        context: &Context,
        keys: &[MediaKey],
    ) -> Result<HashMap<MediaKey, Arc<Upload>>> {
        self.entities(context, keys).await
    }

    async fn entities<T: CachedEntity>(
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
        }
        self.lookups.count(ids.len(), missing.len());
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
    memory: &'m FeedMemory,
    ids: Vec<T::Id>,
    /// One per id, or empty if the entities will not be cached.
    tickets: Vec<LoadTicket>,
}

impl<'m, T: CachedEntity> EntityLoad<'m, T> {
    fn begin(memory: &'m FeedMemory, ids: Vec<T::Id>) -> Self {
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
    state: &mut FeedMemoryState,
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

impl CachedEntity for Post {
    type Id = PostId;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<PostId, Self> {
        &state.posts
    }

    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<PostId, Self> {
        &mut state.posts
    }

    fn read_all<'a>(context: &'a Context, ids: &'a [PostId], strong: bool) -> EntityRead<'a, Self> {
        look_up(context.core().posts(ids), strong)
    }
}

impl CachedEntity for User {
    type Id = UserId;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<UserId, Self> {
        &state.people
    }

    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<UserId, Self> {
        &mut state.people
    }

    fn read_all<'a>(context: &'a Context, ids: &'a [UserId], strong: bool) -> EntityRead<'a, Self> {
        look_up(context.core().profiles(ids), strong)
    }

    fn remembered(self) -> Self {
        public_profile(self)
    }
}

impl CachedEntity for Group {
    type Id = GroupId;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<GroupId, Self> {
        &state.groups
    }

    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<GroupId, Self> {
        &mut state.groups
    }

    fn read_all<'a>(
        context: &'a Context,
        ids: &'a [GroupId],
        strong: bool,
    ) -> EntityRead<'a, Self> {
        look_up(context.core().groups(ids), strong)
    }
}

impl CachedEntity for PostCounter {
    type Id = PostId;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<PostId, Self> {
        &state.post_counters
    }

    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<PostId, Self> {
        &mut state.post_counters
    }

    fn read_all<'a>(context: &'a Context, ids: &'a [PostId], strong: bool) -> EntityRead<'a, Self> {
        look_up(context.core().post_counters(ids), strong)
    }
}

impl CachedEntity for Upload {
    type Id = MediaKey;

    fn cache(state: &FeedMemoryState) -> &BoundedCache<MediaKey, Self> {
        &state.uploads
    }

    fn cache_mut(state: &mut FeedMemoryState) -> &mut BoundedCache<MediaKey, Self> {
        &mut state.uploads
    }

    /// Always strongly: a file that was detached must not be shown.
    fn read_all<'a>(context: &'a Context, keys: &'a [MediaKey], _: bool) -> EntityRead<'a, Self> {
        read_uploads(context, keys).boxed()
    }

    fn is_lasting(&self) -> bool {
        self.ttl.is_none()
    }
}

fn look_up<T: CachedEntity>(lookup: BatchLookup<'_, T>, strong: bool) -> EntityRead<'_, T> {
    let lookup = if strong { lookup.strong() } else { lookup };
    lookup.get().boxed()
}

/// The estimated size of a short text on the heap: a nickname, a tag.
const SHORT: usize = 24;

impl MemorySize for Post {
    fn bytes(&self) -> usize {
        let lists = (self.hashtags.len() + self.mentions.len() + self.audience.len()) * 2 * SHORT;
        size_of::<Self>() + self.content.len() + self.media.len() * 8 * SHORT + lists + 2 * SHORT
    }
}

impl MemorySize for User {
    fn bytes(&self) -> usize {
        let texts = [
            &self.full_name,
            &self.display_name,
            &self.country,
            &self.language,
            &self.gender,
            &self.pronouns,
            &self.bio,
            &self.profile_image_url,
            &self.public_key,
            &self.inbox_url,
            &self.outbox_url,
            &self.followers_url,
            &self.following_url,
            &self.domain,
        ];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let picture = self.profile_image.iter().len() * 8 * SHORT;
        let lists = self.tags.len() * 2 * SHORT + self.roles.len() + picture;
        size_of::<Self>() + texts + lists + self.preferred_username.len() + 3 * SHORT
    }
}

impl MemorySize for Group {
    fn bytes(&self) -> usize {
        let description = self.description.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.name.len() + description + self.tags.len() * 2 * SHORT
    }
}

impl MemorySize for PostCounter {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.seq.len() + SHORT
    }
}

impl MemorySize for Upload {
    fn bytes(&self) -> usize {
        let holder = self.holder.iter().len() * 2 * SHORT;
        let copy = self.copy.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.content_type.len() + copy + holder + 4 * SHORT
    }
}
