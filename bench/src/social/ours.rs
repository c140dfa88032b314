//! Our services on the embedded engine, in this process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::StreamExt;
use futures::channel::oneshot;
use roundtable_domain::{
    Caller, Chance, Comments, Follows, Ground, Likes, NewComment, NewPost, Parts, Posts,
    RateSettings, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{EmailLock, NickLock, User};
use roundtable_model::{Entity, Ids, PostId, UserId, samples};
use roundtable_streams::{Runner, Setup};
use roundtable_table::{Store, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::callers::{CAST, Done, pair, place, together};
use crate::progress::Progress;

/// People who move in, and posts that are written, at the same time.
const AT_ONCE: usize = 64;
/// Different tags of posts.
const TAGS: u64 = 1000;

/// What people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Follow,
    Like,
    Post,
    Comment,
}

impl Act {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Like => "like",
            Self::Post => "post",
            Self::Comment => "comment",
        }
    }
}

/// A town of its own, with people and posts.
pub(super) struct Ours {
    engine: Engine,
    runtime: Runtime,
    ground: Ground,
    hand: Arc<Hand>,
    /// How often each act was done, so that it is never done again.
    done: [Arc<AtomicU64>; 4],
}

/// Everything an act needs.
struct Hand {
    follows: Follows,
    likes: Likes,
    posts: Posts,
    comments: Comments,
    people: Vec<Caller>,
    written: Vec<PostId>,
}

impl Ours {
    /// Opens a new town with defaults, but for rates: a few people do here what many would.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let clock = Arc::new(SystemClock);
        let rates = RateSettings {
            writes_burst: u32::MAX,
            writes_per_minute: u32::MAX,
            ..RateSettings::default()
        };
        let parts = Parts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: Ids::from_os(clock)?,
            chance: Chance::from_os()?,
            settings: Settings { rates, ..Settings::default() },
            fingerprint_key: [9; 32],
        };
        let ground = runtime.block_on(Ground::open(parts))?;
        let hand = Arc::new(runtime.block_on(Hand::in_town(&ground))?);
        Ok(Self { engine, runtime, ground, hand, done: Default::default() })
    }

    /// Lets so many callers act until the window ends.
    pub(super) fn act_for(&self, act: Act, callers: usize, window: Duration) -> Result<Done> {
        let [follows, likes, posts, comments] = &self.done;
        let done = match act {
            Act::Follow => follows,
            Act::Like => likes,
            Act::Post => posts,
            Act::Comment => comments,
        };
        let each = |_| {
            let hand = Arc::clone(&self.hand);
            move |number| {
                let hand = Arc::clone(&hand);
                async move { hand.act(act, number).await }
            }
        };
        let callers = (0..callers).map(each).collect();
        self.runtime.block_on(together(callers, done, window))
    }

    /// Whom people follow in Postgres, too.
    pub(super) fn people(&self) -> Vec<UserId> {
        self.hand.people.iter().map(|caller| caller.user_id.clone()).collect()
    }

    /// Starts all processors, as a server does.
    pub(super) fn start_processors(&self) -> Processors {
        let runner = Setup::everything(&self.ground, [3; 32]).build();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = self.runtime.spawn({
            let runner = runner.clone();
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                runner.run(stopped).await;
            }
        });
        Processors { runner, stop, task }
    }

    /// Finishes what the processors are about, and stops them.
    pub(super) fn stop_processors(&self, processors: Processors) -> Result<()> {
        let Processors { stop, task, .. } = processors;
        let _ = stop.send(());
        self.runtime.block_on(task).context("the processors panicked")
    }

    /// Closes the engine.
    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, ground, hand, .. } = self;
        drop((ground, hand, runtime));
        Ok(engine.close()?)
    }
}

/// Processors at work.
pub(super) struct Processors {
    runner: Runner,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Processors {
    /// How far the slowest is behind, in milliseconds.
    pub(super) fn behind_ms(&self) -> u64 {
        self.runner.figures().behind_ms()
    }

    /// Waits until none is behind; gives how long that took, or nothing when patience ended.
    pub(super) fn catch_up(&self, patience: Duration) -> Option<Duration> {
        const LOOK_EVERY: Duration = Duration::from_millis(20);
        const QUIET_LOOKS: u32 = 5;
        let (started, mut quiet) = (Instant::now(), 0);
        while started.elapsed() < patience {
            quiet = if self.behind_ms() == 0 { quiet + 1 } else { 0 };
            if quiet == QUIET_LOOKS {
                return Some(started.elapsed().saturating_sub(LOOK_EVERY * QUIET_LOOKS));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        None
    }

    /// Changes processed by all of them, and those that were parked.
    pub(super) fn processed(&self) -> (u64, u64) {
        let lanes = self.runner.figures().lanes;
        let processed = lanes.iter().map(|lane| lane.processed).sum();
        (processed, lanes.iter().map(|lane| lane.parked).sum())
    }
}

impl Hand {
    /// Brings people into a town, and a post of each.
    async fn in_town(ground: &Ground) -> Result<Self> {
        let mut hand = Self {
            follows: Follows::new(ground.clone()),
            likes: Likes::new(ground.clone()),
            posts: Posts::new(ground.clone()),
            comments: Comments::new(ground.clone()),
            people: Vec::new(),
            written: Vec::new(),
        };
        let progress = Progress::new("people and posts", 2 * CAST);
        let mut arrivals =
            futures::stream::iter(0..CAST).map(|number| move_in(ground, number)).buffered(AT_ONCE);
        while let Some(arrived) = arrivals.next().await {
            hand.people.push(arrived?);
            progress.add(1);
        }
        let mut posts =
            futures::stream::iter(0..CAST).map(|number| hand.post(number)).buffered(AT_ONCE);
        let mut written = Vec::new();
        while let Some(post) = posts.next().await {
            written.push(post?);
            progress.add(1);
        }
        drop(posts);
        Ok(Self { written, ..hand })
    }

    async fn act(&self, act: Act, number: u64) -> Result<()> {
        match act {
            Act::Follow => {
                let (me, them) = pair(number);
                let (me, them) = (self.person(me)?, self.person(them)?);
                self.follows.follow(me, &them.user_id, None).await?;
            }
            Act::Like => {
                let (me, post) = pair(number);
                self.likes.like(self.person(me)?, self.written(post)?, None, None).await?;
            }
            Act::Comment => {
                let (me, post) = pair(number);
                let content = format!("Comment {number}: well run, and see you on Saturday.");
                let post_id = self.written(post)?.clone();
                let comment = NewComment { post_id, content, parent_comment_id: None };
                self.comments.add(self.person(me)?, &comment, None).await?;
            }
            Act::Post => {
                self.post(number).await?;
            }
        }
        Ok(())
    }

    async fn post(&self, number: u64) -> Result<PostId> {
        let content = format!(
            "Post {number}: ran ten kilometres along the river before the sun was up, and baked \
             a loaf of bread for everybody afterwards. #morning{}",
            number % TAGS
        );
        let author = self.person(place(number))?;
        Ok(self.posts.create(author, &NewPost::text(content), None).await?.id)
    }

    fn person(&self, at: usize) -> Result<&Caller> {
        self.people.get(at).context("there is no such person")
    }

    fn written(&self, at: usize) -> Result<&PostId> {
        self.written.get(at).context("there is no such post")
    }
}

/// Writes what an account consists of: signing up is no part of what is measured.
async fn move_in(ground: &Ground, number: u64) -> Result<Caller> {
    let (id, name): (UserId, _) = (ground.ids().next(), format!("person{number}"));
    let user = User {
        id: id.clone(),
        nickname: name.parse()?,
        email: Some(format!("{name}@example.com").parse()?),
        handle: None,
        created_at: ground.now(),
        updated_at: ground.now(),
        ..samples::user()
    };
    let (user_id, created_at) = (id.clone(), user.created_at);
    let nickname = user.nickname.clone();
    let table = ground.core().table();
    table.put(NickLock { nickname, user_id, created_at }.create()).await?;
    if let Some(email) = user.email.clone() {
        table.put(EmailLock { email, user_id: id.clone(), created_at }.create()).await?;
    }
    table.put(user.create()).await?;
    Ok(Caller::user(id))
}
