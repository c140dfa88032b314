//! The entities in memory, and what each takes there.

use std::sync::Arc;

use futures::FutureExt as _;
use hashbrown::HashMap;
use roundtable_model::entities::{Group, Post, PostCounter, Upload, User, UserCounter};
use roundtable_model::{BatchLookup, GroupId, MediaKey, PostId, Result, Shard, UserCount, UserId};

use super::bounded_cache::{BoundedCache, MemorySize};
use super::lookup::{CachedEntity, EntityRead};
use super::{EntityMemory, EntityMemoryState};
use crate::Context;
use crate::accounts::public_profile;
use crate::media::read_uploads;

/// The parts of a user counter's key.
pub(crate) type UserCounterId = (UserId, UserCount, Shard);

impl EntityMemory {
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

    /// Returns the counters of users that exist.
    pub(crate) async fn user_counters(
        &self,
        context: &Context,
        ids: &[UserCounterId],
    ) -> Result<HashMap<UserCounterId, Arc<UserCounter>>> {
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
}

impl CachedEntity for Post {
    type Id = PostId;

    fn cache(state: &EntityMemoryState) -> &BoundedCache<PostId, Self> {
        &state.posts
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<PostId, Self> {
        &mut state.posts
    }

    fn read_all<'a>(context: &'a Context, ids: &'a [PostId], strong: bool) -> EntityRead<'a, Self> {
        look_up(context.core().posts(ids), strong)
    }
}

impl CachedEntity for User {
    type Id = UserId;

    fn cache(state: &EntityMemoryState) -> &BoundedCache<UserId, Self> {
        &state.people
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<UserId, Self> {
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

    fn cache(state: &EntityMemoryState) -> &BoundedCache<GroupId, Self> {
        &state.groups
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<GroupId, Self> {
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

    fn cache(state: &EntityMemoryState) -> &BoundedCache<PostId, Self> {
        &state.post_counters
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<PostId, Self> {
        &mut state.post_counters
    }

    fn read_all<'a>(context: &'a Context, ids: &'a [PostId], strong: bool) -> EntityRead<'a, Self> {
        look_up(context.core().post_counters(ids), strong)
    }
}

impl CachedEntity for UserCounter {
    type Id = UserCounterId;

    fn cache(state: &EntityMemoryState) -> &BoundedCache<UserCounterId, Self> {
        &state.user_counters
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<UserCounterId, Self> {
        &mut state.user_counters
    }

    fn read_all<'a>(
        context: &'a Context,
        ids: &'a [UserCounterId],
        strong: bool,
    ) -> EntityRead<'a, Self> {
        let places = ids.iter().map(|(user, of, shard)| Self::at(user, of, shard));
        if strong {
            context.items_at("counts_among", places)
        } else {
            context.items_at_eventual("counts_among", places)
        }
    }
}

impl CachedEntity for Upload {
    type Id = MediaKey;

    fn cache(state: &EntityMemoryState) -> &BoundedCache<MediaKey, Self> {
        &state.uploads
    }

    fn cache_mut(state: &mut EntityMemoryState) -> &mut BoundedCache<MediaKey, Self> {
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

impl MemorySize for UserCounter {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.seq.as_ref().map_or(0, String::len) + SHORT
    }
}

impl MemorySize for Upload {
    fn bytes(&self) -> usize {
        let holder = self.holder.iter().len() * 2 * SHORT;
        let copy = self.copy.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.content_type.len() + copy + holder + 4 * SHORT
    }
}
