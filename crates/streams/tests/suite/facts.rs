//! Likes, comments and shares written directly into the table, and a naive count of them.

use std::collections::BTreeMap;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_domain::Context;
use roundtable_model::entities::{
    Comment, CommentCounter, CommentLike, Like, Post, PostCounter, Share,
};
use roundtable_model::table::{
    Check, Delete, Error, Item, Key, Put, Query, Scan, StreamRead, StreamStart, Transaction, Update,
};
use roundtable_model::{CommentId, Entity, PostId, UserId, samples};

/// Writes facts, as services would.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a>(pub(crate) &'a Context);

impl Facts<'_> {
    pub(crate) async fn post(self, id: &str) {
        let now = self.0.now();
        let (created_at, published_at) = (now, Some(now));
        let id: PostId = id.parse().unwrap();
        let post =
            Post { id, created_at, published_at, score: None, version: 1, ..samples::post() };
        self.put(post.create()).await;
    }

    pub(crate) async fn like(self, post: &str, user: &str) {
        self.put(like(post, user).create()).await;
    }

    pub(crate) async fn unlike(self, post: &str, user: &str) {
        self.delete(like(post, user).key().delete()).await;
    }

    pub(crate) async fn share(self, post: &str, user: &str) {
        self.put(share(post, user).create()).await;
    }

    pub(crate) async fn unshare(self, post: &str, user: &str) {
        self.delete(share(post, user).key().delete()).await;
    }

    pub(crate) async fn comment(self, post: &str, id: &str, parent: Option<&str>) {
        let comment = Comment {
            post_id: post.parse().unwrap(),
            id: id.parse().unwrap(),
            parent_comment_id: parent.map(|parent| parent.parse().unwrap()),
            ..samples::comment()
        };
        match &comment.parent_comment_id {
            Some(parent) => {
                let parent = Comment::at(&comment.post_id, parent).exists();
                self.put_on(comment.create(), parent).await;
            }
            None => self.put(comment.create()).await,
        }
    }

    /// Deletes a comment or restores it.
    pub(crate) async fn set_deleted(self, post: &str, id: &str, is_deleted: bool) {
        let (post, id) = (post.parse().unwrap(), id.parse().unwrap());
        let patch = Comment::at(&post, &id).patch().set(Comment::IS_DELETED, &is_deleted);
        self.update(patch.into()).await;
    }

    pub(crate) async fn like_comment(self, post: &str, comment: &str, user: &str) {
        let like = comment_like(post, comment, user);
        let comment = Comment::at(&like.post_id, &like.comment_id).exists();
        self.put_on(like.create(), comment).await;
    }

    pub(crate) async fn unlike_comment(self, post: &str, comment: &str, user: &str) {
        self.delete(comment_like(post, comment, user).key().delete()).await;
    }

    /// Some posts and a random history of reactions to them.
    pub(crate) async fn history(self, seed: u64, steps: usize) {
        let mut random = SmallRng::seed_from_u64(seed);
        for post in POSTS {
            self.post(post).await;
        }
        for _ in 0..steps {
            self.step(&mut random).await;
        }
    }

    /// One random reaction.
    pub(crate) async fn step(self, random: &mut SmallRng) {
        let mut pick = |from: &[&'static str]| *from.choose(random).unwrap();
        let (post, user) = (pick(&POSTS), pick(&USERS));
        let (comment, parent) = (pick(&COMMENTS), pick(&COMMENTS));
        // Comment ids contain their post, so that none is on two posts.
        let (comment, parent) = (format!("{post}-{comment}"), format!("{post}-{parent}"));
        match random.random_range(0..12) {
            0..=2 => self.like(post, user).await,
            3 => self.unlike(post, user).await,
            4 => self.share(post, user).await,
            5 => self.unshare(post, user).await,
            6 => self.comment(post, &comment, None).await,
            7 if comment == parent => self.comment(post, &comment, None).await,
            7 => self.comment(post, &comment, Some(&parent)).await,
            8 => self.set_deleted(post, &comment, true).await,
            9 => self.set_deleted(post, &comment, false).await,
            10 => self.like_comment(post, &comment, user).await,
            _ => self.unlike_comment(post, &comment, user).await,
        }
    }

    async fn put(self, put: Put) {
        done(&self.0.core().table().put(put).await);
    }

    /// Writes only if the parent exists, as the services do.
    async fn put_on(self, put: Put, there: Check) {
        let core = self.0.core().table();
        let both = Transaction::new().with(core, put).with(core, there);
        let written = self.0.store().transact(both).await;
        assert!(matches!(written, Ok(_) | Err(Error::Cancelled { .. })), "{written:?}");
    }

    async fn update(self, update: Update) {
        done(&self.0.core().table().update(update).await);
    }

    async fn delete(self, delete: Delete) {
        done(&self.0.core().table().delete(delete).await);
    }
}

const POSTS: [&str; 3] = ["p1", "p2", "p3"];
const USERS: [&str; 4] = ["ana", "bo", "cleo", "dan"];
const COMMENTS: [&str; 3] = ["c1", "c2", "c3"];

/// A failed condition means that the fact already holds.
fn done<T>(written: &Result<T, Error>) {
    assert!(matches!(written, Ok(_) | Err(Error::ConditionFailed { .. })));
}

pub(crate) fn like(post: &str, user: &str) -> Like {
    let (post_id, user_id) = (post.parse().unwrap(), user.parse().unwrap());
    Like { post_id, user_id, ..samples::like() }
}

fn share(post: &str, user: &str) -> Share {
    let (post_id, user_id) = (post.parse().unwrap(), user.parse().unwrap());
    Share { post_id, user_id, ..samples::share() }
}

fn comment_like(post: &str, comment: &str, user: &str) -> CommentLike {
    let (post_id, comment_id) = (post.parse().unwrap(), comment.parse().unwrap());
    let user_id: UserId = user.parse().unwrap();
    CommentLike { post_id, comment_id, user_id, ..samples::comment_like() }
}

pub(crate) async fn everything(context: &Context) -> Vec<Item> {
    let (mut items, mut next) = (Vec::new(), None);
    loop {
        let page = context.core().table().scan(Scan::new().strong().after(next)).await.unwrap();
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
}

pub(crate) fn all<E: Entity>(items: &[Item]) -> Vec<E> {
    let of_kind = items.iter().filter(|item| item.text("type") == Some(E::SHAPE.name));
    of_kind.map(|item| E::from_item(item).unwrap()).collect()
}

/// I1: every counter equals the number of facts and exists only with its owner; every score follows
/// from its counter.
pub(crate) async fn assert_counted(context: &Context) {
    let items = everything(context).await;
    let posts: Vec<Post> = all(&items);
    let comments: Vec<Comment> = all(&items);
    let mut on_posts: BTreeMap<PostId, [u64; 3]> = BTreeMap::new();
    let mut on_comments: BTreeMap<CommentId, [u64; 2]> = BTreeMap::new();
    for like in all::<Like>(&items) {
        on_posts.entry(like.post_id).or_default()[0] += 1;
    }
    for comment in comments.iter().filter(|comment| !comment.is_deleted) {
        on_posts.entry(comment.post_id.clone()).or_default()[1] += 1;
        if let Some(parent) = &comment.parent_comment_id {
            on_comments.entry(parent.clone()).or_default()[1] += 1;
        }
    }
    for share in all::<Share>(&items) {
        on_posts.entry(share.post_id).or_default()[2] += 1;
    }
    for like in all::<CommentLike>(&items) {
        on_comments.entry(like.comment_id).or_default()[0] += 1;
    }
    let counters: Vec<PostCounter> = all(&items);
    for counter in &counters {
        assert!(posts.iter().any(|post| post.id == counter.post_id), "{counter:?} is an orphan");
    }
    for post in &posts {
        let counter = counters.iter().find(|counter| counter.post_id == post.id);
        let stated = counter.map_or([0; 3], |each| [each.likes, each.comments, each.shares]);
        let counted = on_posts.get(&post.id).copied().unwrap_or_default();
        assert_eq!(stated, counted, "likes, comments and shares of {}", post.id);
        let score = &context.settings().score;
        let [likes, comments, shares] = counted;
        let expected = score.of(likes, comments, shares);
        assert_eq!(counter.map_or(0, |counter| counter.score), expected, "score of {}", post.id);
        if !post.is_deleted {
            assert_eq!(post.score, score.listed(expected), "listed score of {}", post.id);
        }
    }
    let counters: Vec<CommentCounter> = all(&items);
    for counter in &counters {
        let there = comments.iter().any(|comment| comment.id == counter.comment_id);
        assert!(there, "{counter:?} is an orphan");
    }
    for comment in &comments {
        let counter = counters.iter().find(|counter| counter.comment_id == comment.id);
        let stated = counter.map_or([0; 2], |each| [each.likes, each.replies]);
        let counted = on_comments.get(&comment.id).copied().unwrap_or_default();
        assert_eq!(stated, counted, "likes and replies of {}", comment.id);
    }
}

/// The items of a partition of the ops table.
pub(crate) async fn bookkeeping(context: &Context, partition: &str) -> Vec<Item> {
    context.ops().table().query(Query::new(partition).strong()).await.unwrap().items
}

pub(crate) fn like_key(post: &str, user: &str) -> Key {
    like(post, user).key().into()
}

/// The number of changes in the stream's first shard.
pub(crate) async fn changes(context: &Context) -> usize {
    let table = context.core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let read = StreamRead::new(shard, StreamStart::Oldest);
    table.stream_read(read).await.unwrap().changes.len()
}
