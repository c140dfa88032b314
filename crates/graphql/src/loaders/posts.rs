//! Loads posts with their counters, likes, activities, feed entries and moderation cases.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::{FeedEntry, ModerationSubject, PostViewerState};
use roundtable_model::{ActivityId, ActorId, CaseId, PostId, Time, UserId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<PostId> for ViewerLoader {
    type Value = entities::Post;
    type Error = Arc<ApiError>;

    async fn load(&self, ids: &[PostId]) -> Result<HashMap<PostId, entities::Post>, Arc<ApiError>> {
        let posts = self.services.posts().posts(self.viewer.as_ref(), ids).await;
        Ok(by_key(ids, posts.map_err(batch_error)?))
    }
}

/// The key of the counter of a post that the viewer may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PostCounterKey(pub(crate) PostId);

impl Loader<PostCounterKey> for ViewerLoader {
    type Value = entities::PostCounter;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[PostCounterKey],
    ) -> Result<HashMap<PostCounterKey, entities::PostCounter>, Arc<ApiError>> {
        let ids: Vec<PostId> = keys.iter().map(|key| key.0.clone()).collect();
        let counters = self.services.posts().counters(&ids).await.map_err(batch_error)?;
        Ok(by_key(keys, counters.into_iter().map(Some)))
    }
}

/// The key of the viewer's like and share of a post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PostViewerStateKey(pub(crate) PostId);

impl Loader<PostViewerStateKey> for ViewerLoader {
    type Value = PostViewerState;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[PostViewerStateKey],
    ) -> Result<HashMap<PostViewerStateKey, PostViewerState>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<PostId> = keys.iter().map(|key| key.0.clone()).collect();
        let states =
            self.services.posts().viewer_states(caller, &ids).await.map_err(batch_error)?;
        Ok(by_key(keys, states.into_iter().map(Some)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LikeKey(pub(crate) PostId, pub(crate) UserId);

impl Loader<LikeKey> for ViewerLoader {
    type Value = entities::Like;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[LikeKey],
    ) -> Result<HashMap<LikeKey, entities::Like>, Arc<ApiError>> {
        let ids: Vec<(PostId, UserId)> =
            keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let likes = self.services.likes().among(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, likes.map_err(batch_error)?))
    }
}

/// The home of an activity (a user or a group), its time and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ActivityKey(pub(crate) ActorId, pub(crate) Time, pub(crate) ActivityId);

impl ActivityKey {
    fn tuples(keys: &[Self]) -> Vec<(ActorId, Time, ActivityId)> {
        keys.iter().map(|key| (key.0.clone(), key.1, key.2.clone())).collect()
    }
}

impl Loader<ActivityKey> for ViewerLoader {
    type Value = entities::Activity;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[ActivityKey],
    ) -> Result<HashMap<ActivityKey, entities::Activity>, Arc<ApiError>> {
        let ids = ActivityKey::tuples(keys);
        let activities = self.services.activities().at(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, activities.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FeedEntryKey(pub(crate) ActivityKey);

impl Loader<FeedEntryKey> for ViewerLoader {
    type Value = FeedEntry;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[FeedEntryKey],
    ) -> Result<HashMap<FeedEntryKey, FeedEntry>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<ActivityKey> = keys.iter().map(|key| key.0.clone()).collect();
        let entries = self.services.feeds.at(caller, &ActivityKey::tuples(&ids)).await;
        Ok(by_key(keys, entries.map_err(batch_error)?))
    }
}

impl Loader<CaseId> for ViewerLoader {
    type Value = ModerationSubject;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[CaseId],
    ) -> Result<HashMap<CaseId, ModerationSubject>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let cases = self.services.moderation().cases(caller, ids).await;
        Ok(by_key(ids, cases.map_err(batch_error)?))
    }
}
