//! Posts, people and groups by their ids: from memory, or read and remembered.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_model::entities::{Group, Post, User};
use roundtable_model::table::Item;
use roundtable_model::{Answer, GroupId, Lookups, PostId, UserId};

use super::super::known::{Known, Weighed};
use super::super::loads::Ticket;
use super::{Memory, State};
use crate::{Failure, Ground};

/// What is remembered by its id.
pub(super) trait Thing: Answer + Weighed + Send + Sync + 'static {
    /// What it is known by.
    type Id: Clone + Eq + Ord + Hash + Send + Sync + std::fmt::Debug;

    fn known(state: &State) -> &Known<Self::Id, Self>;
    fn known_mut(state: &mut State) -> &mut Known<Self::Id, Self>;
    fn look_up<'g>(ground: &'g Ground, ids: &[Self::Id]) -> Lookups<'g, Self>;
}

impl Memory {
    /// Those of the posts that are there, as they are now.
    pub(crate) async fn posts(
        &self,
        ground: &Ground,
        ids: &[PostId],
    ) -> Result<HashMap<PostId, Arc<Post>>, Failure> {
        self.things(ground, ids).await
    }

    /// Those of the people whose profiles are there, as they are now.
    pub(crate) async fn people(
        &self,
        ground: &Ground,
        ids: &[UserId],
    ) -> Result<HashMap<UserId, Arc<User>>, Failure> {
        self.things(ground, ids).await
    }

    /// Those of the groups that are there, as they are now.
    pub(crate) async fn groups(
        &self,
        ground: &Ground,
        ids: &[GroupId],
    ) -> Result<HashMap<GroupId, Arc<Group>>, Failure> {
        self.things(ground, ids).await
    }

    async fn things<T: Thing>(
        &self,
        ground: &Ground,
        ids: &[T::Id],
    ) -> Result<HashMap<T::Id, Arc<T>>, Failure> {
        let mut found = HashMap::with_capacity(ids.len());
        let mut unknown = Vec::new();
        {
            let state = self.state.read();
            let known = T::known(&state);
            for id in ids {
                match known.get(id) {
                    Some(Some(thing)) => drop(found.insert(id.clone(), Arc::clone(thing))),
                    Some(None) => {}
                    None => unknown.push(id.clone()),
                }
            }
        }
        if unknown.is_empty() {
            return Ok(found);
        }
        unknown.sort_unstable();
        unknown.dedup();
        let loading = Loading::begin(self, unknown);
        let read = T::look_up(ground, &loading.ids);
        let read = if self.is_exact { read.strong() } else { read };
        let things = read.get().await?.into_iter().map(|thing| thing.map(Arc::new)).collect();
        found.extend(loading.finish(things));
        Ok(found)
    }
}

/// Things that are being read. When it is dropped before they are, nobody waits for them.
struct Loading<'m, T: Thing> {
    memory: &'m Memory,
    ids: Vec<T::Id>,
    /// One for each, or none when they will not be remembered.
    tickets: Vec<Ticket>,
}

impl<'m, T: Thing> Loading<'m, T> {
    fn begin(memory: &'m Memory, ids: Vec<T::Id>) -> Self {
        let mut state = memory.state.write();
        let is_remembered = memory.is_exact && state.is_listening;
        let known = T::known_mut(&mut state);
        let is_remembered = is_remembered && !known.is_off();
        let begun = ids.iter().filter(|_| is_remembered);
        let tickets = begun.map(|id| known.begin(id)).collect();
        drop(state);
        Self { memory, ids, tickets }
    }

    /// The things that are there.
    fn finish(mut self, things: Vec<Option<Arc<T>>>) -> Vec<(T::Id, Arc<T>)> {
        let tickets = std::mem::take(&mut self.tickets);
        if !tickets.is_empty() {
            let mut state = self.memory.state.write();
            let known = T::known_mut(&mut state);
            for ((id, ticket), thing) in self.ids.iter().zip(tickets).zip(&things) {
                known.finish(id, ticket, thing.clone());
            }
        }
        let ids = std::mem::take(&mut self.ids);
        ids.into_iter().zip(things).filter_map(|(id, thing)| Some((id, thing?))).collect()
    }
}

impl<T: Thing> Drop for Loading<'_, T> {
    fn drop(&mut self) {
        if !self.tickets.is_empty() {
            let mut state = self.memory.state.write();
            let known = T::known_mut(&mut state);
            self.ids.iter().zip(&self.tickets).for_each(|(id, ticket)| known.abandon(id, *ticket));
        }
    }
}

/// Hears what has become of a thing, if anybody wants to know.
pub(super) fn learn<T: Thing>(state: &mut State, id: &T::Id, item: Option<&Item>) {
    let known = T::known_mut(state);
    if !known.concerns(id) {
        return;
    }
    match item.map(T::from_item).transpose() {
        Ok(thing) => known.learn(id, thing.map(Arc::new)),
        Err(error) => {
            tracing::warn!(?id, %error, "a change cannot be read: feeds forget it");
            known.forget(id);
        }
    }
}

impl Thing for Post {
    type Id = PostId;

    fn known(state: &State) -> &Known<PostId, Self> {
        &state.posts
    }

    fn known_mut(state: &mut State) -> &mut Known<PostId, Self> {
        &mut state.posts
    }

    fn look_up<'g>(ground: &'g Ground, ids: &[PostId]) -> Lookups<'g, Self> {
        ground.core().posts(ids)
    }
}

impl Thing for User {
    type Id = UserId;

    fn known(state: &State) -> &Known<UserId, Self> {
        &state.people
    }

    fn known_mut(state: &mut State) -> &mut Known<UserId, Self> {
        &mut state.people
    }

    fn look_up<'g>(ground: &'g Ground, ids: &[UserId]) -> Lookups<'g, Self> {
        ground.core().profiles(ids)
    }
}

impl Thing for Group {
    type Id = GroupId;

    fn known(state: &State) -> &Known<GroupId, Self> {
        &state.groups
    }

    fn known_mut(state: &mut State) -> &mut Known<GroupId, Self> {
        &mut state.groups
    }

    fn look_up<'g>(ground: &'g Ground, ids: &[GroupId]) -> Lookups<'g, Self> {
        ground.core().groups(ids)
    }
}

/// A short text on the heap: a nickname, a tag.
const SHORT: usize = 24;

impl Weighed for Post {
    fn bytes(&self) -> usize {
        let lists = (self.hashtags.len() + self.mentions.len() + self.audience.len()) * 2 * SHORT;
        size_of::<Self>() + self.content.len() + self.media.len() * 8 * SHORT + lists + 2 * SHORT
    }
}

impl Weighed for User {
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

impl Weighed for Group {
    fn bytes(&self) -> usize {
        let description = self.description.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.name.len() + description + self.tags.len() * 2 * SHORT
    }
}
