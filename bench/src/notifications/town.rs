//! A town with facts that cause notifications.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt;
use roundtable_domain::{Caller, Context, ContextParts, Entropy, Notifications, Settings};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{Comment, Follow, Like, Post, User};
use roundtable_model::{
    Entity, FollowStatus, IdGenerator, ModerationStatus, PostId, UserId, UserStatus, Visibility,
    samples,
};
use roundtable_streams::{CounterUpdater, NotificationWriter, Runner};
use roundtable_table::{Put, Store, SystemClock};
use roundtable_test_client::{Samples, rate};
use tokio::runtime::{Builder, Runtime};

use crate::social::callers::{USERS, pair};

/// Facts written concurrently.
const AT_ONCE: usize = 64;
const COUNTS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FactKind {
    /// Each by another follower, of another user.
    Follows,
    /// Each on another post.
    Comments,
    /// All of one post: one notification, which names the latest user.
    LikesOfOne,
    /// Each of another post.
    Likes,
}

impl FactKind {
    pub(super) const ALL: [Self; 4] =
        [Self::Follows, Self::Comments, Self::LikesOfOne, Self::Likes];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Follows => "notifications of follows/s",
            Self::Comments => "notifications of comments/s",
            Self::LikesOfOne => "notifications of likes of one post/s",
            Self::Likes => "notifications of likes of many posts/s",
        }
    }
}

/// Users with a post each.
pub(super) struct Town {
    engine: Engine,
    runtime: Runtime,
    context: Context,
    people: Vec<UserId>,
    posts: Vec<PostId>,
    /// The number of facts so far, which are all different.
    done: u64,
}

impl Town {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let clock = Arc::new(SystemClock);
        let parts = ContextParts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: IdGenerator::from_os(clock)?,
            entropy: Entropy::from_os()?,
            settings: Settings::default(),
            fingerprint_key: [9; 32],
        };
        let context = runtime.block_on(Context::open(parts))?;
        let people: Vec<UserId> = (0..USERS).map(|_| context.ids().next()).collect();
        let posts: Vec<PostId> = (0..USERS).map(|_| context.ids().next()).collect();
        let town = Self { engine, runtime, context, people, posts, done: 0 };
        let each = town.people.iter().zip(&town.posts);
        town.put(each.flat_map(|(person, post)| town.arrival(person, post)).collect())?;
        town.drain()?;
        Ok(town)
    }

    /// The items of a user with a post.
    fn arrival(&self, person: &UserId, post: &PostId) -> [Put; 2] {
        let now = self.context.now();
        let user = User {
            id: person.clone(),
            status: UserStatus::Active,
            is_private: false,
            created_at: now,
            ..samples::user()
        };
        let post = Post {
            id: post.clone(),
            author_id: person.clone(),
            group_id: None,
            visibility: Visibility::Public,
            moderation_status: ModerationStatus::Approved,
            is_deleted: false,
            mentions: Vec::new(),
            published_at: Some(now),
            created_at: now,
            ..samples::post()
        };
        [user.create(), post.create()]
    }

    /// Writes facts without processing them.
    pub(super) fn write(&mut self, kind: FactKind, count: u64) -> Result<()> {
        let facts = (self.done..self.done + count).map(|number| self.fact(kind, number));
        let facts = facts.collect::<Result<Vec<Put>>>()?;
        self.done += count;
        self.put(facts)
    }

    fn fact(&self, kind: FactKind, number: u64) -> Result<Put> {
        let (one, other) = pair(number);
        let (by, now) = (self.person(one)?.clone(), self.context.now());
        let other = if kind == FactKind::LikesOfOne { 0 } else { other };
        let author = self.person(other)?.clone();
        let post_id = self.posts.get(other).context("unknown post")?.clone();
        Ok(match kind {
            FactKind::Follows => Follow {
                follower_id: by,
                followee_id: author,
                status: FollowStatus::Active,
                active_since: Some(now),
                created_at: now,
                ..samples::follow()
            }
            .put(),
            FactKind::Comments => Comment {
                post_id,
                id: self.context.ids().next(),
                user_id: by,
                parent_comment_id: None,
                post_user_id: author,
                moderation_status: ModerationStatus::Approved,
                is_deleted: false,
                created_at: now,
                ..samples::comment()
            }
            .put(),
            FactKind::LikesOfOne | FactKind::Likes => Like {
                post_id,
                user_id: by,
                post_user_id: author,
                created_at: now,
                ..samples::like()
            }
            .put(),
        })
    }

    /// Processes all facts, and returns the number per second.
    pub(super) fn process(&self, facts: u64) -> Result<f64> {
        let started = Instant::now();
        self.drain()?;
        Ok(rate(facts, started.elapsed()))
    }

    /// Times the count of unread notifications.
    pub(super) fn count_unread(&self, unread: u64) -> Result<Samples> {
        let reader = self.context.ids().next();
        let post: PostId = self.context.ids().next();
        let by = self.person(0)?;
        self.put(self.arrival(&reader, &post).into())?;
        let comment = |_| {
            let comment = Comment {
                post_id: post.clone(),
                id: self.context.ids().next(),
                user_id: by.clone(),
                parent_comment_id: None,
                post_user_id: reader.clone(),
                moderation_status: ModerationStatus::Approved,
                is_deleted: false,
                created_at: self.context.now(),
                ..samples::comment()
            };
            comment.put()
        };
        self.put((0..unread).map(comment).collect())?;
        self.drain()?;
        self.count()?;
        let notifications = Notifications::new(self.context.clone());
        let caller = Caller::user(reader.clone());
        let mut waits = Samples::with_capacity(COUNTS);
        for _ in 0..COUNTS {
            let started = Instant::now();
            let counted = self.runtime.block_on(notifications.unread(&caller))?;
            waits.add_since(started);
            ensure!(counted == unread, "{counted} of {unread} are unread");
        }
        Ok(waits)
    }

    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, context, .. } = self;
        drop((context, runtime));
        Ok(engine.close()?)
    }

    /// Runs the processor to the end of the stream.
    fn drain(&self) -> Result<()> {
        let notices = NotificationWriter::new(self.context.clone());
        let setup = Runner::builder(self.context.clone(), [3; 32]).with(notices.clone());
        let runner = setup.with_job_handler(notices).build();
        self.runtime.block_on(runner.drain())?;
        let parked: u64 = runner.metrics().lanes.iter().map(|lane| lane.parked).sum();
        ensure!(parked == 0, "{parked} changes were parked");
        Ok(())
    }

    /// Runs the processor of unread counts, which reads the stream as well.
    fn count(&self) -> Result<()> {
        let counters = CounterUpdater::new(self.context.clone());
        let runner = Runner::builder(self.context.clone(), [3; 32]).with(counters).build();
        Ok(self.runtime.block_on(runner.drain())?)
    }

    fn put(&self, facts: Vec<Put>) -> Result<()> {
        let table = self.context.core().table();
        let writes = futures::stream::iter(facts).map(|fact| table.put(fact));
        self.runtime.block_on(async {
            let mut writes = writes.buffer_unordered(AT_ONCE);
            while let Some(written) = writes.next().await {
                written?;
            }
            Ok(())
        })
    }

    fn person(&self, at: usize) -> Result<&UserId> {
        self.people.get(at).context("unknown user")
    }
}
