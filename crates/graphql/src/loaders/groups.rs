//! Loads groups as the viewer sees them, and memberships.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::GroupView;
use roundtable_model::{GroupId, UserId, entities};

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<GroupId> for ViewerLoader {
    type Value = GroupView;
    type Error = Arc<ApiError>;

    async fn load(&self, ids: &[GroupId]) -> Result<HashMap<GroupId, GroupView>, Arc<ApiError>> {
        let views = self.services.groups().views(self.viewer.as_ref(), ids).await;
        Ok(by_key(ids, views.map_err(batch_error)?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MembershipKey(pub(crate) GroupId, pub(crate) UserId);

impl Loader<MembershipKey> for ViewerLoader {
    type Value = entities::GroupMember;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        keys: &[MembershipKey],
    ) -> Result<HashMap<MembershipKey, entities::GroupMember>, Arc<ApiError>> {
        let ids: Vec<(GroupId, UserId)> =
            keys.iter().map(|key| (key.0.clone(), key.1.clone())).collect();
        let members = self.services.groups().memberships(self.viewer.as_ref(), &ids).await;
        Ok(by_key(keys, members.map_err(batch_error)?))
    }
}
