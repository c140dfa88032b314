//! Follows, as the API shows them.

use async_graphql::{Context, ID, Object};
use roundtable_model::{Day, FollowStatus, UserId, entities};

use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id, Url};
use crate::words::Word;

/// Somebody follows somebody.
#[derive(Clone, Debug)]
pub(crate) struct Follow(pub(crate) entities::Follow);

impl From<entities::Follow> for Follow {
    fn from(follow: entities::Follow) -> Self {
        Self(follow)
    }
}

#[Object]
impl Follow {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Follow", &[&self.0.follower_id.to_string(), &self.0.followee_id.to_string()])
    }

    async fn follower_id(&self) -> Id<&UserId> {
        Id(&self.0.follower_id)
    }

    async fn followee_id(&self) -> Id<&UserId> {
        Id(&self.0.followee_id)
    }

    async fn follower(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.follower_id).await
    }

    async fn followee(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.followee_id).await
    }

    async fn status(&self) -> Word<FollowStatus> {
        Word(self.0.status)
    }

    async fn muted(&self) -> bool {
        self.0.muted
    }

    async fn notification_enabled(&self) -> bool {
        self.0.notification_enabled
    }

    async fn activity_pub_id(&self) -> Option<Url> {
        self.0.activity_pub_id.clone().map(Url)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// Who follows somebody: the list is the same wherever it is asked for.
pub(crate) async fn followers(
    ctx: &Context<'_>,
    user: &UserId,
    paging: Paging,
) -> Result<Connection<Follow>, Refused> {
    let asked = Asked::of(ctx)?;
    let follows = asked.services().follows();
    let list = format!("followers of {user}");
    paging.read(ctx, &list, async |page| follows.followers(asked.viewer(), user, page).await).await
}

/// Whom somebody follows.
pub(crate) async fn following(
    ctx: &Context<'_>,
    user: &UserId,
    paging: Paging,
) -> Result<Connection<Follow>, Refused> {
    let asked = Asked::of(ctx)?;
    let follows = asked.services().follows();
    let list = format!("followed by {user}");
    paging.read(ctx, &list, async |page| follows.following(asked.viewer(), user, page).await).await
}

/// Who has asked to follow the caller.
pub(crate) async fn requests(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<Follow>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, follows) = (asked.caller()?, asked.services().follows());
    let list = "requests to follow";
    paging.read(ctx, list, async |page| follows.requests(caller, page).await).await
}

/// Who followed whom on a day.
pub(crate) async fn of_day(
    ctx: &Context<'_>,
    day: Day,
    paging: Paging,
) -> Result<Connection<Follow>, Refused> {
    let asked = Asked::of(ctx)?;
    let follows = asked.services().follows();
    let list = format!("follows of {day}");
    paging.read(ctx, &list, async |page| follows.activity_of(asked.viewer(), day, page).await).await
}
