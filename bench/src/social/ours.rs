//! Our services on the embedded engine, in this process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use futures::StreamExt;
use futures::channel::oneshot;
use roundtable_domain::{
    Caller, Comments, Context, ContextParts, Entropy, Follows, Likes, NewComment, NewPost, Posts,
    RateSettings, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{EmailLock, NickLock, User};
use roundtable_model::{Entity, IdGenerator, PostId, UserId, samples};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_table::{Store, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::callers::{CallStats, USERS, pair, run_callers, user_index};
use crate::progress::Progress;

/// Users and posts that are added concurrently.
const AT_ONCE: usize = 64;
const TAGS: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserAction {
    Follow,
    Like,
    Post,
    Comment,
}

impl UserAction {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Like => "like",
            Self::Post => "post",
            Self::Comment => "comment",
        }
    }
}

/// A town with users and posts.
pub(super) struct Ours {
    engine: Engine,
    runtime: Runtime,
    context: Context,
    actions: Arc<ActionContext>,
    /// The number of each action so far, so that none is repeated.
    done: [Arc<AtomicU64>; 4],
}

struct ActionContext {
    follows: Follows,
    likes: Likes,
    posts: Posts,
    comments: Comments,
    people: Vec<Caller>,
    written: Vec<PostId>,
}

impl Ours {
    /// Opens a new town with default settings except rate limits: a few users act for many here.
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
        let parts = ContextParts {
            store: Store::new(engine.clone()),
            clock: clock.clone(),
            ids: IdGenerator::from_os(clock)?,
            entropy: Entropy::from_os()?,
            settings: Settings { rates, ..Settings::default() },
            fingerprint_key: [9; 32],
        };
        let context = runtime.block_on(Context::open(parts))?;
        let actions = Arc::new(runtime.block_on(ActionContext::in_town(&context))?);
        Ok(Self { engine, runtime, context, actions, done: Default::default() })
    }

    /// Runs an action from concurrent callers until the window ends.
    pub(super) fn run_action(
        &self,
        action: UserAction,
        callers: usize,
        window: Duration,
    ) -> Result<CallStats> {
        let [follows, likes, posts, comments] = &self.done;
        let done = match action {
            UserAction::Follow => follows,
            UserAction::Like => likes,
            UserAction::Post => posts,
            UserAction::Comment => comments,
        };
        let each = |_| {
            let actions = Arc::clone(&self.actions);
            move |number| {
                let actions = Arc::clone(&actions);
                async move { actions.perform(action, number).await }
            }
        };
        let callers = (0..callers).map(each).collect();
        self.runtime.block_on(run_callers(callers, done, window))
    }

    /// The users that Postgres shares.
    pub(super) fn people(&self) -> Vec<UserId> {
        self.actions.people.iter().map(|caller| caller.user_id.clone()).collect()
    }

    /// Starts all processors, like a server does.
    pub(super) fn start_processors(&self) -> Processors {
        let runner = RunnerBuilder::with_all_processors(&self.context, [3; 32]).build();
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

    /// Stops the processors after their current work.
    pub(super) fn stop_processors(&self, processors: Processors) -> Result<()> {
        let Processors { stop, task, .. } = processors;
        let _ = stop.send(());
        self.runtime.block_on(task).context("the processors panicked")
    }

    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, context, actions, .. } = self;
        drop((context, actions, runtime));
        Ok(engine.close()?)
    }
}

pub(super) struct Processors {
    runner: Runner,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Processors {
    /// The lag of the slowest processor, in milliseconds.
    pub(super) fn behind_ms(&self) -> u64 {
        self.runner.metrics().behind_ms()
    }

    /// Waits until no processor lags; returns the duration, or `None` on a timeout.
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

    /// The numbers of processed and of parked changes.
    pub(super) fn processed(&self) -> (u64, u64) {
        let lanes = self.runner.metrics().lanes;
        let processed = lanes.iter().map(|lane| lane.processed).sum();
        (processed, lanes.iter().map(|lane| lane.parked).sum())
    }
}

impl ActionContext {
    /// Adds users with one post each.
    async fn in_town(context: &Context) -> Result<Self> {
        let mut actions = Self {
            follows: Follows::new(context.clone()),
            likes: Likes::new(context.clone()),
            posts: Posts::new(context.clone()),
            comments: Comments::new(context.clone()),
            people: Vec::new(),
            written: Vec::new(),
        };
        let progress = Progress::new("people and posts", 2 * USERS);
        let mut arrivals = futures::stream::iter(0..USERS)
            .map(|number| move_in(context, number))
            .buffered(AT_ONCE);
        while let Some(arrived) = arrivals.next().await {
            actions.people.push(arrived?);
            progress.add(1);
        }
        let mut posts =
            futures::stream::iter(0..USERS).map(|number| actions.post(number)).buffered(AT_ONCE);
        let mut written = Vec::new();
        while let Some(post) = posts.next().await {
            written.push(post?);
            progress.add(1);
        }
        drop(posts);
        Ok(Self { written, ..actions })
    }

    async fn perform(&self, action: UserAction, number: u64) -> Result<()> {
        match action {
            UserAction::Follow => {
                let (me, them) = pair(number);
                let (me, them) = (self.person(me)?, self.person(them)?);
                self.follows.follow(me, &them.user_id, None).await?;
            }
            UserAction::Like => {
                let (me, post) = pair(number);
                self.likes.like(self.person(me)?, self.written(post)?, None, None).await?;
            }
            UserAction::Comment => {
                let (me, post) = pair(number);
                let content = format!("Comment {number}: well run, and see you on Saturday.");
                let post_id = self.written(post)?.clone();
                let comment = NewComment { post_id, content, parent_comment_id: None };
                self.comments.add(self.person(me)?, &comment, None).await?;
            }
            UserAction::Post => {
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
        let author = self.person(user_index(number))?;
        Ok(self.posts.create(author, &NewPost::text(content), None).await?.id)
    }

    fn person(&self, at: usize) -> Result<&Caller> {
        self.people.get(at).context("unknown user")
    }

    fn written(&self, at: usize) -> Result<&PostId> {
        self.written.get(at).context("unknown post")
    }
}

/// Writes the items of an account directly: registration is not measured.
async fn move_in(context: &Context, number: u64) -> Result<Caller> {
    let (id, name): (UserId, _) = (context.ids().next(), format!("person{number}"));
    let user = User {
        id: id.clone(),
        nickname: name.parse()?,
        email: Some(format!("{name}@example.com").parse()?),
        handle: None,
        created_at: context.now(),
        updated_at: context.now(),
        ..samples::user()
    };
    let (user_id, created_at) = (id.clone(), user.created_at);
    let nickname = user.nickname.clone();
    let table = context.core().table();
    table.put(NickLock { nickname, user_id, created_at }.create()).await?;
    if let Some(email) = user.email.clone() {
        table
            .put(EmailLock { email, user_id: id.clone(), created_at, proved_at: None }.create())
            .await?;
    }
    table.put(user.create()).await?;
    Ok(Caller::user(id))
}
