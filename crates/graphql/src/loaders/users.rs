//! Loads users, their counts, and follows between them and the viewer.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::UserCounts;
use roundtable_model::{UserId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<UserId> for ViewerLoader {
    type Value = Arc<entities::User>;
    type Error = Arc<ApiError>;

    async fn load(&self, ids: &[UserId]) -> Result<HashMap<UserId, Self::Value>, Arc<ApiError>> {
        let users = self.services.accounts().people(self.viewer.as_ref(), ids).await;
        let users = users.map_err(batch_error)?.into_iter().map(|user| user.map(Arc::new));
        Ok(by_key(ids, users))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UserCountsKey(pub(crate) UserId);

impl Loader<UserCountsKey> for ViewerLoader {
    type Value = UserCounts;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[UserCountsKey],
    ) -> Result<HashMap<UserCountsKey, UserCounts>, Arc<ApiError>> {
        let ids: Vec<UserId> = keys.iter().map(|key| key.0.clone()).collect();
        let counts = self.services.accounts().counts(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, counts.map_err(batch_error)?))
    }
}

/// The user who may follow the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowsViewerKey(pub(crate) UserId);

impl Loader<FollowsViewerKey> for ViewerLoader {
    type Value = bool;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[FollowsViewerKey],
    ) -> Result<HashMap<FollowsViewerKey, bool>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<UserId> = keys.iter().map(|key| key.0.clone()).collect();
        let follow =
            self.services.follows().followed_by(caller, &ids).await.map_err(batch_error)?;
        Ok(by_key(keys, follow.into_iter().map(Some)))
    }
}

/// The user the viewer may follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowedByViewerKey(pub(crate) UserId);

impl Loader<FollowedByViewerKey> for ViewerLoader {
    type Value = bool;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[FollowedByViewerKey],
    ) -> Result<HashMap<FollowedByViewerKey, bool>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<UserId> = keys.iter().map(|key| key.0.clone()).collect();
        let follow = self.services.follows().followed(caller, &ids).await.map_err(batch_error)?;
        Ok(by_key(keys, follow.into_iter().map(Some)))
    }
}

/// The follower and the followee of a follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowKey(pub(crate) UserId, pub(crate) UserId);

impl Loader<FollowKey> for ViewerLoader {
    type Value = entities::Follow;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[FollowKey],
    ) -> Result<HashMap<FollowKey, entities::Follow>, Arc<ApiError>> {
        let ends: Vec<(UserId, UserId)> =
            keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let follows = self.services.follows().among(self.viewer.as_ref(), &ends).await;
        Ok(by_key(keys, follows.map_err(batch_error)?))
    }
}
