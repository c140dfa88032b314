//! Loaders that read for many items at once, so that a page never causes one read per item.

mod assistance;
mod batch_loader;
mod comments;
mod goals;
mod groups;
mod media;
mod notifications;
mod posts;
mod promotions;
mod rooms;
mod trade;
mod users;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::Caller;

pub(crate) use self::assistance::AssistMessageKey;
use self::batch_loader::BatchLoader;
pub(crate) use self::comments::{CommentEngagementKey, CommentKey};
pub(crate) use self::goals::{GoalKey, MilestoneKey, QuestKey, TaskKey};
pub(crate) use self::groups::MembershipKey;
pub(crate) use self::media::MediaUrlKey;
pub(crate) use self::posts::{
    ActivityKey, FeedEntryKey, LikeKey, PostCounterKey, PostViewerStateKey,
};
pub(crate) use self::promotions::PromotionKey;
pub(crate) use self::rooms::{MessageKey, RoomMembersKey};
pub(crate) use self::users::{FollowKey, FollowedByViewerKey, FollowsViewerKey, UserCountsKey};
use crate::ApiError;
use crate::services::Services;

/// Reads values for one viewer; hidden values are left out.
#[derive(Clone, Debug)]
pub(crate) struct ViewerLoader {
    services: Services,
    viewer: Option<Caller>,
}

/// The batching and caching loader of a request.
pub(crate) struct Loaders {
    viewer_loader: ViewerLoader,
    batch_loader: BatchLoader,
}

impl std::fmt::Debug for Loaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loaders")
    }
}

impl Loaders {
    pub(crate) fn new(services: &Services, viewer: Option<Caller>) -> Self {
        let viewer_loader = ViewerLoader { services: services.clone(), viewer };
        Self { viewer_loader, batch_loader: BatchLoader::default() }
    }

    /// Stops caching: a read after a change must not return a value from before it.
    pub(crate) fn disable_cache(&self) {
        self.batch_loader.disable_cache();
    }

    /// Returns the value of a key, if the viewer may see it.
    pub(crate) async fn load<K>(
        &self,
        key: K,
    ) -> Result<Option<<ViewerLoader as Loader<K>>::Value>, ApiError>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        ViewerLoader: Loader<K, Error = Arc<ApiError>>,
    {
        self.batch_loader.load(&self.viewer_loader, key).await.map_err(|error| (*error).clone())
    }
}

/// Pairs keys with their values and leaves out missing ones.
fn by_key<K: Hash + Eq + Clone, V>(
    keys: &[K],
    values: impl IntoIterator<Item = Option<V>>,
) -> HashMap<K, V> {
    keys.iter().zip(values).filter_map(|(key, value)| Some((key.clone(), value?))).collect()
}

/// Converts an error that concerns a whole batch.
fn batch_error<E>(error: E) -> Arc<ApiError>
where
    ApiError: From<E>,
{
    Arc::new(error.into())
}
