//! Posts, what is counted of them, what the viewer has done with them, and what tells of them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::{FeedEntry, PostMarks, Subject};
use roundtable_model::{ActivityId, ActorId, CaseId, PostId, Time, UserId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<PostId> for Look {
    type Value = entities::Post;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[PostId]) -> Result<HashMap<PostId, entities::Post>, Arc<Refused>> {
        let posts = self.services.posts().posts(self.viewer.as_ref(), ids).await;
        Ok(found(ids, posts.map_err(shared)?))
    }
}

/// What is counted of a post that the viewer has been shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CounterOf(pub(crate) PostId);

impl Loader<CounterOf> for Look {
    type Value = entities::PostCounter;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[CounterOf],
    ) -> Result<HashMap<CounterOf, entities::PostCounter>, Arc<Refused>> {
        let ids: Vec<PostId> = of.iter().map(|of| of.0.clone()).collect();
        let counters = self.services.posts().counters(&ids).await.map_err(shared)?;
        Ok(found(of, counters.into_iter().map(Some)))
    }
}

/// What the viewer has done with a post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MarksOf(pub(crate) PostId);

impl Loader<MarksOf> for Look {
    type Value = PostMarks;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[MarksOf]) -> Result<HashMap<MarksOf, PostMarks>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let ids: Vec<PostId> = of.iter().map(|of| of.0.clone()).collect();
        let marks = self.services.posts().marks(caller, &ids).await.map_err(shared)?;
        Ok(found(of, marks.into_iter().map(Some)))
    }
}

/// Somebody's like of a post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LikeOf(pub(crate) PostId, pub(crate) UserId);

impl Loader<LikeOf> for Look {
    type Value = entities::Like;
    type Error = Arc<Refused>;

    async fn load(&self, of: &[LikeOf]) -> Result<HashMap<LikeOf, entities::Like>, Arc<Refused>> {
        let places: Vec<(PostId, UserId)> =
            of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let likes = self.services.likes().among(self.viewer.as_ref(), &places).await;
        Ok(found(of, likes.map_err(shared)?))
    }
}

/// Where and when something happened, and what it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ActivityAt(pub(crate) ActorId, pub(crate) Time, pub(crate) ActivityId);

impl ActivityAt {
    fn places(of: &[Self]) -> Vec<(ActorId, Time, ActivityId)> {
        of.iter().map(|of| (of.0.clone(), of.1, of.2.clone())).collect()
    }
}

impl Loader<ActivityAt> for Look {
    type Value = entities::Activity;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[ActivityAt],
    ) -> Result<HashMap<ActivityAt, entities::Activity>, Arc<Refused>> {
        let places = ActivityAt::places(of);
        let activities = self.services.activities().at(self.viewer.as_ref(), &places).await;
        Ok(found(of, activities.map_err(shared)?))
    }
}

/// An entry of the viewer's home feed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FeedEntryAt(pub(crate) ActivityAt);

impl Loader<FeedEntryAt> for Look {
    type Value = FeedEntry;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[FeedEntryAt],
    ) -> Result<HashMap<FeedEntryAt, FeedEntry>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<ActivityAt> = of.iter().map(|of| of.0.clone()).collect();
        let entries = self.services.feeds.at(caller, &ActivityAt::places(&places)).await;
        Ok(found(of, entries.map_err(shared)?))
    }
}

impl Loader<CaseId> for Look {
    type Value = Subject;
    type Error = Arc<Refused>;

    async fn load(&self, ids: &[CaseId]) -> Result<HashMap<CaseId, Subject>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let cases = self.services.moderation().cases(caller, ids).await;
        Ok(found(ids, cases.map_err(shared)?))
    }
}
