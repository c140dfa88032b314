//! Loads comments, their counters and the viewer's likes of them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::CommentEngagement;
use roundtable_model::{CommentId, PostId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

/// By its id alone, a comment costs more than with its post.
impl Loader<CommentId> for ViewerLoader {
    type Value = entities::Comment;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[CommentId],
    ) -> Result<HashMap<CommentId, entities::Comment>, Arc<ApiError>> {
        let comments = self.services.comments().by_ids(self.viewer.as_ref(), ids).await;
        Ok(by_key(ids, comments.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommentKey(pub(crate) PostId, pub(crate) CommentId);

impl CommentKey {
    fn tuples(keys: &[Self]) -> Vec<(PostId, CommentId)> {
        keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect()
    }
}

impl Loader<CommentKey> for ViewerLoader {
    type Value = entities::Comment;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[CommentKey],
    ) -> Result<HashMap<CommentKey, entities::Comment>, Arc<ApiError>> {
        let ids = CommentKey::tuples(keys);
        let comments = self.services.comments().comments(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, comments.map_err(batch_error)?))
    }
}

/// The key of a comment's counters and the viewer's like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommentEngagementKey(pub(crate) CommentKey);

impl Loader<CommentEngagementKey> for ViewerLoader {
    type Value = CommentEngagement;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[CommentEngagementKey],
    ) -> Result<HashMap<CommentEngagementKey, CommentEngagement>, Arc<ApiError>> {
        let ids: Vec<_> = keys.iter().map(|key| key.0.clone()).collect();
        let ids = CommentKey::tuples(&ids);
        let engagement = self.services.comments().engagement(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, engagement.map_err(batch_error)?.into_iter().map(Some)))
    }
}
