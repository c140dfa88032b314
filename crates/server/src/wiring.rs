//! Assembles a process: the store, the context, the services, the streams and the keys.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{
    Context, ContextParts, Entropy, Feeds, LiveBus, MediaFiles, MediaStore, Search, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_hooks::{DELIVERY_TIMEOUT, HttpWebhookSender, WebhookModerator};
use roundtable_interface::{CursorCipher, Services, TokenIssuer};
use roundtable_media::{DirectoryLimits, MediaDirectory, OPEN_BUCKET};
use roundtable_model::{IdGenerator, JobId, Ops};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_table::{Clock, Store, essential};

use crate::admin::AdminService;
use crate::admin_socket;
use crate::authentication::Authenticator;
use crate::background::BackgroundTasks;
use crate::backups::media_directory;
use crate::change_forwarding::ChangeForwarder;
use crate::configuration::{
    Configuration, ConfigurationError, ProcessRole, ProcessSettings, StoreKind, StoreSettings,
};
use crate::keys::{CURSORS, FILES, FINGERPRINTS, KeyError, KeyRing};
use crate::media_sweep;
use crate::oidc::{OidcIdentities, OidcIssuer};
use crate::optional_parts::S3;
use crate::relay::{self, RelayClient, RelayServer};
use crate::seal::Seal;
use crate::search::ProcessIndex;
use crate::shutdown::ShutdownSignal;
use crate::store::{self, OpenStore, open_store};
use crate::store_probe::{ProbeFailure, Readiness, TableProbes};
use crate::stream_holds::{StreamKeeper, expect_processors};
use crate::stream_status::StreamStatus;
use crate::tokens::AccessTokens;
use crate::worker_address::worker_address;
use crate::worker_leases::WorkerRegistry;

/// The directory of media files within the data directory, and the path of their URLs.
pub(crate) const MEDIA_DIRECTORY: &str = "media";
/// The token issuer, where no public URL is configured.
const DEFAULT_ISSUER: &str = "roundtable";

/// The reason that a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    #[error(transparent)]
    Store(#[from] roundtable_table::Error),
    #[error(transparent)]
    Model(#[from] roundtable_model::Error),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("media: {0}")]
    Media(#[from] roundtable_media::MediaConfigError),
    #[error(transparent)]
    Probe(#[from] ProbeFailure),
    #[error("hook: {0}")]
    Hook(#[from] roundtable_hooks::HookConfigError),
    #[error(
        "http.listen: cannot listen at {address}: {error}; stop the program that uses the address, or \
         choose another with --listen"
    )]
    Listen { address: std::net::SocketAddr, error: std::io::Error },
    #[error("the GraphQL schema is not valid; report this as a bug: {0}")]
    Schema(String),
    #[error("the threads for background work could not be started: {0}")]
    Threads(std::io::Error),
    #[error("the operating system provides no random bytes")]
    Entropy,
    #[error("the server panicked while opening the store; see the log, and report this as a bug")]
    Panicked,
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) settings: ProcessSettings,
    pub(crate) services: Services,
    pub(crate) authenticator: Authenticator,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) tokens: Arc<AccessTokens>,
    /// The active workers, if the store supports several.
    pub(crate) workers: Option<WorkerRegistry>,
    /// Receives the changes that other processes read.
    pub(crate) relay_client: Option<Arc<RelayClient>>,
    pub(crate) relay_server: RelayServer,
    pub(crate) runner: Runner,
    pub(crate) engine: Option<Engine>,
    /// Media files in a local directory, which this process serves itself.
    pub(crate) files: Option<MediaDirectory>,
    pub(crate) media_store: Arc<dyn MediaStore>,
    /// The search index, if this process has one.
    pub(crate) search: Option<ProcessIndex>,
    pub(crate) readiness: Readiness,
    pub(crate) background: BackgroundTasks,
}

impl Process {
    /// Opens everything without starting it. `at` is the base URL unless one is configured.
    pub(crate) async fn open(
        configuration: Configuration,
        clock: Arc<dyn Clock>,
        at: &str,
    ) -> Result<Self, StartError> {
        let Configuration { process, settings } = configuration;
        let OpenStore { store, engine } =
            open_store(&process.store, engine_options(&process.store, &clock)).await?;
        let tables = (process.store.kind == StoreKind::Dynamodb)
            .then(|| TableProbes::new(&store, &settings.tables, &process.store));
        if let Some(tables) = &tables {
            tables.check_at_start().await?;
        }
        // Before the context, which needs one of the keys.
        let ops = store.create_table(Ops::SHAPE.definition(&settings.tables.ops)).await?;
        let keys = Arc::new(open_keys(&process, Ops::on(ops), &clock).await?);
        let context = open_context(store, settings, &keys, &clock).await?;
        let url = process.http.public_url.as_deref().unwrap_or(at).trim_end_matches('/');
        let (files, media) = open_media(&process, context.settings(), &keys, &clock, url).await?;
        let name = context.ids().next::<JobId>().to_string();
        let interval = Duration::from_secs(process.store.probe_seconds);
        let readiness = Readiness::open(tables, Arc::clone(&media), name, interval).await?;
        let bus = LiveBus::new(context.clone());
        let serves_api = process.role != ProcessRole::Worker;
        let (index, search) =
            ProcessIndex::open(&context, &bus, &process.store.data, &process.search, serves_api);
        let context = context.with_memory_of(&bus);
        let tokens = Arc::new(access_tokens(&process, &keys, &clock));
        let is_shared = !context.store().capabilities().single_process;
        let workers =
            is_shared.then(|| WorkerRegistry::new(&context, worker_address(&process, at)));
        let relay_client = open_relay_client(&process, workers.as_ref(), &tokens, &bus)?;
        let relay_server = RelayServer::new();
        let forwarder = ChangeForwarder {
            bus: relay_client.is_some().then(|| bus.clone()),
            relay: relay_server.clone(),
        };
        let runner = build_runner(&context, &media, workers.as_ref(), engine.as_ref(), forwarder)?;
        if let Some(engine) = &engine {
            expect_processors(engine, &runner);
        }
        let oidc =
            process.sign_in.oidc.clone().map(|oidc| OidcIssuer::new(oidc, Arc::clone(&clock)));
        let oidc = oidc.transpose()?.map(Arc::new);
        let timeout = Duration::from_secs(process.http.request_seconds.max(1));
        let authenticator =
            Authenticator::new(context.clone(), Arc::clone(&tokens), oidc.clone(), timeout);
        let cursors = CursorCipher::new(&keys.permanent_key(&CURSORS).await?)
            .ok_or(KeyError::CannotCreate)?;
        let services = Services {
            feeds: Feeds::new(context.clone(), &bus),
            bus,
            media: MediaFiles::new(context.clone(), Arc::clone(&media)),
            search: Search::new(context.clone(), index),
            issuer: Arc::clone(&tokens) as Arc<dyn TokenIssuer>,
            identities: Arc::new(OidcIdentities(oidc)),
            streams: Arc::new(StreamStatus::new(context.clone(), runner.clone(), workers.clone())),
            cursors: Arc::new(cursors),
            context,
        };
        Ok(Self {
            settings: process,
            services,
            authenticator,
            keys,
            tokens,
            workers,
            relay_client,
            relay_server,
            runner,
            engine,
            files,
            media_store: media,
            search,
            readiness,
            background: BackgroundTasks::default(),
        })
    }

    /// Returns whether this process answers API requests.
    pub(crate) fn serves_api(&self) -> bool {
        self.settings.role != ProcessRole::Worker
    }

    /// Returns whether this process reads changes that others receive.
    pub(crate) fn serves_changes(&self) -> bool {
        self.settings.role != ProcessRole::Api && self.workers.is_some()
    }

    /// Starts the background tasks, which run until shutdown.
    pub(crate) fn start(&self, shutdown: &ShutdownSignal) {
        let background = &self.background;
        if self.settings.role != ProcessRole::Api {
            let (runner, stop) = (self.runner.clone(), shutdown.clone());
            let work = async move { runner.run(stop.triggered()).await };
            background.start("streams", shutdown, work);
            let upload_seconds = self.services.context.settings().media.upload_seconds;
            let (store, stop) = (Arc::clone(&self.media_store), shutdown.clone());
            let work = media_sweep::run(store, Duration::from_secs(upload_seconds), stop);
            background.start("media", shutdown, work);
        }
        if self.serves_api() {
            let (bus, stop) = (self.services.bus.clone(), shutdown.clone());
            background.start("live", shutdown, async move { bus.run(stop.triggered()).await });
        }
        if let Some(indexer) = self.search.as_ref().and_then(ProcessIndex::take_indexer) {
            let stop = shutdown.clone();
            background.start(
                "search",
                shutdown,
                async move { indexer.run(stop.triggered()).await },
            );
        }
        if let Some(relay_client) = &self.relay_client {
            let (relay_client, stop) = (Arc::clone(relay_client), shutdown.clone());
            background.start("relay", shutdown, relay_client.run(stop));
        }
        if let Some(engine) = &self.engine {
            let data = self.settings.store.data.clone();
            let embedded = Some((engine.clone(), data.clone()));
            let admin = AdminService::new(&self.services.context, &self.runner, embedded);
            let work = admin_socket::serve(data, admin, shutdown.clone());
            background.start("socket", shutdown, work);
        }
        let (keys, stop) = (Arc::clone(&self.keys), shutdown.clone());
        background.start("keys", shutdown, async move { maintain_keys(&keys, &stop).await });
    }
}

const KEYS_INTERVAL: Duration = Duration::from_mins(1);

async fn maintain_keys(keys: &KeyRing, shutdown: &ShutdownSignal) {
    while shutdown.unless_triggered(tokio::time::sleep(KEYS_INTERVAL)).await.is_some() {
        if let Err(error) = essential(keys.maintain()).await {
            tracing::warn!(%error, "cannot read or renew the signing keys; retrying in a minute");
        }
    }
}

fn engine_options(store: &StoreSettings, clock: &Arc<dyn Clock>) -> Options {
    Options {
        clock: Arc::clone(clock),
        archive: store.archive.clone(),
        archive_interval: Duration::from_secs(store.archive_seconds),
        awaits_consumers: true,
        reserve_bytes: store.reserve_bytes,
        ..Options::default()
    }
}

async fn open_context(
    store: Store,
    settings: Settings,
    keys: &KeyRing,
    clock: &Arc<dyn Clock>,
) -> Result<Context, StartError> {
    let parts = ContextParts {
        store,
        ids: IdGenerator::from_os(Arc::clone(clock)).map_err(|_| StartError::Entropy)?,
        entropy: Entropy::from_os().map_err(|_| StartError::Entropy)?,
        clock: Arc::clone(clock),
        settings,
        fingerprint_key: keys.permanent_key(&FINGERPRINTS).await?,
    };
    Ok(Context::open(parts).await?)
}

fn access_tokens(
    process: &ProcessSettings,
    keys: &Arc<KeyRing>,
    clock: &Arc<dyn Clock>,
) -> AccessTokens {
    let sign_in = &process.sign_in;
    let issuer = process.http.public_url.clone().unwrap_or_else(|| DEFAULT_ISSUER.to_owned());
    let audience = sign_in.audience.clone();
    AccessTokens::new(Arc::clone(keys), Arc::clone(clock), issuer, audience, sign_in.token_seconds)
}

async fn open_keys(
    process: &ProcessSettings,
    ops: Ops,
    clock: &Arc<dyn Clock>,
) -> Result<KeyRing, StartError> {
    let sign_in = &process.sign_in;
    let secret = match &sign_in.secret {
        Some(secret) => secret.clone(),
        None => store::embedded_secret(&process.store.data)?,
    };
    let seal = Seal::new(&secret).ok_or(KeyError::CannotCreate)?;
    let (days, seconds) = (sign_in.key_days, sign_in.token_seconds);
    Ok(KeyRing::open(ops, Arc::clone(clock), seal, days, seconds).await?)
}

async fn open_media(
    process: &ProcessSettings,
    settings: &Settings,
    keys: &KeyRing,
    clock: &Arc<dyn Clock>,
    url: &str,
) -> Result<(Option<MediaDirectory>, Arc<dyn MediaStore>), StartError> {
    if let Some(bucket) = &settings.media.s3 {
        let open_bucket = S3.require(OPEN_BUCKET)?;
        return Ok((None, open_bucket(bucket)?));
    }
    if process.store.kind == StoreKind::Dynamodb {
        tracing::warn!("media.s3 is not set: all processes must share the directory `store.data`");
    }
    let at = media_directory(&process.store.data, &settings.media);
    let default = process.store.data.join(MEDIA_DIRECTORY);
    if at != default && default.exists() {
        tracing::warn!(
            "media.directory is {}, and {} exists, too: move its files, or they cannot be seen",
            at.display(),
            default.display()
        );
    }
    let base = format!("{url}/{MEDIA_DIRECTORY}");
    let secret = keys.permanent_key(&FILES).await?;
    let limits = DirectoryLimits {
        free_bytes_min: settings.media.free_bytes_min,
        transfer_time_max: Duration::from_secs(settings.media.transfer_seconds),
    };
    let files = MediaDirectory::open(&at, &base, &secret, Arc::clone(clock), limits)?;
    Ok((Some(files.clone()), Arc::new(files)))
}

/// Returns the relay client, if other processes can read changes.
fn open_relay_client(
    process: &ProcessSettings,
    registry: Option<&WorkerRegistry>,
    tokens: &Arc<AccessTokens>,
    bus: &LiveBus,
) -> Result<Option<Arc<RelayClient>>, ConfigurationError> {
    let (workers, own) = (&process.live.workers, &process.live.worker_url);
    let Some(registry) = registry else {
        let set = [("live.workers", !workers.is_empty()), ("live.worker-url", own.is_some())];
        let Some((key, _)) = set.into_iter().find(|(_, is_set)| *is_set) else { return Ok(None) };
        let problem = "an embedded store has no other processes: remove this setting";
        return Err(ConfigurationError::conflict(key, problem));
    };
    if let Some(own) = own {
        relay::worker_uri("live.worker-url", own)?;
    }
    if process.role == ProcessRole::Worker {
        return Ok(None);
    }
    let is_worker = process.role == ProcessRole::All;
    let relay_client =
        RelayClient::new(workers, is_worker, Arc::clone(tokens), bus.clone(), registry.clone())?;
    Ok(Some(Arc::new(relay_client)))
}

fn build_runner(
    context: &Context,
    media: &Arc<dyn MediaStore>,
    workers: Option<&WorkerRegistry>,
    engine: Option<&Engine>,
    forwarder: ChangeForwarder,
) -> Result<Runner, StartError> {
    let mut seed = [0; 32];
    aws_lc_rs::rand::fill(&mut seed).map_err(|_| StartError::Entropy)?;
    let mut setup = processors(context, seed, Arc::clone(media))?;
    if let Some(workers) = workers {
        setup = setup.with_shard_assignment(workers.shard_worker()).with(forwarder);
    }
    if let Some(engine) = engine {
        setup = setup.with_shard_assignment(StreamKeeper::new(engine.clone()));
    }
    Ok(setup.build())
}

/// All stream processors, as configured.
pub(crate) fn processors(
    context: &Context,
    seed: [u8; 32],
    media: Arc<dyn MediaStore>,
) -> Result<RunnerBuilder, StartError> {
    let (settings, clock) = (context.settings(), context.clock());
    let sender = HttpWebhookSender::new(DELIVERY_TIMEOUT, Arc::clone(clock))
        .with_settings(&settings.webhooks);
    let setup = RunnerBuilder::with_all_processors(context, seed)
        .with_media_store(media)
        .with_webhook_sender(Arc::new(sender));
    Ok(match WebhookModerator::configured(&settings.hook, Arc::clone(clock))? {
        Some(moderator) => setup.with_moderator(Arc::new(moderator)),
        None => setup,
    })
}
