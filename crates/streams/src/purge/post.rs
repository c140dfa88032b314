//! Purges a deleted post: its reactions first, then its counter together with itself.

use std::collections::{BTreeSet, HashMap};

use roundtable_model::entities::{
    Activity, Comment, CommentCounter, ModerationCase, Post, PostCounter, ProfileActivity, Share,
    UserCounter,
};
use roundtable_model::table::{Delete, Item, Key, Transaction};
use roundtable_model::{
    ActivityId, ActorId, Entity, EntityKind, FromItem, GroupId, PostId, Shard, SubjectId, TYPE,
    Time, UserCount, rekey,
};

use super::Purge;
use super::sweep::{PAGE_ITEMS, belongings, remove};
use crate::Result;
use crate::jobs::PageOutcome;

/// Comments removed in one transaction, each with its counter.
const COMMENTS_AT_ONCE: usize = 50;

impl Purge {
    pub(super) async fn post_page(&self, id: &PostId) -> Result<PageOutcome> {
        let post = self.context.core().post(id).get().await?;
        if post.as_ref().is_some_and(|post| !post.is_deleted) {
            return Ok(PageOutcome::Done);
        }
        let more = self.purge_post_page(id, post.as_ref()).await?;
        Ok(if more { PageOutcome::Continue(String::new()) } else { PageOutcome::Done })
    }

    /// Removes a page of what a post leaves behind, and the post last. Returns whether there may be
    /// more.
    pub(super) async fn purge_post_page(&self, id: &PostId, post: Option<&Post>) -> Result<bool> {
        let except = [PostCounter::SHAPE.name];
        let found = belongings(&self.context, id, &except).await?;
        if !found.is_empty() {
            self.remove_reactions(found).await?;
            return Ok(true);
        }
        let Some(post) = post else {
            remove(&self.context, vec![PostCounter::at(id).into()]).await?;
            return Ok(false);
        };
        let mut related = self.activities_of(post).await?;
        related.push(ModerationCase::at(&id.into()).into());
        remove(&self.context, related).await?;
        let core = self.context.core().table();
        // A counter is never created again for a missing post, so the two must go together.
        let deletes = Transaction::new()
            .with(core, Delete::new(PostCounter::at(id)))
            .with(core, post.key().delete().when(Post::IS_DELETED.is(&true)));
        self.transact(deletes).await?;
        Ok(false)
    }

    /// Turns a post of a deleted account or group into a tombstone, so that it gets no new
    /// reactions, and returns the tombstone. Returns `None` if the post is gone.
    pub(super) async fn make_tombstone(&self, id: &PostId) -> Result<Option<Post>> {
        let core = self.context.core();
        let Some(post) = core.post(id).get().await? else { return Ok(None) };
        if post.is_deleted {
            return Ok(Some(post));
        }
        let now = self.context.now();
        let tombstone = Post {
            is_deleted: true,
            content: String::new(),
            media: Vec::new(),
            hashtags: Vec::new(),
            mentions: Vec::new(),
            updated_at: now,
            ..post.clone()
        };
        let table = core.table();
        let mut transaction = Transaction::new().with(table, rekey(&post, &tombstone)?);
        let (shards, subject) = (self.context.settings().shards.tags.0, SubjectId::from(id));
        let tags = core.tag_refs(&post.hashtags, shards, &EntityKind::Post, &subject).get().await?;
        for tag in tags.into_iter().flatten() {
            transaction = transaction.with(table, tag.key().delete());
        }
        let counter = UserCounter::at(&post.author_id, &UserCount::Posts, &Shard::ZERO);
        let counts =
            core.counts(&post.author_id, &[UserCount::Posts], roundtable_model::Shards::ONE);
        if counts.strong().get().await?.into_iter().flatten().next().is_some() {
            let less = counter.patch().add(UserCounter::COUNT, -1);
            transaction = transaction.with(table, less.set(UserCounter::UPDATED_AT, &now));
        }
        self.transact(transaction).await?;
        Ok(core.post(id).get().await?)
    }

    /// Removes reactions to a post. Comments go together with their counters, which are never
    /// created again without them.
    async fn remove_reactions(&self, found: Vec<(Key, Item)>) -> Result<()> {
        let (mut keys, mut comments) = (Vec::new(), Vec::new());
        for (key, item) in found {
            match item.text(TYPE).unwrap_or_default() {
                kind if kind == Comment::SHAPE.name => comments.push(Comment::from_item(&item)?),
                kind if kind == Share::SHAPE.name => {
                    keys.extend(share_activities(&Share::from_item(&item)?));
                    keys.push(key);
                }
                _ => keys.push(key),
            }
        }
        for comments in comments.chunks(COMMENTS_AT_ONCE) {
            self.remove_comments(comments).await?;
        }
        remove(&self.context, keys).await
    }

    /// Removes comments with their counters, cases, activities and tag references. Fails if a text was changed
    /// meanwhile, with its tags; the page is then repeated.
    pub(super) async fn remove_comments(&self, comments: &[Comment]) -> Result<()> {
        let core = self.context.core().table();
        let case = |comment: &Comment| ModerationCase::at(&(&comment.id).into()).into();
        let mut related: Vec<Key> = comments.iter().map(case).collect();
        let groups = self.groups_of_posts(comments).await?;
        let mut deletes = Transaction::new();
        for comment in comments {
            related.extend(self.tag_references_of(comment).await?);
            related.extend(self.activities_of_comment(comment, &groups).await?);
            let counter = CommentCounter::at(&comment.post_id, &comment.id);
            let same = Comment::CONTENT.is(&comment.content).or(Comment::CONTENT.absent());
            deletes = deletes
                .with(core, comment.key().delete().when(same))
                .with(core, Delete::new(counter));
        }
        remove(&self.context, related).await?;
        self.transact(deletes).await
    }

    /// Returns the groups of the posts that comments are on, as far as the posts exist.
    async fn groups_of_posts(&self, comments: &[Comment]) -> Result<HashMap<PostId, GroupId>> {
        let posts: BTreeSet<&PostId> = comments.iter().map(|comment| &comment.post_id).collect();
        let posts: Vec<PostId> = posts.into_iter().cloned().collect();
        let posts = self.context.core().posts(&posts).strong().get().await?.into_iter().flatten();
        Ok(posts.filter_map(|post| Some((post.id, post.group_id?))).collect())
    }

    /// Returns the keys of the activities about writing a comment. Others about it are removed as
    /// those about any deleted comment.
    async fn activities_of_comment(
        &self,
        comment: &Comment,
        groups: &HashMap<PostId, GroupId>,
    ) -> Result<Vec<Key>> {
        let group = groups.get(&comment.post_id).cloned();
        let home = Activity::home(&comment.user_id, &group);
        self.activities_about(&home, comment.created_at, &(&comment.id).into()).await
    }

    async fn tag_references_of(&self, comment: &Comment) -> Result<Vec<Key>> {
        if comment.tags().is_empty() {
            return Ok(Vec::new());
        }
        let (shards, id) = (self.context.settings().shards.tags.0, SubjectId::from(&comment.id));
        let core = self.context.core();
        let found = core.tag_refs(comment.tags(), shards, &EntityKind::Comment, &id).get().await?;
        Ok(found.into_iter().flatten().map(|reference| reference.key().into()).collect())
    }

    /// Removes a page of reactions to one comment. Returns whether there were any.
    pub(super) async fn remove_comment_reactions(&self, comment: &Comment) -> Result<bool> {
        let (core, case) = (self.context.core(), (&comment.id).into());
        let likes = core.likes_of_comment(&comment.post_id, &comment.id).limit(PAGE_ITEMS);
        let likes = likes.page().await?.items;
        let reports = core.reports(&comment.post_id, &case).strong().page().await?.items;
        let keys = likes.iter().map(|each| each.key().into());
        let keys: Vec<Key> = keys.chain(reports.iter().map(|each| each.key().into())).collect();
        let any = !keys.is_empty();
        remove(&self.context, keys).await?;
        Ok(any)
    }

    /// Returns the activities that announced a post.
    async fn activities_of(&self, post: &Post) -> Result<Vec<Key>> {
        let Some(at) = post.published_at else { return Ok(Vec::new()) };
        let home = Activity::home(&post.author_id, &post.group_id);
        self.activities_about(&home, at, &(&post.id).into()).await
    }

    /// Returns the keys of the activities about an object at one moment.
    async fn activities_about(
        &self,
        home: &ActorId,
        at: Time,
        object: &SubjectId,
    ) -> Result<Vec<Key>> {
        let then = self.context.core().activities_at(home, at).await?.into_iter();
        let about = then.filter(|(activity, _)| activity.object_id == *object);
        Ok(about.map(|(_, key)| key).collect())
    }

    pub(super) async fn transact(&self, transaction: Transaction) -> Result<()> {
        self.context.store().transact(transaction).await?;
        Ok(())
    }
}

/// Returns the keys that the activity that announced a share may have.
pub(super) fn share_activities(share: &Share) -> [Key; 2] {
    let home = Activity::home(&share.user_id, &None);
    activity_keys(&home, &share.created_at, &share.activity_id)
}

/// Returns the keys that an activity has if it enters home feeds, and if it does not.
pub(super) fn activity_keys(home: &ActorId, at: &Time, id: &ActivityId) -> [Key; 2] {
    [Activity::at(home, at, id).into(), ProfileActivity::at(home, at, id).into()]
}
