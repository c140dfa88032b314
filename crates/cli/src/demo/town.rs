//! Builds the sample town through the services, as if weeks had passed: people move in, get to know each
//! other, and live there. Everything happens in its own time, which ends now.

use std::path::Path;
use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use rand::rngs::{SmallRng, StdRng};
use rand::{Rng as _, SeedableRng as _};
use roundtable_domain::{
    Accounts, Caller, Chance, Edit, Follows, Ground, Groups, LoginSettings, NewGroup, Parts,
    ProfileChange, RateSettings, Settings, SignUp,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::{GroupId, Ids, PostId, Role, Secret, Tag};
use roundtable_streams::{Runner, Setup};
use roundtable_table::{Clock, Store, SystemClock};
use roundtable_verify::Progress;
use tokio::sync::oneshot;

use super::hours::Hours;
use super::people::{Resident, circles, residents};
use super::story::{Act, Club, Story, clubs};
use super::topics::TOPICS;
use crate::failure::Failure;
use crate::progress::Shown;

/// The same town every time.
const SEED: u64 = 2026;
/// How much is under way at the same time: the engine writes what comes together together.
const AT_ONCE: usize = 128;
/// Each day of the town.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How long ago the first moved in, when all knew each other, and when everything began to happen.
const DAYS_AGO: [u64; 3] = [21, 14, 12];

/// A town that is being built.
#[derive(Debug)]
pub(super) struct Town {
    pub(super) ground: Ground,
    pub(super) clock: Arc<Hours>,
    pub(super) people: Vec<Resident>,
    pub(super) callers: Vec<Caller>,
    pub(super) clubs: Vec<Club>,
    pub(super) groups: Vec<GroupId>,
    /// Each with its author.
    pub(super) posts: Mutex<Vec<Option<(PostId, usize)>>>,
    /// When it is finished: now, for everybody else.
    pub(super) end_ms: u64,
}

/// What came of an attempt; the town is not to be had otherwise.
pub(super) fn made<T, E: std::fmt::Display>(
    what: &'static str,
    result: Result<T, E>,
) -> Result<T, Failure> {
    result.map_err(|error| Failure::Town { what, why: error.to_string() })
}

/// Something that was to be there.
pub(super) fn missing(what: &'static str) -> Failure {
    Failure::Town { what, why: String::from("is missing") }
}

/// Builds a town of so many people in an empty directory, and leaves it closed.
pub(super) async fn build(data: &Path, count: usize, progress: &Shown) -> Result<(), Failure> {
    let end_ms = SystemClock.now_ms();
    let [start, ..] = DAYS_AGO;
    let clock = Arc::new(Hours::from_ms(end_ms - start * DAY_MS));
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Options::default() };
    let engine = Engine::open(data, options)?;
    let store = Store::new(engine.clone());
    let ground = ground(&store, &clock, quick()).await?;
    let mut seed = [0; 32];
    StdRng::try_from_os_rng().map_err(|error| Failure::Start(error.into()))?.fill(&mut seed);
    let runner = Setup::everything(&ground, seed).build();
    let following = Following::start(runner.clone());
    let mut random = SmallRng::seed_from_u64(SEED);
    let people = residents(count, &mut random);
    let mut town = Town {
        callers: move_in(&ground, &store, &clock, &people, end_ms, progress).await?,
        clubs: clubs(&people, &mut random),
        groups: Vec::new(),
        posts: Mutex::default(),
        ground,
        clock,
        people,
        end_ms,
    };
    let circles = circles(&town.people, &mut random);
    town.meet(&circles, progress).await?;
    town.groups = town.found(progress).await?;
    let pages = Story::new(&town.people, &circles, &town.clubs, random).pages();
    Arc::new(town).live(pages, progress).await?;
    progress.stage("Everything is counted", None);
    following.stop().await;
    made("counting", runner.drain().await)?;
    drop((runner, store));
    Ok(engine.close()?)
}

/// How the town is built: nobody is too quick, and passwords that nobody knows are hashed in no time.
fn quick() -> Settings {
    let login = LoginSettings { hash_memory_kib: 8, hash_passes: 1, ..LoginSettings::default() };
    Settings { login, ..unhurried() }
}

fn unhurried() -> Settings {
    // Hours pass between two looks at the clock. Whoever looked first is as if from the past to whoever
    // looked last, and has nothing left of a short while: so there is more than anybody can use up.
    let rates = RateSettings {
        writes_burst: u32::MAX,
        writes_per_minute: 1,
        sign_ups_burst: u32::MAX,
        sign_ups_per_hour: 1,
    };
    Settings { rates, ..Settings::default() }
}

async fn ground(store: &Store, clock: &Arc<Hours>, settings: Settings) -> Result<Ground, Failure> {
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    let parts = Parts {
        store: store.clone(),
        ids: Ids::from_os(Arc::clone(&clock)).map_err(Failure::Start)?,
        chance: Chance::from_os().map_err(Failure::Start)?,
        clock,
        settings,
        // No request here can be sent again.
        fingerprint_key: [0; 32],
    };
    Ok(Ground::open(parts).await?)
}

/// Whoever follows the stream while the town is built.
struct Following {
    enough: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Following {
    fn start(runner: Runner) -> Self {
        let (enough, wished) = oneshot::channel();
        let run = async move { runner.run(async { drop(wished.await) }).await };
        Self { enough, task: tokio::spawn(run) }
    }

    async fn stop(self) {
        drop(self.enough);
        let _ = self.task.await;
    }
}

/// Everybody signs up and says who they are. Three get a password that is told; that of all others is
/// chance, and nobody has ever seen it.
async fn move_in(
    ground: &Ground,
    store: &Store,
    clock: &Arc<Hours>,
    people: &[Resident],
    end_ms: u64,
    progress: &Shown,
) -> Result<Vec<Caller>, Failure> {
    let known = Accounts::new(self::ground(store, clock, unhurried()).await?);
    let others = Accounts::new(ground.clone());
    let chance = Mutex::new(StdRng::try_from_os_rng().map_err(|e| Failure::Start(e.into()))?);
    progress.stage("People move in", Some(people.len() as u64));
    let [from, to, _] = DAYS_AGO;
    let arrivals = people.iter().enumerate().map(|(at, person)| {
        let accounts = if person.login.is_some() { known.clone() } else { others.clone() };
        let password = match person.login {
            Some(login) => Secret::new(login.password),
            None => Secret::new(format!("{:032x}", chance.lock().random::<u128>())),
        };
        clock.reach_ms(moment(end_ms, (from, to), at, people.len()));
        async move {
            let caller = arrive(&accounts, person, password).await?;
            progress.advance(1);
            Ok::<_, Failure>(caller)
        }
    });
    stream::iter(arrivals).buffered(AT_ONCE).try_collect().await
}

async fn arrive(
    accounts: &Accounts,
    person: &Resident,
    password: Secret,
) -> Result<Caller, Failure> {
    let sign_up = SignUp {
        email: made("an address", person.email.parse())?,
        password,
        nickname: made("a nickname", person.nickname.parse())?,
        handle: None,
        invitation: None,
        full_name: Some(person.full_name.clone()),
        language: Some(String::from("en")),
    };
    let caller = made("signing up", accounts.register(&sign_up, None, None).await)?.caller;
    let tags = person.likes.iter().filter_map(|topic| TOPICS.get(*topic)?.tag.parse::<Tag>().ok());
    let change = ProfileChange {
        bio: Edit::Set(person.bio.clone()),
        country: Edit::Set(person.country.to_owned()),
        tags: Some(tags.collect()),
        is_private: Some(person.is_private),
        ..ProfileChange::default()
    };
    made("a profile", accounts.update_profile(&caller, &change, None).await)?;
    let role = person.login.map(|login| login.role).filter(|role| *role != Role::User);
    if let Some(role) = role {
        made("a role", accounts.grant(&sign_up.nickname, role).await)?;
        return Ok(Caller::with_roles(caller.user_id, &[Role::User, role]));
    }
    Ok(caller)
}

/// When something happens that is one of many in a stretch of days.
fn moment(end_ms: u64, (from, to): (u64, u64), at: usize, of: usize) -> u64 {
    let length = (from - to) * DAY_MS;
    end_ms - from * DAY_MS + length * at as u64 / of.max(1) as u64
}

impl Town {
    async fn meet(&self, circles: &[(usize, usize)], progress: &Shown) -> Result<(), Failure> {
        progress.stage("They get to know each other", Some(circles.len() as u64));
        let [_, from, to] = DAYS_AGO;
        let meetings = circles.iter().enumerate().map(|(at, (follower, followee))| {
            self.clock.reach_ms(moment(self.end_ms, (from, to), at, circles.len()));
            let follows = Follows::new(self.ground.clone());
            async move {
                let (follower, followee) = (self.who(*follower)?, self.who(*followee)?);
                let followed = follows.follow(follower, &followee.user_id, None).await;
                progress.advance(1);
                made("following", followed).map(drop)
            }
        });
        stream::iter(meetings).buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn found(&self, progress: &Shown) -> Result<Vec<GroupId>, Failure> {
        progress.stage("They found groups", Some(self.clubs.len() as u64));
        let groups = Groups::new(self.ground.clone());
        let founded = self.clubs.iter().map(|club| {
            let groups = groups.clone();
            async move {
                let group = self.found_one(&groups, club).await;
                progress.advance(1);
                group
            }
        });
        stream::iter(founded).buffered(AT_ONCE).try_collect().await
    }

    async fn found_one(&self, groups: &Groups, club: &Club) -> Result<GroupId, Failure> {
        let topic = TOPICS.get(club.topic).ok_or_else(|| missing("a topic"))?;
        let name = match club.number {
            0 => topic.group.to_owned(),
            number => format!("{} {}", topic.group, number + 1),
        };
        let (owner, others) = club.members.split_first().unwrap_or((&0, &[]));
        let owner = self.who(*owner)?;
        let group = NewGroup {
            description: Some(format!("For everybody who likes {}.", topic.tag)),
            tags: topic.tag.parse().into_iter().collect(),
            is_persistent: true,
            is_private: club.is_private,
            ..NewGroup::named(name)
        };
        let group = made("a group", groups.create(owner, group, None).await)?.id;
        for member in others {
            let member = self.who(*member)?;
            made("joining a group", groups.join(member, &group, None).await)?;
            if club.is_private {
                let let_in = groups.approve(owner, &group, &member.user_id, None).await;
                made("letting somebody in", let_in)?;
            }
        }
        Ok(group)
    }

    async fn live(self: Arc<Self>, pages: Vec<Vec<Act>>, progress: &Shown) -> Result<(), Failure> {
        let total: usize = pages.iter().map(Vec::len).sum();
        progress.stage("Two weeks pass", Some(total as u64));
        let [.., from] = DAYS_AGO;
        let mut at = 0;
        for page in pages {
            // Later pages are about what earlier ones made.
            let acts = page.into_iter().map(|act| {
                at += 1;
                let (town, ms) = (Arc::clone(&self), moment(self.end_ms, (from, 0), at, total));
                async move {
                    let done = tokio::spawn(async move {
                        town.clock.reach_ms(ms);
                        town.act(act).await
                    });
                    progress.advance(1);
                    made("somebody", done.await)?
                }
            });
            stream::iter(acts).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        }
        Ok(())
    }
}
