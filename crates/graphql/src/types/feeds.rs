//! Home feeds, as the API shows them.

use async_graphql::{Context, Enum, ID, Object};
use roundtable_model::{ActivityId, ActivityVerb, GroupId, ObjectType, SubjectId, Time, UserId};

use super::activities::{Activity, place};
use super::posts::Post;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::CounterOf;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// Something in the viewer's home feed.
#[derive(Clone, Debug)]
pub(crate) struct FeedEntry(pub(crate) roundtable_domain::FeedEntry);

impl From<roundtable_domain::FeedEntry> for FeedEntry {
    fn from(entry: roundtable_domain::FeedEntry) -> Self {
        Self(entry)
    }
}

/// How a page found an entry; never changes what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "roundtable_domain::FeedSource")]
pub(crate) enum FeedSource {
    /// Among what its actor did.
    FanIn,
    /// Among the copies in the reader's own feed.
    FanOut,
}

#[Object]
impl FeedEntry {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("FeedEntry", &place(&self.0.activity).each_ref().map(String::as_str))
    }

    async fn activity_id(&self) -> Id<&ActivityId> {
        Id(&self.0.activity.activity_id)
    }

    async fn actor_id(&self) -> Id<&UserId> {
        Id(&self.0.activity.actor_id)
    }

    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.activity.actor_id).await
    }

    async fn verb(&self) -> Word<ActivityVerb> {
        Word(self.0.activity.verb)
    }

    async fn object_type(&self) -> Word<ObjectType> {
        Word(self.0.activity.object_type)
    }

    async fn object_id(&self) -> Id<&SubjectId> {
        Id(&self.0.activity.object_id)
    }

    async fn activity(&self) -> Option<Activity> {
        Some(self.0.activity.clone().into())
    }

    /// The post it is about, or whose comment it is about.
    async fn post(&self) -> Option<Post> {
        self.0.post.clone().map(Post::from)
    }

    async fn group_id(&self) -> Option<Id<&GroupId>> {
        self.0.activity.group_id.as_ref().map(Id)
    }

    async fn preview_text(&self) -> Option<&str> {
        self.0.activity.preview_text.as_deref()
    }

    /// How this page found it; never changes what is shown.
    async fn source(&self) -> FeedSource {
        self.0.source.into()
    }

    /// Whether it was copied to those who follow its actor when it happened.
    async fn is_promoted(&self) -> bool {
        self.0.activity.fanout
    }

    async fn engagement_score(&self, ctx: &Context<'_>) -> Result<f64, Refused> {
        self.score(ctx).await
    }

    /// Engagement with age taken off, computed now.
    async fn rank(&self, ctx: &Context<'_>) -> Result<f64, Refused> {
        let now = Asked::of(ctx)?.services().ground.now();
        Ok(rank(self.score(ctx).await?, self.0.activity.created_at, now))
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.activity.created_at)
    }
}

impl FeedEntry {
    /// What people did with the post it is about.
    async fn score(&self, ctx: &Context<'_>) -> Result<f64, Refused> {
        let Some(post) = &self.0.post else { return Ok(0.0) };
        let counter = Asked::of(ctx)?.load.one(CounterOf(post.id.clone())).await?;
        Ok(counter.map_or(0.0, |counter| super::posts::score(&counter)))
    }
}

/// Hours after which a thing counts as one of a first, fresh age: what is minutes old is not worth many
/// times what is an hour old.
const FRESH_HOURS: f64 = 2.0;
/// How fast things grow old: after a day, a tenth is left of what they are worth after some hours.
const GRAVITY: f64 = 1.5;

/// What something is worth now. One that nobody did anything with yet still has an age.
#[expect(clippy::cast_precision_loss, reason = "ages of ages")]
fn rank(score: f64, created: Time, now: Time) -> f64 {
    let hours = now.ms().saturating_sub(created.ms()) as f64 / 3_600_000.0;
    (score + 1.0) / (hours + FRESH_HOURS).powf(GRAVITY)
}

/// The caller's home feed.
pub(crate) async fn home(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<FeedEntry>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, feeds) = (asked.caller()?, &asked.services().feeds);
    paging.read(ctx, "home feed", async |page| feeds.home(caller, page).await).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_ranks_lower_and_what_people_like_higher() {
        let at = |hours: u64| Time::from_ms(hours * 3_600_000);
        assert!(rank(5.0, at(9), at(10)) > rank(5.0, at(1), at(10)));
        assert!(rank(6.0, at(9), at(10)) > rank(5.0, at(9), at(10)));
        assert!(rank(0.0, at(11), at(10)).is_finite(), "clocks differ");
    }
}
