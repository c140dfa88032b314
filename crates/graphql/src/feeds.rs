//! Home feeds: the type of their entries, the query and the subscription.

use std::sync::Arc;

use roundtable_domain::{FeedError, FeedOrder, ResumePoint, feed_rank};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::entities::PostCounter;
use roundtable_model::{ActivityId, ActorId, PostId, Time, UserId};

use crate::activities::{Activity, activity_node_id};
use crate::connection::{Connection, PageArguments};
use crate::events::{EventStream, event_stream};
use crate::objects::{converted, objects};
use crate::posts::{self, Post, counters};
use crate::request::RequestContext;
use crate::users::User;

objects! {
    FeedEntry of roundtable_domain::FeedEntry;
}

impl FeedEntry {
    pub(crate) async fn load(
        context: &RequestContext,
        positions: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; positions.len()]) };
        Ok(converted(context.services().feeds.at(viewer, positions).await?))
    }
}

/// The engagement score of the post that an entry is about.
pub(crate) struct Score(f64);

impl SharedValue<FeedEntry> for Score {
    async fn read(
        entries: &[FeedEntry],
        context: &RequestContext,
    ) -> Result<Vec<Self>, FieldError> {
        let post = |entry: &FeedEntry| entry.0.post.as_ref().map(|post| post.id.clone());
        let ids: Vec<PostId> = entries.iter().filter_map(post).collect();
        let mut counters = counters(context, &ids).await?.into_iter();
        let score = |entry: &FeedEntry| {
            let counter: Option<PostCounter> = entry.0.post.as_ref().and_then(|_| counters.next());
            Self(counter.map_or(0.0, |counter| posts::score(&counter)))
        };
        Ok(entries.iter().map(score).collect())
    }
}

#[object(of = self.0.activity)]
impl FeedEntry {
    fn node_id(&self) -> String {
        activity_node_id("FeedEntry", &self.0.activity)
    }

    fn resume_after(&self, context: &RequestContext) -> ResumePoint<ActivityId> {
        context.services().bus.resume_point(self.0.activity.activity_id.clone())
    }

    fn actor(&self) -> &UserId {
        &self.0.activity.actor_id
    }

    #[expect(clippy::unnecessary_wraps, reason = "the contract lets it be null")]
    fn activity(&self) -> Option<Activity> {
        Some(self.0.activity.clone().into())
    }

    fn post(&self) -> Option<Post> {
        self.0.post.as_ref().map(|post| Post::from(Arc::clone(post)))
    }

    fn source(&self) -> roundtable_domain::FeedSource {
        self.0.source
    }

    fn is_promoted(&self) -> bool {
        self.0.activity.fanout
    }

    fn engagement_score(score: &Score) -> f64 {
        score.0
    }

    fn rank(&self, score: &Score, context: &RequestContext) -> f64 {
        feed_rank(score.0, self.0.activity.created_at, context.services().context.now())
    }
}

pub(crate) struct FeedQueries;

#[fields(Query)]
impl FeedQueries {
    async fn get_feed(
        context: &RequestContext,
        order: Option<FeedOrder>,
        paging: PageArguments,
    ) -> Result<Connection<FeedEntry>, ApiError> {
        let (caller, feeds) = (context.caller()?, &context.services().feeds);
        let order = order.unwrap_or_default();
        // A cursor of one order is none of the other.
        let list = match order {
            FeedOrder::Latest => "home feed",
            FeedOrder::Top => "home feed by rank",
        };
        let read = async |page: &_| {
            let entries = match order {
                FeedOrder::Latest => feeds.home(caller, page).await?,
                FeedOrder::Top => feeds.top(caller, page).await?,
            };
            let people = entries.items.iter().flat_map(|(entry, _)| &entry.people);
            let people = people.map(|user| (user.id.clone(), Arc::clone(user).into()));
            context.users.add(people).await;
            Ok::<_, FeedError>(entries)
        };
        paging.read(context, list, read).await
    }
}

pub(crate) struct FeedSubscriptions;

#[fields(Subscription)]
impl FeedSubscriptions {
    async fn on_feed_entry(
        context: &RequestContext,
        after: Option<ResumePoint<ActivityId>>,
    ) -> Result<EventStream<FeedEntry>, ApiError> {
        let live = context.services().feeds.live(context.caller()?, after.as_ref()).await?;
        Ok(event_stream(live, |entry| Some(entry.into())))
    }
}
