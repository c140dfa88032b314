//! Posts, comments, likes, shares and activities of a town.

use roundtable_domain::{
    Activities, Comments, Context, ContextParts, Entropy, LikeState, Likes, NewComment, NewPost,
    Notifications, Posts, Settings, ShareState, Shares,
};
use roundtable_model::entities::{Comment, Goal, Post, Quest, Task, User};
use roundtable_model::{
    CommentId, Entity, GoalId, GroupId, IdGenerator, ModerationStatus, PostId, QuestId, Score,
    TaskId, rekey, samples,
};

use crate::Town;

impl Town {
    pub fn posts(&self) -> Posts {
        Posts::new(self.context().clone())
    }

    pub fn comments(&self) -> Comments {
        Comments::new(self.context().clone())
    }

    pub fn likes(&self) -> Likes {
        Likes::new(self.context().clone())
    }

    pub fn shares(&self) -> Shares {
        Shares::new(self.context().clone())
    }

    pub fn notifications(&self) -> Notifications {
        Notifications::new(self.context().clone())
    }

    pub fn activities(&self) -> Activities {
        Activities::new(self.context().clone())
    }

    /// Creates a public post and advances the clock by a second, like all methods here.
    pub async fn post(&self, author: &str, content: &str) -> Post {
        self.post_as(author, NewPost::text(content)).await
    }

    pub async fn post_into(&self, author: &str, group: &GroupId, content: &str) -> Post {
        let input = NewPost { group_id: Some(group.clone()), ..NewPost::text(content) };
        self.post_as(author, input).await
    }

    pub async fn post_as(&self, author: &str, input: NewPost) -> Post {
        let post = self.posts().create(&self.caller(author), &input, None).await.unwrap();
        self.advance_ms(1_000);
        post
    }

    pub async fn comment(&self, author: &str, post: &PostId, content: &str) -> Comment {
        self.reply(author, post, None, content).await
    }

    pub async fn reply(
        &self,
        author: &str,
        post: &PostId,
        parent: Option<&CommentId>,
        content: &str,
    ) -> Comment {
        let input = NewComment {
            post_id: post.clone(),
            content: content.to_owned(),
            parent_comment_id: parent.cloned(),
        };
        let comment = self.comments().add(&self.caller(author), &input, None).await.unwrap();
        self.advance_ms(1_000);
        comment
    }

    pub async fn like(&self, name: &str, post: &PostId) -> LikeState {
        let liked = self.likes().like(&self.caller(name), post, None, None).await.unwrap();
        self.advance_ms(1_000);
        liked
    }

    pub async fn share(&self, name: &str, post: &PostId) -> ShareState {
        let shared = self.shares().share(&self.caller(name), post, None).await.unwrap();
        self.advance_ms(1_000);
        shared
    }

    /// Opens the same store in another process with other settings.
    pub async fn on_same_store(&self, settings: Settings) -> Context {
        let parts = ContextParts {
            store: self.context().store().clone(),
            clock: self.clock().clone(),
            ids: IdGenerator::new(self.clock().clone(), [6; 32]),
            entropy: Entropy::seeded([5; 32]),
            settings,
            fingerprint_key: [9; 32],
        };
        Context::open(parts).await.unwrap()
    }

    /// Makes an account private or public, without running the processors.
    pub async fn set_private(&self, name: &str, is_private: bool) {
        let patch = User::at(&self.id(name)).patch().set(User::IS_PRIVATE, &is_private);
        self.context().core().table().update(patch.into()).await.unwrap();
    }

    pub async fn stored_post(&self, id: &PostId) -> Post {
        self.context().core().post(id).get().await.unwrap().unwrap()
    }

    /// Writes the moderation status of a post directly.
    pub async fn set_post_status(&self, id: &PostId, status: ModerationStatus) {
        let before = self.stored_post(id).await;
        let after = Post { moderation_status: status, ..before.clone() };
        let rekey = rekey(&before, &after).unwrap();
        self.context().core().table().update(rekey).await.unwrap();
    }

    /// Writes the moderation status of a comment directly.
    pub async fn set_comment_status(&self, comment: &Comment, status: ModerationStatus) {
        let patch = comment.key().patch().set(Comment::MODERATION_STATUS, &status);
        self.context().core().table().update(patch.into()).await.unwrap();
    }

    /// Writes the score of a post directly, as the processors do.
    pub async fn set_score(&self, id: &PostId, score: u64) {
        let before = self.stored_post(id).await;
        let after = Post { score: Some(Score::new(score)), ..before.clone() };
        let rekey = rekey(&before, &after).unwrap();
        self.context().core().table().update(rekey).await.unwrap();
    }

    pub async fn goal(&self, name: &str, id: &str) -> GoalId {
        let goal = Goal { user_id: self.id(name), id: id.parse().unwrap(), ..samples::goal() };
        self.context().core().table().put(goal.create()).await.unwrap();
        goal.id
    }

    pub async fn task(&self, name: &str, goal: &GoalId, id: &str) -> TaskId {
        let task = Task {
            user_id: self.id(name),
            goal_id: goal.clone(),
            id: id.parse().unwrap(),
            ..samples::task()
        };
        self.context().core().table().put(task.create()).await.unwrap();
        task.id
    }

    pub async fn quest(&self, name: &str, id: &str) -> QuestId {
        let quest = Quest { user_id: self.id(name), id: id.parse().unwrap(), ..samples::quest() };
        self.context().core().table().put(quest.create()).await.unwrap();
        quest.id
    }
}
