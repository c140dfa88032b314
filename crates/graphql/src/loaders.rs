//! What the fields of many items need, looked up for all of them at once: no page causes one read for
//! each of its items.

mod comments;
mod goals;
mod groups;
mod help;
mod media;
mod notifications;
mod people;
mod posts;
mod promotions;
mod rooms;
mod rounds;
mod trade;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::Caller;

pub(crate) use self::comments::{CommentMarksOf, CommentOn};
pub(crate) use self::goals::{GoalOf, MilestoneOf, QuestOf, TaskOf};
pub(crate) use self::groups::MembershipOf;
pub(crate) use self::help::SaidIn;
pub(crate) use self::media::AddressOf;
pub(crate) use self::people::{CountsOf, FollowOf, FollowedByViewer, FollowsViewer};
pub(crate) use self::posts::{ActivityAt, CounterOf, FeedEntryAt, LikeOf, MarksOf};
pub(crate) use self::promotions::PromotionOf;
pub(crate) use self::rooms::{MemberIdsOf, MessageAt};
use self::rounds::Rounds;
use crate::Refused;
use crate::services::Services;

/// Looks things up for one viewer. What is looked up is kept until the request is answered.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    services: Services,
    viewer: Option<Caller>,
}

/// The loader of a request.
pub(crate) struct Loaders {
    look: Look,
    rounds: Rounds,
}

impl std::fmt::Debug for Loaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loaders")
    }
}

impl Loaders {
    pub(crate) fn new(services: &Services, viewer: Option<Caller>) -> Self {
        Self { look: Look { services: services.clone(), viewer }, rounds: Rounds::default() }
    }

    /// From now on nothing is kept: what is asked for after a change must not be from before it.
    pub(crate) fn keep_nothing(&self) {
        self.rounds.keep_nothing();
    }

    /// What is behind a key, if the viewer may see it.
    pub(crate) async fn one<K>(&self, key: K) -> Result<Option<<Look as Loader<K>>::Value>, Refused>
    where
        K: Send + Sync + Hash + Eq + Clone + 'static,
        Look: Loader<K, Error = Arc<Refused>>,
    {
        self.rounds.one(&self.look, key).await.map_err(|refused| (*refused).clone())
    }
}

/// What was found, by its key.
fn found<K: Hash + Eq + Clone, V>(
    keys: &[K],
    values: impl IntoIterator<Item = Option<V>>,
) -> HashMap<K, V> {
    keys.iter().zip(values).filter_map(|(key, value)| Some((key.clone(), value?))).collect()
}

/// A failure that concerns all of a batch.
fn shared<E>(error: E) -> Arc<Refused>
where
    Refused: From<E>,
{
    Arc::new(error.into())
}
