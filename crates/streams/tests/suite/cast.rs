//! Users on any store, acting through the services.

use std::sync::Arc;

use roundtable_domain::{
    Accounts, Blocks, Caller, Comments, Context, Follows, Groups, Likes, NewComment, NewGroup,
    NewPost, Posts, Shares,
};
use roundtable_model::entities::{
    ApiKey, EmailLock, FeedHorizon, FeedItem, Goal, Group, NickLock, Notification, Post,
    RoomMember, Session, Task, Upload, User,
};
use roundtable_model::table::ManualClock;
use roundtable_model::{CommentId, Entity, GroupId, PostId, Role, UserId, UserStatus, samples};

use crate::facts::{all, everything, like};
use crate::test_store::TestStore;

/// The initial users; zoe's account is private.
const PEOPLE: [&str; 5] = ["quentin", "bo", "cleo", "mallory", "zoe"];

pub(crate) struct Cast {
    context: Context,
    clock: Arc<ManualClock>,
}

impl Cast {
    pub(crate) async fn new(store: &TestStore) -> Self {
        let cast = Self { context: store.context.clone(), clock: Arc::clone(&store.clock) };
        for name in PEOPLE {
            cast.add_user(name).await;
        }
        cast
    }

    pub(crate) async fn add_user(&self, name: &str) {
        let user = User {
            id: id(name),
            nickname: name.parse().unwrap(),
            email: Some(format!("{name}@example.com").parse().unwrap()),
            handle: None,
            roles: vec![Role::User],
            status: UserStatus::Active,
            is_private: name == "zoe",
            tags: Vec::new(),
            version: 1,
            ..samples::user()
        };
        self.put(&user).await;
        let (user_id, created_at) = (user.id, user.created_at);
        if let Some(email) = user.email {
            self.put(&EmailLock { email, user_id: user_id.clone(), created_at, proved_at: None })
                .await;
        }
        self.put(&NickLock { nickname: user.nickname, user_id, created_at }).await;
    }

    pub(crate) async fn follow(&self, follower: &str, followee: &str) {
        let follows = Follows::new(self.context.clone());
        follows.follow(&caller(follower), &id(followee), None).await.unwrap();
    }

    pub(crate) async fn like(&self, name: &str, post: &PostId) {
        let likes = Likes::new(self.context.clone());
        likes.like(&caller(name), post, None, None).await.unwrap();
    }

    pub(crate) async fn comment(
        &self,
        name: &str,
        post: &PostId,
        parent: Option<&CommentId>,
        text: &str,
    ) -> CommentId {
        let (post_id, content) = (post.clone(), text.to_owned());
        let input = NewComment { post_id, content, parent_comment_id: parent.cloned() };
        self.clock.advance_ms(1);
        let comments = Comments::new(self.context.clone());
        comments.add(&caller(name), &input, None).await.unwrap().id
    }

    async fn post(&self, author: &str, group: Option<&GroupId>, text: &str) -> PostId {
        self.clock.advance_ms(1);
        let input = NewPost { group_id: group.cloned(), ..NewPost::text(text) };
        let posts = Posts::new(self.context.clone());
        posts.create(&caller(author), &input, None).await.unwrap().id
    }

    async fn share(&self, name: &str, post: &PostId) {
        self.clock.advance_ms(1);
        let shares = Shares::new(self.context.clone());
        shares.share(&caller(name), post, None).await.unwrap();
    }

    /// A post with a tag and a like or two.
    pub(crate) async fn liked_post(&self, author: &str) -> PostId {
        let post = self.post(author, None, "The first snow #winter").await;
        self.like("bo", &post).await;
        self.comment("cleo", &post, None, "Lovely").await;
        post
    }

    /// A post with every kind of reaction.
    pub(crate) async fn busy_post(&self, author: &str) -> PostId {
        let post = self.liked_post(author).await;
        let comments = Comments::new(self.context.clone());
        let comment = self.comment("bo", &post, None, "Where is that?").await;
        let reply = self.comment(author, &post, Some(&comment), "In my garden").await;
        comments.like(&caller("cleo"), &comment, None, None).await.unwrap();
        comments.delete(&caller(author), &reply, None).await.unwrap();
        self.share("cleo", &post).await;
        let moderation = roundtable_domain::Moderation::new(self.context.clone());
        moderation.report_post(&caller("mallory"), &post, "cold", None).await.unwrap();
        moderation.report_comment(&caller("mallory"), &comment, "nosy", None).await.unwrap();
        post
    }

    /// A group with a member, and posts of both.
    pub(crate) async fn busy_group(&self, owner: &str, name: &str) -> GroupId {
        let groups = Groups::new(self.context.clone());
        let group = groups.create(&caller(owner), NewGroup::named(name), None).await.unwrap().id;
        groups.join(&caller("cleo"), &group, None).await.unwrap();
        let post = self.post(owner, Some(&group), "Bread is out #bread").await;
        self.like("cleo", &post).await;
        self.comment("cleo", &post, None, "On my way").await;
        self.post("cleo", Some(&group), "There is none left").await;
        group
    }

    /// Every kind of data that an account can have.
    pub(crate) async fn full_life(&self, name: &str) {
        self.social_life(name).await;
        let groups = Groups::new(self.context.clone());
        self.busy_group(name, "runners").await;
        let hermits = NewGroup::named("hermits");
        groups.create(&caller(name), hermits, None).await.unwrap();
        let bakers = self.busy_group("bo", "bakers").await;
        groups.join(&caller(name), &bakers, None).await.unwrap();
        let post = self.post(name, Some(&bakers), "I would have some cake").await;
        self.like("bo", &post).await;
        self.busy_post(name).await;
        let others = self.busy_post("bo").await;
        self.like(name, &others).await;
        self.share(name, &others).await;
        let opinion = self.comment(name, &others, None, "I have an opinion").await;
        self.comment("bo", &others, Some(&opinion), "I beg to differ").await;
        let comments = Comments::new(self.context.clone());
        comments.like(&caller("cleo"), &opinion, None, None).await.unwrap();
        let moderation = roundtable_domain::Moderation::new(self.context.clone());
        moderation.report_comment(&caller("cleo"), &opinion, "loud", None).await.unwrap();
        self.belongings(name).await;
    }

    async fn social_life(&self, name: &str) {
        for other in ["bo", "cleo"] {
            self.follow(name, other).await;
            self.follow(other, name).await;
        }
        self.follow(name, "zoe").await;
        self.follow("mallory", name).await;
        let blocks = Blocks::new(self.context.clone());
        self.add_user("trent").await;
        blocks.block(&caller(name), &id("trent"), None).await.unwrap();
        self.add_user("victor").await;
        blocks.block(&caller("victor"), &id(name), None).await.unwrap();
    }

    /// Private data of an account.
    async fn belongings(&self, name: &str) {
        let user_id = id(name);
        let goal = Goal { user_id: user_id.clone(), ..samples::goal() };
        let task = Task { user_id: user_id.clone(), goal_id: goal.id.clone(), ..samples::task() };
        self.put(&goal).await;
        self.put(&task).await;
        self.put(&Session { user_id: user_id.clone(), ttl: later(), ..samples::session() }).await;
        self.put(&ApiKey { user_id: user_id.clone(), ttl: None, ..samples::api_key() }).await;
        self.put(&Upload { user_id: user_id.clone(), ttl: None, ..samples::upload() }).await;
        let told =
            Notification { user_id: user_id.clone(), ttl: later(), ..samples::notification() };
        self.put(&told).await;
        let item = FeedItem { follower_id: user_id.clone(), ttl: later(), ..samples::feed_item() };
        self.put(&item).await;
        self.put(&FeedHorizon { user_id: user_id.clone(), ..samples::feed_horizon() }).await;
        self.put(&RoomMember { user_id, ..samples::room_member() }).await;
    }

    pub(crate) async fn delete_post(&self, author: &str, post: &PostId) {
        let posts = Posts::new(self.context.clone());
        posts.delete(&caller(author), post, None).await.unwrap();
    }

    pub(crate) async fn delete_group(&self, owner: &str, group: &GroupId) {
        let groups = Groups::new(self.context.clone());
        groups.delete(&caller(owner), group, None).await.unwrap();
    }

    pub(crate) async fn delete_account(&self, name: &str) {
        let accounts = Accounts::new(self.context.clone());
        let caller = caller(name).with_password_at(self.context.now());
        accounts.delete_account(&caller, &name.parse().unwrap()).await.unwrap();
    }

    /// A like by a request that was running when its account was deleted.
    pub(crate) async fn like_late(&self, name: &str) {
        let post = Post { id: "late".parse().unwrap(), author_id: id("bo"), ..samples::post() };
        self.put(&Post { score: None, version: 1, ..post }).await;
        self.put(&like("late", name)).await;
    }

    pub(crate) async fn owner_of(&self, name: &str) -> Option<String> {
        let groups: Vec<Group> = all(&everything(&self.context).await);
        groups.iter().find(|group| group.name == name).map(|group| group.owner_id.to_string())
    }

    async fn put<E: Entity>(&self, entity: &E) {
        self.context.core().table().put(entity.create()).await.unwrap();
    }
}

fn id(name: &str) -> UserId {
    name.parse().unwrap()
}

fn caller(name: &str) -> Caller {
    Caller::user(id(name))
}

fn later() -> roundtable_model::Expiry {
    let year_ms = 365 * 24 * 60 * 60 * 1000;
    roundtable_model::Expiry::at(roundtable_model::Time::from_ms(
        crate::test_store::BEGIN_MS + 99 * year_ms,
    ))
}
