//! The GraphQL type of home feed entries, and their rank.

use async_graphql::{Context, Enum, ID, Object};
use roundtable_model::{ActivityId, ActivityVerb, GroupId, ObjectType, SubjectId, Time, UserId};

use super::activities::{Activity, node_id_parts};
use super::posts::Post;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::PostCounterKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct FeedEntry(pub(crate) roundtable_domain::FeedEntry);

impl From<roundtable_domain::FeedEntry> for FeedEntry {
    fn from(entry: roundtable_domain::FeedEntry) -> Self {
        Self(entry)
    }
}

/// The way in which a page found an entry; it never affects the entry's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "roundtable_domain::FeedSource")]
pub(crate) enum FeedSource {
    /// Read from the activities of its actor.
    FanIn,
    /// Read from the copies in the reader's feed.
    FanOut,
}

#[Object]
impl FeedEntry {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("FeedEntry", &node_id_parts(&self.0.activity).each_ref().map(String::as_str))
    }

    async fn activity_id(&self) -> ApiId<&ActivityId> {
        ApiId(&self.0.activity.activity_id)
    }

    async fn actor_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.activity.actor_id)
    }

    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.activity.actor_id).await
    }

    async fn verb(&self) -> EnumValue<ActivityVerb> {
        EnumValue(self.0.activity.verb)
    }

    async fn object_type(&self) -> EnumValue<ObjectType> {
        EnumValue(self.0.activity.object_type)
    }

    async fn object_id(&self) -> ApiId<&SubjectId> {
        ApiId(&self.0.activity.object_id)
    }

    async fn activity(&self) -> Option<Activity> {
        Some(self.0.activity.clone().into())
    }

    /// The post that the entry, or the comment it is about, belongs to.
    async fn post(&self) -> Option<Post> {
        self.0.post.clone().map(Post::from)
    }

    async fn group_id(&self) -> Option<ApiId<&GroupId>> {
        self.0.activity.group_id.as_ref().map(ApiId)
    }

    async fn preview_text(&self) -> Option<&str> {
        self.0.activity.preview_text.as_deref()
    }

    /// The way in which this page found the entry; it never affects the content.
    async fn source(&self) -> FeedSource {
        self.0.source.into()
    }

    /// True if the activity was copied to its actor's followers when it happened.
    async fn is_promoted(&self) -> bool {
        self.0.activity.fanout
    }

    async fn engagement_score(&self, ctx: &Context<'_>) -> Result<f64, ApiError> {
        self.score(ctx).await
    }

    /// The engagement score reduced by age, as of now.
    async fn rank(&self, ctx: &Context<'_>) -> Result<f64, ApiError> {
        let now = RequestContext::of(ctx)?.services().context.now();
        Ok(rank(self.score(ctx).await?, self.0.activity.created_at, now))
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.activity.created_at)
    }
}

impl FeedEntry {
    async fn score(&self, ctx: &Context<'_>) -> Result<f64, ApiError> {
        let Some(post) = &self.0.post else { return Ok(0.0) };
        let counter =
            RequestContext::of(ctx)?.loaders.load(PostCounterKey(post.id.clone())).await?;
        Ok(counter.map_or(0.0, |counter| super::posts::score(&counter)))
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

pub(crate) async fn home_feed(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<FeedEntry>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, feeds) = (context.caller()?, &context.services().feeds);
    paging.read(ctx, "home feed", async |page| feeds.home(caller, page).await).await
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
