//! Puts a process together: the store, the ground, the services, the streams, the keys. What it is made
//! of is decided here, and nowhere else.

use std::sync::Arc;

use roundtable_domain::{
    Chance, Feeds, Ground, Live, MediaFiles, MediaStore, Messages, Notifications, Parts, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_graphql::{Cursors, Issuer, Services};
use roundtable_hooks::{Deliverer, PATIENCE, WebhookJudge};
use roundtable_media::{Bucket, Directory};
use roundtable_model::{Ids, Ops};
use roundtable_streams::{Runner, Setup};
use roundtable_table::Clock;

use crate::background::Background;
use crate::backstage::Behind;
use crate::configuration::{Configuration, Misconfigured, ProcessSettings, Role, StoreKind};
use crate::identity::Identity;
use crate::keys::{CURSORS, FILES, FINGERPRINTS, KeyError, Keys};
use crate::office::Office;
use crate::oidc::Oidc;
use crate::relay::{Hearing, Relay};
use crate::seal::Seal;
use crate::sharing::{Census, Shared};
use crate::socket;
use crate::stopping::Stopping;
use crate::store::{self, Opened, open_store};
use crate::tap::{Tap, Taps};
use crate::tokens::Tokens;

/// Where files that people send are, in the directory of the store.
pub(crate) const MEDIA: &str = "media";
/// What tokens call their issuer, where it has no address.
const ISSUER: &str = "roundtable";

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It is configured wrongly.
    #[error(transparent)]
    Configuration(#[from] Misconfigured),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] roundtable_table::Error),
    /// The tables are not what they must be.
    #[error(transparent)]
    Ground(#[from] roundtable_model::Error),
    /// There are no keys.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The store of files is configured wrongly.
    #[error("media: {0}")]
    Media(#[from] roundtable_media::Misconfigured),
    /// The hook is configured wrongly.
    #[error("hook: {0}")]
    Hook(#[from] roundtable_hooks::Misconfigured),
    /// The address cannot be listened at.
    #[error("http.listen: cannot listen at {address}: {error}")]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// Why not.
        error: std::io::Error,
    },
    /// The system has no randomness.
    #[error("the operating system gives no random bytes")]
    Chance,
    /// A part broke while it started.
    #[error("a part of the server broke while it started")]
    Panicked,
}

/// A process that is put together.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) settings: ProcessSettings,
    pub(crate) services: Services,
    pub(crate) identity: Identity,
    pub(crate) keys: Arc<Keys>,
    pub(crate) tokens: Arc<Tokens>,
    /// Who works on the stream, where several can.
    pub(crate) census: Option<Census>,
    /// Hears of changes that other processes read, if any do.
    pub(crate) hearing: Option<Arc<Hearing>>,
    pub(crate) relay: Relay,
    pub(crate) runner: Runner,
    pub(crate) engine: Option<Engine>,
    /// The files that this process hands out itself.
    pub(crate) files: Option<Directory>,
    pub(crate) background: Background,
}

impl Process {
    /// Opens everything; nothing runs yet. `at` is how clients reach this process, unless configured.
    pub(crate) async fn open(
        configuration: Configuration,
        clock: Arc<dyn Clock>,
        at: &str,
    ) -> Result<Self, StartError> {
        let Configuration { process, settings } = configuration;
        let archive = process.store.archive.clone();
        let options = Options { clock: Arc::clone(&clock), archive, ..Options::default() };
        let Opened { store, engine } = open_store(&process.store, options).await?;
        // Before the ground: the key that it stands on is among them.
        let ops = store.create_table(Ops::SHAPE.definition(&settings.tables.ops)).await?;
        let keys = Arc::new(open_keys(&process, Ops::on(ops), &clock).await?);
        let ground = Ground::open(Parts {
            store,
            ids: Ids::from_os(Arc::clone(&clock)).map_err(|_| StartError::Chance)?,
            chance: Chance::from_os().map_err(|_| StartError::Chance)?,
            clock: Arc::clone(&clock),
            settings,
            fingerprint_key: keys.lasting(&FINGERPRINTS).await?,
        });
        let ground = ground.await?;
        let url = process.http.public_url.as_deref().unwrap_or(at).trim_end_matches('/');
        let (files, media) = open_media(&process, ground.settings(), &keys, &clock, url).await?;
        let feeds = Feeds::new(ground.clone());
        let messages = Messages::new(ground.clone());
        let notifications = Notifications::new(ground.clone());
        let live = Live::new(ground.clone());
        let taps = Taps::new(&feeds, &messages, &notifications, &live);
        let issuer = process.http.public_url.clone().unwrap_or_else(|| ISSUER.to_owned());
        let sign_in = &process.sign_in;
        let tokens = Arc::new(Tokens::new(
            Arc::clone(&keys),
            Arc::clone(&clock),
            issuer,
            sign_in.audience.clone(),
            sign_in.token_seconds,
        ));
        let census = (!ground.store().capabilities().one_process).then(|| Census::on(&ground));
        let hearing = hearing(&process, census.as_ref(), &tokens, &taps)?;
        let relay = Relay::new();
        let tap = Tap { taps: hearing.is_some().then_some(taps), relay: relay.clone() };
        let runner = streams(&ground, &media, census.as_ref(), tap)?;
        let oidc = sign_in.oidc.clone().map(|oidc| Oidc::new(oidc, Arc::clone(&clock)));
        let oidc = oidc.transpose()?.map(Arc::new);
        let identity = Identity::new(ground.clone(), Arc::clone(&tokens), oidc);
        let cursors = Cursors::new(&keys.lasting(&CURSORS).await?).ok_or(KeyError::NotMade)?;
        let services = Services {
            feeds,
            messages,
            notifications,
            live,
            media: MediaFiles::new(ground.clone(), media),
            issuer: Arc::clone(&tokens) as Arc<dyn Issuer>,
            backstage: Arc::new(Behind::new(ground.clone(), runner.clone())),
            cursors: Arc::new(cursors),
            ground,
        };
        Ok(Self {
            settings: process,
            services,
            identity,
            keys,
            tokens,
            census,
            hearing,
            relay,
            runner,
            engine,
            files,
            background: Background::default(),
        })
    }

    /// Whether requests are answered here.
    pub(crate) fn answers(&self) -> bool {
        self.settings.role != Role::Worker
    }

    /// Whether this process reads changes that others want to hear of.
    pub(crate) fn tells_others(&self) -> bool {
        self.settings.role != Role::Api && self.census.is_some()
    }

    /// Starts what works in the background, until `stopping`.
    pub(crate) fn start(&self, stopping: &Stopping) {
        let background = &self.background;
        if self.settings.role != Role::Api {
            let (runner, stop) = (self.runner.clone(), stopping.clone());
            let work = async move { runner.run(stop.wished()).await };
            background.start("streams", stopping, work);
        }
        if self.answers() {
            let (feeds, stop) = (self.services.feeds.clone(), stopping.clone());
            let work = async move { feeds.follow(stop.wished()).await };
            background.start("feeds", stopping, work);
            let (notifications, stop) = (self.services.notifications.clone(), stopping.clone());
            let work = async move { notifications.follow(stop.wished()).await };
            background.start("notifications", stopping, work);
            let (live, stop) = (self.services.live.clone(), stopping.clone());
            let work = async move { live.follow(stop.wished()).await };
            background.start("live", stopping, work);
        }
        if let Some(hearing) = &self.hearing {
            let (hearing, stop) = (Arc::clone(hearing), stopping.clone());
            background.start("relay", stopping, async move { hearing.run(&stop).await });
        }
        if let Some(engine) = &self.engine {
            let data = self.settings.store.data.clone();
            let embedded = Some((engine.clone(), data.clone()));
            let office = Office::new(&self.services.ground, &self.runner, embedded);
            let work = socket::serve(data, office, stopping.clone());
            background.start("socket", stopping, work);
        }
        let (keys, stop) = (Arc::clone(&self.keys), stopping.clone());
        background.start("keys", stopping, async move { keep_keys(&keys, &stop).await });
    }
}

/// Between two looks at the keys.
const KEYS_EVERY: std::time::Duration = std::time::Duration::from_mins(1);

async fn keep_keys(keys: &Keys, stopping: &Stopping) {
    while stopping.unless(tokio::time::sleep(KEYS_EVERY)).await.is_some() {
        if let Err(error) = keys.keep_up().await {
            tracing::warn!(%error, "cannot look after the keys");
        }
    }
}

async fn open_keys(
    process: &ProcessSettings,
    ops: Ops,
    clock: &Arc<dyn Clock>,
) -> Result<Keys, StartError> {
    let sign_in = &process.sign_in;
    let secret = match &sign_in.secret {
        Some(secret) => secret.clone(),
        None => store::secret(&process.store.data)?,
    };
    let seal = Seal::new(&secret).ok_or(KeyError::NotMade)?;
    let (days, seconds) = (sign_in.key_days, sign_in.token_seconds);
    Ok(Keys::open(ops, Arc::clone(clock), seal, days, seconds).await?)
}

async fn open_media(
    process: &ProcessSettings,
    settings: &Settings,
    keys: &Keys,
    clock: &Arc<dyn Clock>,
    url: &str,
) -> Result<(Option<Directory>, Arc<dyn MediaStore>), StartError> {
    if let Some(bucket) = &settings.media.s3 {
        return Ok((None, Arc::new(Bucket::open(bucket)?)));
    }
    if process.store.kind == StoreKind::Dynamodb {
        tracing::warn!(
            "media.s3: none; all processes must then see the same directory `store.data`"
        );
    }
    let (at, base) = (process.store.data.join(MEDIA), format!("{url}/{MEDIA}"));
    let secret = keys.lasting(&FILES).await?;
    let files = Directory::open(&at, &base, &secret, Arc::clone(clock))?;
    Ok((Some(files.clone()), Arc::new(files)))
}

/// Who hears of the changes that other processes read: nobody, where there are none.
fn hearing(
    process: &ProcessSettings,
    census: Option<&Census>,
    tokens: &Arc<Tokens>,
    taps: &Taps,
) -> Result<Option<Arc<Hearing>>, Misconfigured> {
    let workers = &process.live.workers;
    let Some(census) = census else {
        if workers.is_empty() {
            return Ok(None);
        }
        let why = "an embedded store has no other processes";
        return Err(Misconfigured::together("live.workers", why));
    };
    process.check_workers()?;
    if process.role == Role::Worker {
        return Ok(None);
    }
    let works = process.role == Role::All;
    let hearing = Hearing::of(workers, works, Arc::clone(tokens), taps.clone(), census.clone())?;
    Ok(Some(Arc::new(hearing)))
}

fn streams(
    ground: &Ground,
    media: &Arc<dyn MediaStore>,
    census: Option<&Census>,
    tap: Tap,
) -> Result<Runner, StartError> {
    let mut seed = [0; 32];
    aws_lc_rs::rand::fill(&mut seed).map_err(|_| StartError::Chance)?;
    let mut setup = processors(ground, seed, Arc::clone(media))?;
    if let Some(census) = census {
        setup = setup.sharing(Shared::among(census)).with(tap);
    }
    Ok(setup.build())
}

/// Everything that follows from changes, as it is configured.
pub(crate) fn processors(
    ground: &Ground,
    seed: [u8; 32],
    media: Arc<dyn MediaStore>,
) -> Result<Setup, StartError> {
    let (settings, clock) = (ground.settings(), ground.clock());
    let deliverer = Deliverer::new(PATIENCE, Arc::clone(clock)).allowing(&settings.webhooks);
    let setup = Setup::everything(ground, seed).storing(media).telling(Arc::new(deliverer));
    Ok(match WebhookJudge::configured(&settings.hook, Arc::clone(clock))? {
        Some(judge) => setup.judged_by(Arc::new(judge)),
        None => setup,
    })
}
