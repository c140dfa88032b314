//! People, what is counted of them, and how the viewer stands to them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::Counts;
use roundtable_model::{UserId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<UserId> for Look {
    type Value = Arc<entities::User>;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[UserId]) -> Result<HashMap<UserId, Self::Value>, Arc<Refused>> {
        let people = self.services.accounts().people(self.viewer.as_ref(), ids).await;
        let people = people.map_err(shared)?.into_iter().map(|person| person.map(Arc::new));
        Ok(found(ids, people))
    }
}

/// What is counted of somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CountsOf(pub(crate) UserId);

impl Loader<CountsOf> for Look {
    type Value = Counts;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[CountsOf]) -> Result<HashMap<CountsOf, Counts>, Arc<Refused>> {
        let ids: Vec<UserId> = of.iter().map(|of| of.0.clone()).collect();
        let counts = self.services.accounts().counts(self.viewer.as_ref(), &ids).await;
        Ok(found(of, counts.map_err(shared)?))
    }
}

/// Whether somebody follows the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowsViewer(pub(crate) UserId);

impl Loader<FollowsViewer> for Look {
    type Value = bool;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[FollowsViewer],
    ) -> Result<HashMap<FollowsViewer, bool>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<UserId> = of.iter().map(|of| of.0.clone()).collect();
        let follow = self.services.follows().followed_by(caller, &ids).await.map_err(shared)?;
        Ok(found(of, follow.into_iter().map(Some)))
    }
}

/// Whether the viewer follows somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowedByViewer(pub(crate) UserId);

impl Loader<FollowedByViewer> for Look {
    type Value = bool;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[FollowedByViewer],
    ) -> Result<HashMap<FollowedByViewer, bool>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<UserId> = of.iter().map(|of| of.0.clone()).collect();
        let follow = self.services.follows().followed(caller, &ids).await.map_err(shared)?;
        Ok(found(of, follow.into_iter().map(Some)))
    }
}

/// A follow by its ends: who follows, and who is followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FollowOf(pub(crate) UserId, pub(crate) UserId);

impl Loader<FollowOf> for Look {
    type Value = entities::Follow;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[FollowOf],
    ) -> Result<HashMap<FollowOf, entities::Follow>, Arc<Refused>> {
        let ends: Vec<(UserId, UserId)> =
            of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let follows = self.services.follows().among(self.viewer.as_ref(), &ends).await;
        Ok(found(of, follows.map_err(shared)?))
    }
}
