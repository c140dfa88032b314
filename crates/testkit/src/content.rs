//! What the people of a town write, like and share, and what becomes of it.

use roundtable_domain::{
    Activities, Chance, Comments, Ground, Liked, Likes, NewComment, NewPost, Parts, Posts,
    Settings, Shared, Shares,
};
use roundtable_model::entities::{Comment, Goal, Post, Quest, Task, User};
use roundtable_model::{
    CommentId, Entity, GoalId, GroupId, Ids, ModerationStatus, PostId, QuestId, Score, TaskId,
    rekey, samples,
};

use crate::Town;

impl Town {
    /// The posts of this town.
    pub fn posts(&self) -> Posts {
        Posts::new(self.ground().clone())
    }

    /// The comments of this town.
    pub fn comments(&self) -> Comments {
        Comments::new(self.ground().clone())
    }

    /// The likes of this town.
    pub fn likes(&self) -> Likes {
        Likes::new(self.ground().clone())
    }

    /// The shares of this town.
    pub fn shares(&self) -> Shares {
        Shares::new(self.ground().clone())
    }

    /// The activities of this town.
    pub fn activities(&self) -> Activities {
        Activities::new(self.ground().clone())
    }

    /// Somebody posts a text for everybody; a second passes.
    pub async fn post(&self, author: &str, content: &str) -> Post {
        self.post_as(author, NewPost::text(content)).await
    }

    /// Somebody posts a text into a group; a second passes.
    pub async fn post_into(&self, author: &str, group: &GroupId, content: &str) -> Post {
        let input = NewPost { group_id: Some(group.clone()), ..NewPost::text(content) };
        self.post_as(author, input).await
    }

    /// Somebody posts something; a second passes.
    pub async fn post_as(&self, author: &str, input: NewPost) -> Post {
        let post = self.posts().create(&self.caller(author), &input, None).await.unwrap();
        self.pass_ms(1_000);
        post
    }

    /// Somebody comments on a post; a second passes.
    pub async fn comment(&self, author: &str, post: &PostId, content: &str) -> Comment {
        self.reply(author, post, None, content).await
    }

    /// Somebody answers a comment; a second passes.
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
        self.pass_ms(1_000);
        comment
    }

    /// Somebody likes a post; a second passes.
    pub async fn like(&self, name: &str, post: &PostId) -> Liked {
        let liked = self.likes().like(&self.caller(name), post, None, None).await.unwrap();
        self.pass_ms(1_000);
        liked
    }

    /// Somebody shares a post; a second passes.
    pub async fn share(&self, name: &str, post: &PostId) -> Shared {
        let shared = self.shares().share(&self.caller(name), post, None).await.unwrap();
        self.pass_ms(1_000);
        shared
    }

    /// The same store, as a process with other settings stands on it.
    pub async fn on_same_store(&self, settings: Settings) -> Ground {
        let parts = Parts {
            store: self.ground().store().clone(),
            clock: self.clock().clone(),
            ids: Ids::new(self.clock().clone(), [6; 32]),
            chance: Chance::seeded([5; 32]),
            settings,
            fingerprint_key: [9; 32],
        };
        Ground::open(parts).await.unwrap()
    }

    /// Somebody's account turns private, or public again; nothing has followed from it yet.
    pub async fn set_private(&self, name: &str, is_private: bool) {
        let patch = User::at(&self.id(name)).patch().set(User::IS_PRIVATE, &is_private);
        self.ground().core().table().update(patch.into()).await.unwrap();
    }

    /// A post as it is stored.
    pub async fn stored_post(&self, id: &PostId) -> Post {
        self.ground().core().post(id).get().await.unwrap().unwrap()
    }

    /// What a decision of moderators does to a post.
    pub async fn set_post_status(&self, id: &PostId, status: ModerationStatus) {
        let before = self.stored_post(id).await;
        let after = Post { moderation_status: status, ..before.clone() };
        let rekey = rekey(&before, &after).unwrap();
        self.ground().core().table().update(rekey).await.unwrap();
    }

    /// What a decision of moderators does to a comment.
    pub async fn set_comment_status(&self, comment: &Comment, status: ModerationStatus) {
        let patch = comment.key().patch().set(Comment::MODERATION_STATUS, &status);
        self.ground().core().table().update(patch.into()).await.unwrap();
    }

    /// What the processors do when a post becomes more or less popular.
    pub async fn set_score(&self, id: &PostId, score: u64) {
        let before = self.stored_post(id).await;
        let after = Post { score: Some(Score::new(score)), ..before.clone() };
        let rekey = rekey(&before, &after).unwrap();
        self.ground().core().table().update(rekey).await.unwrap();
    }

    /// Somebody's goal.
    pub async fn goal(&self, name: &str, id: &str) -> GoalId {
        let goal = Goal { user_id: self.id(name), id: id.parse().unwrap(), ..samples::goal() };
        self.ground().core().table().put(goal.create()).await.unwrap();
        goal.id
    }

    /// A task of somebody's goal.
    pub async fn task(&self, name: &str, goal: &GoalId, id: &str) -> TaskId {
        let task = Task {
            user_id: self.id(name),
            goal_id: goal.clone(),
            id: id.parse().unwrap(),
            ..samples::task()
        };
        self.ground().core().table().put(task.create()).await.unwrap();
        task.id
    }

    /// Somebody's quest.
    pub async fn quest(&self, name: &str, id: &str) -> QuestId {
        let quest = Quest { user_id: self.id(name), id: id.parse().unwrap(), ..samples::quest() };
        self.ground().core().table().put(quest.create()).await.unwrap();
        quest.id
    }
}
