//! Home feeds: the type of their entries, the query and the subscription.

use std::sync::Arc;

use roundtable_domain::{FeedError, ResumePoint};
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
        rank(score.0, self.0.activity.created_at, context.services().context.now())
    }
}

/// Hours added to every age, so that an entry of a few minutes does not rank many times above one of an
/// hour.
const FRESH_HOURS: f64 = 2.0;
/// The exponent of aging: after a day, an entry has a tenth of the rank that it has after some hours.
const GRAVITY: f64 = 1.5;

/// Returns the rank of an entry. Entries without engagement still differ by age.
#[expect(clippy::cast_precision_loss, reason = "only ages of millennia lose precision")]
fn rank(score: f64, created: Time, now: Time) -> f64 {
    let hours = now.ms().saturating_sub(created.ms()) as f64 / 3_600_000.0;
    (score + 1.0) / (hours + FRESH_HOURS).powf(GRAVITY)
}

pub(crate) struct FeedQueries;

#[fields(Query)]
impl FeedQueries {
    async fn get_feed(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<FeedEntry>, ApiError> {
        let (caller, feeds) = (context.caller()?, &context.services().feeds);
        let read = async |page: &_| {
            let entries = feeds.home(caller, page).await?;
            let people = entries.items.iter().flat_map(|(entry, _)| &entry.people);
            let people = people.map(|user| (user.id.clone(), Arc::clone(user).into()));
            context.users.add(people).await;
            Ok::<_, FeedError>(entries)
        };
        paging.read(context, "home feed", read).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_falls_with_age_and_rises_with_engagement() {
        let at = |hours: u64| Time::from_ms(hours * 3_600_000);
        assert!(rank(5.0, at(9), at(10)) > rank(5.0, at(1), at(10)));
        assert!(rank(6.0, at(9), at(10)) > rank(5.0, at(9), at(10)));
        assert!(rank(0.0, at(11), at(10)).is_finite(), "clocks differ");
    }
}
