//! Builds the sample town through the services, as if weeks had passed: people sign up, follow each
//! other, found groups and post. The town's clock ends at the present.

use std::path::Path;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use rand::rngs::{SmallRng, StdRng};
use rand::{Rng as _, SeedableRng as _};
use roundtable_domain::{
    Accounts, Caller, Context, ContextParts, Edit, Entropy, Follows, Groups, LoginSettings,
    NewGroup, ProfileChange, RateSettings, Settings, SignUp,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::{GroupId, IdGenerator, PostId, Role, Secret, Tag};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_table::{Clock, Store, SystemClock};
use roundtable_verify::ProgressReporter;
use tokio::sync::oneshot;

use super::clock::TownClock;
use super::people::{Resident, follow_pairs, residents};
use super::story::{Club, Story, StoryStep, clubs};
use super::topics::TOPICS;
use crate::error::CommandError;
use crate::progress::ProgressDisplay;

/// Makes every town the same.
const SEED: u64 = 2026;
/// Concurrent steps: the engine commits concurrent writes together.
const CONCURRENCY: usize = 128;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Days before the end at which people begin to sign up, to follow each other, and to post.
const DAYS_AGO: [u64; 3] = [21, 14, 12];

/// A town under construction.
#[derive(Debug)]
pub(super) struct DemoTown {
    pub(super) context: Context,
    pub(super) clock: Arc<TownClock>,
    pub(super) people: Vec<Resident>,
    pub(super) callers: Vec<Caller>,
    pub(super) clubs: Vec<Club>,
    pub(super) groups: Vec<GroupId>,
    /// Each with its author.
    pub(super) posts: Mutex<Vec<Option<(PostId, usize)>>>,
    /// The time at which the town is finished: the present.
    pub(super) end_ms: u64,
}

pub(super) fn step_result<T, E: std::fmt::Display>(
    what: &'static str,
    result: Result<T, E>,
) -> Result<T, CommandError> {
    result.map_err(|error| CommandError::Town { what, reason: error.to_string() })
}

pub(super) fn missing(what: &'static str) -> CommandError {
    CommandError::Town { what, reason: String::from("is missing") }
}

/// Builds a town of `count` people in an empty directory, and closes the store.
pub(super) async fn build(
    data: &Path,
    count: usize,
    progress: &ProgressDisplay,
) -> Result<(), CommandError> {
    let end_ms = SystemClock.now_ms();
    let [start, ..] = DAYS_AGO;
    let clock = Arc::new(TownClock::from_ms(end_ms - start * DAY_MS));
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Options::default() };
    let engine = Engine::open(data, options)?;
    let store = Store::new(engine.clone());
    let context = context(&store, &clock, building_settings()).await?;
    let mut seed = [0; 32];
    StdRng::try_from_os_rng().map_err(|error| CommandError::Start(error.into()))?.fill(&mut seed);
    let runner = RunnerBuilder::with_all_processors(&context, seed).build();
    let stream_task = StreamTask::start(runner.clone());
    let mut random = SmallRng::seed_from_u64(SEED);
    let people = residents(count, &mut random);
    let mut town = DemoTown {
        callers: sign_everyone_up(&context, &store, &clock, &people, end_ms, progress).await?,
        clubs: clubs(&people, &mut random),
        groups: Vec::new(),
        posts: Mutex::default(),
        context,
        clock,
        people,
        end_ms,
    };
    let pairs = follow_pairs(&town.people, &mut random);
    town.follow_each_other(&pairs, progress).await?;
    town.groups = town.found_groups(progress).await?;
    let pages = Story::new(&town.people, &pairs, &town.clubs, random).pages();
    Arc::new(town).run_story(pages, progress).await?;
    progress.stage("Counting", None);
    stream_task.stop().await;
    step_result("counting", runner.drain().await)?;
    drop((runner, store));
    Ok(engine.close()?)
}

/// Settings for building: no rate limits, and cheap hashes for passwords that are never used.
fn building_settings() -> Settings {
    let login = LoginSettings { hash_memory_kib: 8, hash_passes: 1, ..LoginSettings::default() };
    Settings { login, ..unlimited_settings() }
}

fn unlimited_settings() -> Settings {
    // The clock jumps by hours between two steps. A rate limiter sees concurrent requests out of order,
    // and refills nothing for late ones, so the burst alone must suffice.
    let rates = RateSettings {
        writes_burst: u32::MAX,
        writes_per_minute: 1,
        sign_ups_burst: u32::MAX,
        sign_ups_per_hour: 1,
        ..RateSettings::default()
    };
    Settings { rates, ..Settings::default() }
}

async fn context(
    store: &Store,
    clock: &Arc<TownClock>,
    settings: Settings,
) -> Result<Context, CommandError> {
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let parts = ContextParts {
        store: store.clone(),
        ids: IdGenerator::from_os(Arc::clone(&clock)).map_err(CommandError::Start)?,
        entropy: Entropy::from_os().map_err(CommandError::Start)?,
        clock,
        settings,
        // Requests have no ids to be repeated by.
        fingerprint_key: [0; 32],
    };
    Ok(Context::open(parts).await?)
}

/// Runs the stream processors while the town is built.
struct StreamTask {
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl StreamTask {
    fn start(runner: Runner) -> Self {
        let (stop, stopped) = oneshot::channel();
        let run = async move { runner.run(async { drop(stopped.await) }).await };
        Self { stop, task: tokio::spawn(run) }
    }

    async fn stop(self) {
        drop(self.stop);
        let _ = self.task.await;
    }
}

/// Signs everyone up and fills in profiles. Three passwords are published; the others are random and
/// discarded.
async fn sign_everyone_up(
    context: &Context,
    store: &Store,
    clock: &Arc<TownClock>,
    people: &[Resident],
    end_ms: u64,
    progress: &ProgressDisplay,
) -> Result<Vec<Caller>, CommandError> {
    let login_accounts = Accounts::new(self::context(store, clock, unlimited_settings()).await?);
    let quick_accounts = Accounts::new(context.clone());
    let passwords =
        Mutex::new(StdRng::try_from_os_rng().map_err(|e| CommandError::Start(e.into()))?);
    progress.stage("Signing people up", Some(people.len() as u64));
    let [from, to, _] = DAYS_AGO;
    let sign_ups = people.iter().enumerate().map(|(at, person)| {
        let accounts =
            if person.login.is_some() { login_accounts.clone() } else { quick_accounts.clone() };
        let password = match person.login {
            Some(login) => Secret::new(login.password),
            None => Secret::new(format!("{:032x}", passwords.lock().random::<u128>())),
        };
        clock.advance_to_ms(spread_time(end_ms, (from, to), at, people.len()));
        async move {
            let caller = sign_up(&accounts, person, password).await?;
            progress.advance(1);
            Ok::<_, CommandError>(caller)
        }
    });
    stream::iter(sign_ups).buffered(CONCURRENCY).try_collect().await
}

async fn sign_up(
    accounts: &Accounts,
    person: &Resident,
    password: Secret,
) -> Result<Caller, CommandError> {
    let sign_up = SignUp {
        email: step_result("an address", person.email.parse())?,
        password,
        nickname: step_result("a nickname", person.nickname.parse())?,
        handle: None,
        invitation: None,
        full_name: Some(person.full_name.clone()),
        language: Some(String::from("en")),
        identity: None,
    };
    let caller = step_result("signing up", accounts.register(&sign_up, None, None).await)?.caller;
    let tags = person.likes.iter().filter_map(|topic| TOPICS.get(*topic)?.tag.parse::<Tag>().ok());
    let change = ProfileChange {
        bio: Edit::Set(person.bio.clone()),
        country: Edit::Set(person.country.to_owned()),
        tags: Some(tags.collect()),
        is_private: Some(person.is_private),
        ..ProfileChange::default()
    };
    step_result("a profile", accounts.update_profile(&caller, &change, None).await)?;
    let role = person.login.map(|login| login.role).filter(|role| *role != Role::User);
    if let Some(role) = role {
        step_result("a role", accounts.grant(&sign_up.nickname, role).await)?;
        return Ok(Caller::with_roles(caller.user_id, &[Role::User, role]));
    }
    Ok(caller)
}

/// Spreads `of` events evenly over a range of days.
fn spread_time(end_ms: u64, (from, to): (u64, u64), at: usize, of: usize) -> u64 {
    let length = (from - to) * DAY_MS;
    end_ms - from * DAY_MS + length * at as u64 / of.max(1) as u64
}

impl DemoTown {
    async fn follow_each_other(
        &self,
        pairs: &[(usize, usize)],
        progress: &ProgressDisplay,
    ) -> Result<(), CommandError> {
        progress.stage("Following each other", Some(pairs.len() as u64));
        let [_, from, to] = DAYS_AGO;
        let follows_made = pairs.iter().enumerate().map(|(at, (follower, followee))| {
            self.clock.advance_to_ms(spread_time(self.end_ms, (from, to), at, pairs.len()));
            let follows = Follows::new(self.context.clone());
            async move {
                let (follower, followee) = (self.caller(*follower)?, self.caller(*followee)?);
                let followed = follows.follow(follower, &followee.user_id, None).await;
                progress.advance(1);
                step_result("following", followed).map(drop)
            }
        });
        stream::iter(follows_made).buffer_unordered(CONCURRENCY).try_collect().await
    }

    async fn found_groups(&self, progress: &ProgressDisplay) -> Result<Vec<GroupId>, CommandError> {
        progress.stage("Founding groups", Some(self.clubs.len() as u64));
        let groups = Groups::new(self.context.clone());
        let founded = self.clubs.iter().map(|club| {
            let groups = groups.clone();
            async move {
                let group = self.found_group(&groups, club).await;
                progress.advance(1);
                group
            }
        });
        stream::iter(founded).buffered(CONCURRENCY).try_collect().await
    }

    async fn found_group(&self, groups: &Groups, club: &Club) -> Result<GroupId, CommandError> {
        let topic = TOPICS.get(club.topic).ok_or_else(|| missing("a topic"))?;
        let name = match club.number {
            0 => topic.group.to_owned(),
            number => format!("{} {}", topic.group, number + 1),
        };
        let (owner, others) = club.members.split_first().unwrap_or((&0, &[]));
        let owner = self.caller(*owner)?;
        let group = NewGroup {
            description: Some(format!("For everybody who likes {}.", topic.tag)),
            tags: topic.tag.parse().into_iter().collect(),
            is_private: club.is_private,
            ..NewGroup::named(name)
        };
        let group = step_result("a group", groups.create(owner, group, None).await)?.id;
        for member in others {
            let member = self.caller(*member)?;
            step_result("joining a group", groups.join(member, &group, None).await)?;
            if club.is_private {
                let let_in = groups.approve(owner, &group, &member.user_id, None).await;
                step_result("approving a member", let_in)?;
            }
        }
        Ok(group)
    }

    async fn run_story(
        self: Arc<Self>,
        pages: Vec<Vec<StoryStep>>,
        progress: &ProgressDisplay,
    ) -> Result<(), CommandError> {
        let total: usize = pages.iter().map(Vec::len).sum();
        progress.stage("Posting and chatting", Some(total as u64));
        let [.., from] = DAYS_AGO;
        let mut at = 0;
        for page in pages {
            // A page refers only to posts of earlier pages.
            let steps = page.into_iter().map(|step| {
                at += 1;
                let (town, ms) =
                    (Arc::clone(&self), spread_time(self.end_ms, (from, 0), at, total));
                async move {
                    let done = tokio::spawn(async move {
                        town.clock.advance_to_ms(ms);
                        town.run_step(step).await
                    });
                    progress.advance(1);
                    step_result("a step", done.await)?
                }
            });
            stream::iter(steps).buffer_unordered(CONCURRENCY).try_collect::<()>().await?;
        }
        Ok(())
    }
}
