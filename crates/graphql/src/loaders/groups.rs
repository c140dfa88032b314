//! Groups as the viewer sees them, and who is in them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::GroupView;
use roundtable_model::{GroupId, UserId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<GroupId> for Look {
    type Value = GroupView;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[GroupId]) -> Result<HashMap<GroupId, GroupView>, Arc<Refused>> {
        let views = self.services.groups().views(self.viewer.as_ref(), ids).await;
        Ok(found(ids, views.map_err(shared)?))
    }
}

/// Somebody's membership in a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MembershipOf(pub(crate) GroupId, pub(crate) UserId);

impl Loader<MembershipOf> for Look {
    type Value = entities::GroupMember;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[MembershipOf],
    ) -> Result<HashMap<MembershipOf, entities::GroupMember>, Arc<Refused>> {
        let places: Vec<(GroupId, UserId)> =
            of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let members = self.services.groups().memberships(self.viewer.as_ref(), &places).await;
        Ok(found(of, members.map_err(shared)?))
    }
}
