//! People, as the API shows them.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, SimpleObject};
use roundtable_domain::QuestFilter;
use roundtable_model::table::Order;
use roundtable_model::{
    ActorType, EntityKind, GoalId, QuestStatus, Role, TaskId, Tier, UserId, UserStatus, entities,
};

use super::activities::Activity;
use super::comments::Comment;
use super::follows::Follow;
use super::goals::Goal;
use super::groups::Group;
use super::posts::Post;
use super::quests::Quest;
use super::reactions::Like;
use super::unions::TimelineEntity;
use super::{
    activities, comments, follows, goals, groups, media, posts, quests, reactions, unions,
};
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{CountsOf, FollowedByViewer, FollowsViewer};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{CalendarDate, DateTime, EmailAddress, Id, Url};
use crate::words::{ModelSortDirection, Word};

/// A person.
#[derive(Clone, Debug)]
pub(crate) struct User(pub(crate) Arc<entities::User>);

impl From<entities::User> for User {
    fn from(user: entities::User) -> Self {
        Self(Arc::new(user))
    }
}

impl User {
    /// Somebody, if the viewer may see them.
    pub(crate) async fn load(ctx: &Context<'_>, id: &UserId) -> Result<Option<Self>, Refused> {
        Ok(Asked::of(ctx)?.load.one(id.clone()).await?.map(Self))
    }
}

/// What somebody is in the fediverse.
#[derive(Debug, SimpleObject)]
pub(crate) struct ActorInfo {
    actor_type: Word<ActorType>,
    public_key: Option<String>,
    inbox_url: Option<Url>,
    outbox_url: Option<Url>,
    followers_url: Option<Url>,
    following_url: Option<Url>,
    preferred_username: String,
    domain: Option<String>,
}

#[Object]
impl User {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("User", &[&self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&UserId> {
        Id(&self.0.id)
    }

    async fn nickname(&self) -> String {
        self.0.nickname.to_string()
    }

    async fn username(&self) -> String {
        self.0.nickname.to_string()
    }

    async fn handle(&self) -> Option<String> {
        self.0.handle.as_ref().map(ToString::to_string)
    }

    async fn email(&self) -> Option<EmailAddress> {
        self.0.email.clone().map(EmailAddress)
    }

    async fn full_name(&self) -> Option<&str> {
        self.0.full_name.as_deref()
    }

    async fn display_name(&self) -> Option<&str> {
        self.0.display_name.as_deref()
    }

    async fn birth_date(&self) -> Option<CalendarDate> {
        self.0.birth_date.map(CalendarDate)
    }

    async fn status(&self) -> Word<UserStatus> {
        Word(self.0.status)
    }

    async fn country(&self) -> Option<&str> {
        self.0.country.as_deref()
    }

    async fn language(&self) -> Option<&str> {
        self.0.language.as_deref()
    }

    async fn gender(&self) -> Option<&str> {
        self.0.gender.as_deref()
    }

    async fn pronouns(&self) -> Option<&str> {
        self.0.pronouns.as_deref()
    }

    async fn bio(&self) -> Option<&str> {
        self.0.bio.as_deref()
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn tier(&self) -> Word<Tier> {
        Word(self.0.tier)
    }

    async fn roles(&self) -> Vec<Word<Role>> {
        self.0.roles.iter().copied().map(Word).collect()
    }

    async fn is_verified(&self) -> bool {
        self.0.is_verified
    }

    async fn is_private(&self) -> bool {
        self.0.is_private
    }

    /// Where their picture can be fetched for a while.
    async fn profile_image_url(&self, ctx: &Context<'_>) -> Result<Option<Url>, Refused> {
        match &self.0.profile_image {
            Some(picture) => media::address(ctx, &picture.s3_key).await,
            None => Ok(self.0.profile_image_url.clone().map(Url)),
        }
    }

    async fn followers_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counts(ctx).await?.followers)
    }

    async fn following_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counts(ctx).await?.following)
    }

    async fn posts_count(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counts(ctx).await?.posts)
    }

    /// Experience, from quests.
    async fn xp(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counts(ctx).await?.xp)
    }

    /// How far the experience has brought them.
    async fn level(&self, ctx: &Context<'_>) -> Result<u64, Refused> {
        Ok(self.counts(ctx).await?.level())
    }

    async fn actor(&self) -> ActorInfo {
        let user = entities::User::clone(&self.0);
        ActorInfo {
            actor_type: Word(user.actor_type),
            public_key: user.public_key,
            inbox_url: user.inbox_url.map(Url),
            outbox_url: user.outbox_url.map(Url),
            followers_url: user.followers_url.map(Url),
            following_url: user.following_url.map(Url),
            preferred_username: user.preferred_username,
            domain: user.domain,
        }
    }

    /// Whether the viewer follows them, and was accepted.
    async fn viewer_follows(&self, ctx: &Context<'_>) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        Ok(asked.load.one(FollowedByViewer(self.0.id.clone())).await?.unwrap_or(false))
    }

    /// Whether they follow the viewer.
    async fn viewer_is_followed_by(&self, ctx: &Context<'_>) -> Result<bool, Refused> {
        let asked = Asked::of(ctx)?;
        Ok(asked.load.one(FollowsViewer(self.0.id.clone())).await?.unwrap_or(false))
    }

    async fn followers(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(follows::followers(ctx, &self.0.id, paging).await)
    }

    async fn following(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Follow>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(follows::following(ctx, &self.0.id, paging).await)
    }

    /// What they have posted, the newest first unless asked otherwise.
    async fn posts(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        Connection::if_seen(posts::by(ctx, &self.0.id, order, paging).await)
    }

    /// What they like, the newest first.
    async fn likes(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Like>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(reactions::likes_by(ctx, &self.0.id, paging).await)
    }

    /// What they have commented, the newest first.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Comment>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(comments::by(ctx, &self.0.id, paging).await)
    }

    /// What they did outside groups, the newest first.
    async fn activities(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Activity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let actor = (&self.0.id).into();
        Connection::if_seen(activities::of(ctx, &actor, Order::Descending, paging).await)
    }

    /// The groups they are in, the one joined last first.
    async fn groups(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Group>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(groups::joined_by(ctx, &self.0.id, paging).await)
    }

    /// Their goals, for themselves.
    async fn goals(
        &self,
        ctx: &Context<'_>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Goal>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        Connection::if_seen(goals::goals(ctx, &self.0.id, paging).await)
    }

    /// Their quests, for themselves, the newest first.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn quests(
        &self,
        ctx: &Context<'_>,
        status: Option<Word<QuestStatus>>,
        linked_goal_id: Option<Id<GoalId>>,
        linked_task_id: Option<Id<TaskId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Quest>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let filter = QuestFilter {
            status: status.map(|word| word.0),
            linked_goal_id: linked_goal_id.map(|id| id.0),
            linked_task_id: linked_task_id.map(|id| id.0),
        };
        Connection::if_seen(quests::quests(ctx, &self.0.id, filter, paging).await)
    }

    /// Everything they did and made, the newest first unless asked otherwise.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn timeline(
        &self,
        ctx: &Context<'_>,
        entity: Option<Word<EntityKind>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<TimelineEntity>, Refused> {
        let paging = Paging::new(limit, next_token, first, after);
        let order = ModelSortDirection::or(sort_direction, Order::Descending);
        let entity = entity.map(|entity| entity.0);
        Connection::if_seen(unions::timeline(ctx, &self.0.id, entity, order, paging).await)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

impl User {
    async fn counts(&self, ctx: &Context<'_>) -> Result<roundtable_domain::Counts, Refused> {
        let counts = Asked::of(ctx)?.load.one(CountsOf(self.0.id.clone())).await?;
        Ok(counts.unwrap_or_default())
    }
}

/// Whom the caller has blocked.
pub(crate) async fn blocked(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<User>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, blocks) = (asked.caller()?, asked.services().blocks());
    paging.read(ctx, "blocked", async |page| blocks.list(caller, page).await).await
}
