//! What a deleted post leaves behind: what people did with it, then its numbers together with itself.

use roundtable_model::entities::{
    Activity, Comment, CommentCounter, CommentLike, ModerationCase, Post, PostCounter, Share,
    UserCounter,
};
use roundtable_model::table::{Delete, Item, Key, Transaction};
use roundtable_model::{
    Answer, Entity, EntityKind, PostId, Shard, Span, SubjectId, TYPE, UserCount, rekey,
};

use super::Purge;
use super::sweep::{first_of, remove};
use crate::Failure;
use crate::jobs::Next;

/// Comments taken away in one transaction, each with its counter.
const COMMENTS_AT_ONCE: usize = 50;

impl Purge {
    /// A page of a deleted post.
    pub(super) async fn post_page(&self, id: &PostId) -> Result<Next, Failure> {
        let post = self.ground.core().post(id).get().await?;
        if post.as_ref().is_some_and(|post| !post.is_deleted) {
            return Ok(Next::Done);
        }
        let more = self.purge_post(id, post.as_ref()).await?;
        Ok(if more { Next::Page(String::new()) } else { Next::Done })
    }

    /// Takes away a page of what a post leaves behind, and at last the post; whether there may be more.
    pub(super) async fn purge_post(
        &self,
        id: &PostId,
        post: Option<&Post>,
    ) -> Result<bool, Failure> {
        let itself = [Post::SHAPE.name, PostCounter::SHAPE.name];
        let found = first_of(&self.ground, Post::at(id).into(), "", &itself).await?;
        if !found.is_empty() {
            self.remove_reactions(found).await?;
            return Ok(true);
        }
        let Some(post) = post else {
            remove(&self.ground, vec![PostCounter::at(id).into()]).await?;
            return Ok(false);
        };
        let mut beside = self.activities_of(post).await?;
        beside.push(ModerationCase::at(&id.into()).into());
        remove(&self.ground, beside).await?;
        let core = self.ground.core().table();
        // Its counter cannot be made anew once it is gone, so the two must go together.
        let gone = Transaction::new()
            .with(core, Delete::new(PostCounter::at(id)))
            .with(core, post.key().delete().when(Post::IS_DELETED.is(&true)));
        self.transact(gone).await?;
        Ok(false)
    }

    /// Turns a post of a deleted account or group into a tombstone, so that nothing new happens to it;
    /// gives the tombstone. `None` if it is gone.
    pub(super) async fn bury(&self, id: &PostId) -> Result<Option<Post>, Failure> {
        let core = self.ground.core();
        let Some(post) = core.post(id).get().await? else { return Ok(None) };
        if post.is_deleted {
            return Ok(Some(post));
        }
        let now = self.ground.now();
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
        let mut buried = Transaction::new().with(table, rekey(&post, &tombstone)?);
        let (shards, subject) = (self.ground.settings().shards.tags.0, SubjectId::from(id));
        let tags = core.tag_refs(&post.hashtags, shards, &EntityKind::Post, &subject).get().await?;
        for tag in tags.into_iter().flatten() {
            buried = buried.with(table, tag.key().delete());
        }
        let counter = UserCounter::at(&post.author_id, &UserCount::Posts, &Shard::ZERO);
        let counts =
            core.counts(&post.author_id, &[UserCount::Posts], roundtable_model::Shards::ONE);
        if counts.strong().get().await?.into_iter().flatten().next().is_some() {
            let less = counter.patch().add(UserCounter::COUNT, -1);
            buried = buried.with(table, less.set(UserCounter::UPDATED_AT, &now));
        }
        self.transact(buried).await?;
        Ok(core.post(id).get().await?)
    }

    /// Takes away what people did with a post. Comments go together with their counters, which cannot be
    /// made anew without them.
    async fn remove_reactions(&self, found: Vec<(Key, Item)>) -> Result<(), Failure> {
        let (mut keys, mut comments) = (Vec::new(), Vec::new());
        for (key, item) in found {
            match item.text(TYPE).unwrap_or_default() {
                kind if kind == Comment::SHAPE.name => comments.push(Comment::from_item(&item)?),
                kind if kind == Share::SHAPE.name => {
                    keys.push(told_of(&Share::from_item(&item)?));
                    keys.push(key);
                }
                _ => keys.push(key),
            }
        }
        for comments in comments.chunks(COMMENTS_AT_ONCE) {
            self.remove_comments(comments).await?;
        }
        remove(&self.ground, keys).await
    }

    /// Takes comments away, with their counters and cases.
    pub(super) async fn remove_comments(&self, comments: &[Comment]) -> Result<(), Failure> {
        let core = self.ground.core().table();
        let case = |comment: &Comment| ModerationCase::at(&(&comment.id).into()).into();
        remove(&self.ground, comments.iter().map(case).collect()).await?;
        let mut gone = Transaction::new();
        for comment in comments {
            let counter = CommentCounter::at(&comment.post_id, &comment.id);
            gone = gone.with(core, Delete::new(comment.key())).with(core, Delete::new(counter));
        }
        self.transact(gone).await
    }

    /// Takes away a page of what people did with one comment; whether there was any.
    pub(super) async fn remove_marks(&self, comment: &Comment) -> Result<bool, Failure> {
        let like = CommentLike::at(&comment.post_id, &comment.id, &comment.user_id).into_key();
        let own = like.sort.as_ref().and_then(|sort| sort.as_text()).unwrap_or_default();
        let prefix = own.strip_suffix(&comment.user_id.to_string()).unwrap_or(own).to_owned();
        let likes = first_of(&self.ground, like, &prefix, &[]).await?;
        let case = (&comment.id).into();
        let reports = self.ground.core().reports(&comment.post_id, &case).strong();
        let reports = reports.page().await?.items;
        let keys = likes.into_iter().map(|(key, _)| key);
        let keys: Vec<Key> = keys.chain(reports.iter().map(|each| each.key().into())).collect();
        let any = !keys.is_empty();
        remove(&self.ground, keys).await?;
        Ok(any)
    }

    /// The activities that told of a post when it came out.
    async fn activities_of(&self, post: &Post) -> Result<Vec<Key>, Failure> {
        let Some(at) = post.published_at else { return Ok(Vec::new()) };
        let home = [Activity::home(&post.author_id, &post.group_id)];
        let then = Span::between(at, at.plus_ms(1));
        let activities = self.ground.core().activities(&home, then).page().await?.items;
        let about = SubjectId::from(&post.id);
        let told = activities.iter().filter(|activity| activity.object_id == about);
        Ok(told.map(|activity| activity.key().into()).collect())
    }

    pub(super) async fn transact(&self, transaction: Transaction) -> Result<(), Failure> {
        self.ground.store().transact(transaction).await?;
        Ok(())
    }
}

/// The activity that told of a share.
pub(super) fn told_of(share: &Share) -> Key {
    let home = Activity::home(&share.user_id, &None);
    Activity::at(&home, &share.created_at, &share.activity_id).into()
}
