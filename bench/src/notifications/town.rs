//! A town of its own, in which people do things to each other that others are told of.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use roundtable_domain::{Caller, Chance, Ground, Notifications, Parts, Settings};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{Comment, Follow, Like, Post, User};
use roundtable_model::{
    Entity, FollowStatus, Ids, ModerationStatus, PostId, UserId, UserStatus, Visibility, samples,
};
use roundtable_streams::{Counters, Notices, Runner};
use roundtable_table::{Put, Store, SystemClock};
use tokio::runtime::{Builder, Runtime};

use crate::samples::{Samples, rate};
use crate::social::callers::{CAST, pair};

/// Facts written at the same time.
const AT_ONCE: usize = 64;
/// How often what is unread is counted.
const COUNTS: usize = 200;

/// What others are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facts {
    /// Each by somebody else, of somebody else.
    Follows,
    /// Each on somebody else's post.
    Comments,
    /// All of one post: one notification, which names the latest.
    LikesOfOne,
    /// Each of somebody else's post.
    Likes,
}

impl Facts {
    pub(super) const ALL: [Self; 4] =
        [Self::Follows, Self::Comments, Self::LikesOfOne, Self::Likes];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Follows => "follows told of/s",
            Self::Comments => "comments told of/s",
            Self::LikesOfOne => "likes of one post told of/s",
            Self::Likes => "likes of many posts told of/s",
        }
    }
}

/// People with a post each.
pub(super) struct Town {
    engine: Engine,
    runtime: Runtime,
    ground: Ground,
    people: Vec<UserId>,
    posts: Vec<PostId>,
    /// How many facts there are: none is the same as another.
    done: u64,
}

impl Town {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let clock = Arc::new(SystemClock);
        let parts = Parts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: Ids::from_os(clock)?,
            chance: Chance::from_os()?,
            settings: Settings::default(),
            fingerprint_key: [9; 32],
        };
        let ground = runtime.block_on(Ground::open(parts))?;
        let people: Vec<UserId> = (0..CAST).map(|_| ground.ids().next()).collect();
        let posts: Vec<PostId> = (0..CAST).map(|_| ground.ids().next()).collect();
        let town = Self { engine, runtime, ground, people, posts, done: 0 };
        let each = town.people.iter().zip(&town.posts);
        town.put(each.flat_map(|(person, post)| town.arrival(person, post)).collect())?;
        town.drain()?;
        Ok(town)
    }

    /// What somebody consists of, with a post.
    fn arrival(&self, person: &UserId, post: &PostId) -> [Put; 2] {
        let now = self.ground.now();
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

    /// Writes so many facts, of which nobody is told yet.
    pub(super) fn write(&mut self, kind: Facts, count: u64) -> Result<()> {
        let facts = (self.done..self.done + count).map(|number| self.fact(kind, number));
        let facts = facts.collect::<Result<Vec<Put>>>()?;
        self.done += count;
        self.put(facts)
    }

    fn fact(&self, kind: Facts, number: u64) -> Result<Put> {
        let (one, other) = pair(number);
        let (by, now) = (self.person(one)?.clone(), self.ground.now());
        let other = if kind == Facts::LikesOfOne { 0 } else { other };
        let author = self.person(other)?.clone();
        let post_id = self.posts.get(other).context("there is no such post")?.clone();
        Ok(match kind {
            Facts::Follows => Follow {
                follower_id: by,
                followee_id: author,
                status: FollowStatus::Active,
                active_since: Some(now),
                created_at: now,
                ..samples::follow()
            }
            .put(),
            Facts::Comments => Comment {
                post_id,
                id: self.ground.ids().next(),
                user_id: by,
                parent_comment_id: None,
                post_user_id: author,
                moderation_status: ModerationStatus::Approved,
                is_deleted: false,
                created_at: now,
                ..samples::comment()
            }
            .put(),
            Facts::LikesOfOne | Facts::Likes => Like {
                post_id,
                user_id: by,
                post_user_id: author,
                created_at: now,
                ..samples::like()
            }
            .put(),
        })
    }

    /// Tells everybody; so many facts a second.
    pub(super) fn tell(&self, facts: u64) -> Result<f64> {
        let started = Instant::now();
        self.drain()?;
        Ok(rate(facts, started.elapsed()))
    }

    /// How long it takes to count so many.
    pub(super) fn count_unread(&self, unread: u64) -> Result<Samples> {
        let reader = self.ground.ids().next();
        let post: PostId = self.ground.ids().next();
        let by = self.person(0)?;
        self.put(self.arrival(&reader, &post).into())?;
        let comment = |_| {
            let comment = Comment {
                post_id: post.clone(),
                id: self.ground.ids().next(),
                user_id: by.clone(),
                parent_comment_id: None,
                post_user_id: reader.clone(),
                moderation_status: ModerationStatus::Approved,
                is_deleted: false,
                created_at: self.ground.now(),
                ..samples::comment()
            };
            comment.put()
        };
        self.put((0..unread).map(comment).collect())?;
        self.drain()?;
        self.count()?;
        let notifications = Notifications::new(self.ground.clone());
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
        let Self { engine, runtime, ground, .. } = self;
        drop((ground, runtime));
        Ok(engine.close()?)
    }

    /// The processor reads to the end of the stream.
    fn drain(&self) -> Result<()> {
        let notices = Notices::new(self.ground.clone());
        let setup = Runner::on(self.ground.clone(), [3; 32]).with(notices.clone());
        let runner = setup.working(notices).build();
        self.runtime.block_on(runner.drain())?;
        let parked: u64 = runner.figures().lanes.iter().map(|lane| lane.parked).sum();
        ensure!(parked == 0, "{parked} changes were parked");
        Ok(())
    }

    /// How many each person has not read is counted from the stream, too.
    fn count(&self) -> Result<()> {
        let counters = Counters::new(self.ground.clone());
        let runner = Runner::on(self.ground.clone(), [3; 32]).with(counters).build();
        Ok(self.runtime.block_on(runner.drain())?)
    }

    fn put(&self, facts: Vec<Put>) -> Result<()> {
        let table = self.ground.core().table();
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
        self.people.get(at).context("there is no such person")
    }
}
