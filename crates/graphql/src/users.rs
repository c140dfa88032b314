//! Users: their type and queries.

use std::sync::Arc;

use roundtable_domain::{QuestFilter, UserCounts};
use roundtable_execution::{FieldError, SharedValue};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::table::Order;
use roundtable_model::{
    Email, EntityKind, GoalId, Handle, MediaKey, Nickname, QuestStatus, TaskId, UserId, entities,
};

use crate::activities::{self, Activity};
use crate::comments::{self, Comment};
use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::follows::{self, Follow};
use crate::goals::{self, Goal};
use crate::groups::{self, Group};
use crate::media;
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::posts::{self, Post};
use crate::quests::{self, Quest};
use crate::reactions::{self, Like};
use crate::request::RequestContext;
use crate::scalars::Url;
use crate::timelines::{self, TimelineEntity};

objects! {
    User of entities::User;
    /// The ActivityPub actor of a user.
    ActorInfo of entities::User;
}

impl From<Arc<entities::User>> for User {
    fn from(user: Arc<entities::User>) -> Self {
        Self(user)
    }
}

impl User {
    /// Returns users in the order of their ids; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[UserId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let read = async |ids: &[UserId]| {
            Ok(converted(context.services().accounts().people(context.viewer(), ids).await?))
        };
        context.users.get(ids, read).await
    }

    /// Returns a user for each id that is given.
    pub(crate) async fn load_given(
        context: &RequestContext,
        ids: &[Option<UserId>],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let given: Vec<UserId> = ids.iter().flatten().cloned().collect();
        let mut users = Self::load(context, &given).await?.into_iter();
        Ok(ids.iter().map(|id| id.as_ref().and_then(|_| users.next().flatten())).collect())
    }
}

fn ids(users: &[User]) -> Vec<UserId> {
    users.iter().map(|user| user.0.id.clone()).collect()
}

/// The counters of a user, if the viewer may see the user.
pub(crate) struct Counts(UserCounts);

impl SharedValue<User> for Counts {
    async fn read(users: &[User], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let counts = context.services().accounts().counts(context.viewer(), &ids(users)).await;
        let counts = counts.map_err(ApiError::from)?.into_iter();
        Ok(counts.map(|counts| Self(counts.unwrap_or_default())).collect())
    }
}

/// Whether the viewer follows a user.
pub(crate) struct FollowedByViewer(bool);

impl SharedValue<User> for FollowedByViewer {
    async fn read(users: &[User], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let Some(viewer) = context.viewer() else {
            return Ok(users.iter().map(|_| Self(false)).collect());
        };
        let followed = context.services().follows().followed(viewer, &ids(users)).await;
        Ok(followed.map_err(ApiError::from)?.into_iter().map(Self).collect())
    }
}

/// Whether a user follows the viewer.
pub(crate) struct FollowsViewer(bool);

impl SharedValue<User> for FollowsViewer {
    async fn read(users: &[User], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let Some(viewer) = context.viewer() else {
            return Ok(users.iter().map(|_| Self(false)).collect());
        };
        let followed_by = context.services().follows().followed_by(viewer, &ids(users)).await;
        Ok(followed_by.map_err(ApiError::from)?.into_iter().map(Self).collect())
    }
}

/// The temporary address of a user's picture.
pub(crate) struct PictureUrl(Option<Url>);

impl SharedValue<User> for PictureUrl {
    async fn read(users: &[User], context: &RequestContext) -> Result<Vec<Self>, FieldError> {
        let key = |user: &User| user.0.profile_image.as_ref().map(|image| image.s3_key.clone());
        let keys: Vec<MediaKey> = users.iter().filter_map(key).collect();
        let mut urls = media::urls(context, &keys).await?.into_iter();
        let url = |user: &User| match &user.0.profile_image {
            Some(_) => urls.next().flatten(),
            None => user.0.profile_image_url.as_deref().map(|url| Url(url.into())),
        };
        Ok(users.iter().map(url).map(Self).collect())
    }
}

#[object(of = self.0)]
impl User {
    fn node_id(&self) -> String {
        node_id("User", &[&self.0.id])
    }

    fn username(&self) -> &Nickname {
        &self.0.nickname
    }

    fn profile_image_url(picture: &PictureUrl) -> Option<Url> {
        picture.0.clone()
    }

    fn followers_count(counts: &Counts) -> u64 {
        counts.0.followers
    }

    fn following_count(counts: &Counts) -> u64 {
        counts.0.following
    }

    fn posts_count(counts: &Counts) -> u64 {
        counts.0.posts
    }

    fn xp(counts: &Counts) -> u64 {
        counts.0.xp
    }

    fn level(counts: &Counts) -> u64 {
        counts.0.level()
    }

    fn actor(&self) -> ActorInfo {
        ActorInfo(self.0.clone())
    }

    fn viewer_follows(followed: &FollowedByViewer) -> bool {
        followed.0
    }

    fn viewer_is_followed_by(follows: &FollowsViewer) -> bool {
        follows.0
    }

    async fn followers(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        Connection::empty_if_hidden(follows::list_followers(context, &self.0.id, paging).await)
    }

    async fn following(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Follow>, ApiError> {
        Connection::empty_if_hidden(follows::list_following(context, &self.0.id, paging).await)
    }

    async fn posts(
        &self,
        context: &RequestContext,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Post>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let list = posts::list_by_author(context, &self.0.id, order, paging).await;
        Connection::empty_if_hidden(list)
    }

    async fn likes(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Like>, ApiError> {
        let list = reactions::list_likes_by_user(context, &self.0.id, paging).await;
        Connection::empty_if_hidden(list)
    }

    async fn comments(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Comment>, ApiError> {
        Connection::empty_if_hidden(comments::list_by_user(context, &self.0.id, paging).await)
    }

    async fn activities(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Activity>, ApiError> {
        let actor = (&self.0.id).into();
        let list = activities::list_by_actor(context, &actor, Order::Descending, paging).await;
        Connection::empty_if_hidden(list)
    }

    async fn groups(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Group>, ApiError> {
        Connection::empty_if_hidden(groups::list_joined_by(context, &self.0.id, paging).await)
    }

    async fn goals(
        &self,
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Goal>, ApiError> {
        Connection::empty_if_hidden(goals::list_goals(context, &self.0.id, paging).await)
    }

    async fn quests(
        &self,
        context: &RequestContext,
        status: Option<QuestStatus>,
        linked_goal_id: Option<GoalId>,
        linked_task_id: Option<TaskId>,
        paging: PageArguments,
    ) -> Result<Connection<Quest>, ApiError> {
        let filter = QuestFilter { status, linked_goal_id, linked_task_id };
        Connection::empty_if_hidden(quests::list_quests(context, &self.0.id, filter, paging).await)
    }

    async fn timeline(
        &self,
        context: &RequestContext,
        entity: Option<EntityKind>,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<TimelineEntity>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        let list = timelines::list_timeline(context, &self.0.id, entity, order, paging).await;
        Connection::empty_if_hidden(list)
    }
}

#[object(of = self.0)]
impl ActorInfo {}

pub(crate) struct UserQueries;

#[fields(Query)]
impl UserQueries {
    async fn me(context: &RequestContext) -> Result<Option<User>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(None) };
        Ok(context.services().accounts().me(caller).await?.map(User::from))
    }

    async fn get_user(context: &RequestContext, id: UserId) -> Result<Option<User>, ApiError> {
        Ok(only(User::load(context, &[id]).await?))
    }

    async fn get_user_by_nickname(
        context: &RequestContext,
        nickname: Nickname,
    ) -> Result<Option<User>, ApiError> {
        let accounts = context.services().accounts();
        Ok(accounts.by_nickname(context.viewer(), &nickname).await?.map(User::from))
    }

    async fn get_user_by_username(
        context: &RequestContext,
        username: Nickname,
    ) -> Result<Option<User>, ApiError> {
        let accounts = context.services().accounts();
        Ok(accounts.by_username(context.viewer(), &username).await?.map(User::from))
    }

    async fn get_user_by_handle(
        context: &RequestContext,
        handle: Handle,
    ) -> Result<Option<User>, ApiError> {
        let accounts = context.services().accounts();
        Ok(accounts.by_handle(context.viewer(), &handle).await?.map(User::from))
    }

    async fn get_user_by_email(
        context: &RequestContext,
        email: Email,
    ) -> Result<Option<User>, ApiError> {
        let accounts = context.services().accounts();
        Ok(accounts.by_email(context.viewer(), &email).await?.map(User::from))
    }
}
