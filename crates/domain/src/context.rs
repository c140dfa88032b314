//! The context of every service: tables, clock, ids, settings. All of it is injected.

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::RwLock;
use roundtable_domain_macros::boxed;
use roundtable_model::table::{Clock, Observer, ReadBudget, Store};
use roundtable_model::{
    Core, Entity, EntityKey, IdGenerator, LoginAttempts, Ops, Result, Time, items_by_key,
    items_by_key_eventual,
};

use crate::accounts::PasswordHasher;
use crate::entropy::Entropy;
use crate::memory::EntityMemory;
use crate::rate_limiter::RateLimiter;
use crate::{FeedPolicy, LiveBus, Settings};

/// The parts of a [`Context`].
#[derive(Debug)]
pub struct ContextParts {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub ids: IdGenerator,
    pub entropy: Entropy,
    pub settings: Settings,
    /// Keys the fingerprints of requests, so that a fingerprint reveals nothing about the input.
    pub fingerprint_key: [u8; 32],
}

/// The context of every service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    store: Store,
    core: Core,
    logins: LoginAttempts,
    ops: Ops,
    shared: Arc<SharedParts>,
    /// The bus whose memory answers reads, if there is one.
    bus: Option<LiveBus>,
}

#[derive(Debug)]
struct SharedParts {
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    entropy: Entropy,
    settings: Settings,
    fingerprint_key: [u8; 32],
    /// Starts as configured and can be changed at run time.
    feed_policy: RwLock<FeedPolicy>,
    /// Shared, because a caller's writes to all services count together.
    rate_limiter: RateLimiter,
    /// Shared, because the number of concurrent hash computations is limited.
    passwords: PasswordHasher,
}

#[boxed]
impl Context {
    /// Opens the context, creating tables that do not exist yet.
    pub async fn open(parts: ContextParts) -> Result<Self> {
        let ContextParts { store, clock, ids, entropy, settings, fingerprint_key } = parts;
        let names = &settings.tables;
        let core = store.create_table(Core::SHAPE.definition(&names.core)).await?;
        let logins = store.create_table(LoginAttempts::SHAPE.definition(&names.logins)).await?;
        let ops = store.create_table(Ops::SHAPE.definition(&names.ops)).await?;
        let (core, logins, ops) = (Core::on(core), LoginAttempts::on(logins), Ops::on(ops));
        let rate_limiter = RateLimiter::new(Arc::clone(&clock), &settings);
        let passwords = PasswordHasher::new(&settings.login, &entropy);
        let feed_policy = RwLock::new(settings.feed.policy);
        let shared = SharedParts {
            clock,
            ids,
            entropy,
            settings,
            fingerprint_key,
            feed_policy,
            rate_limiter,
            passwords,
        };
        Ok(Self { store, core, logins, ops, shared: Arc::new(shared), bus: None })
    }

    /// Returns the same context with `observer` notified of every operation, to measure one
    /// request's cost.
    #[must_use]
    pub fn observed(&self, observer: Arc<dyn Observer>) -> Self {
        self.on(self.store.observed(observer))
    }

    /// Returns the same context with what it reads charged to a budget.
    #[must_use]
    pub fn with_read_budget(&self, budget: Arc<ReadBudget>) -> Self {
        self.on(self.store.with_read_budget(budget))
    }

    /// Returns the same context without a read budget: for what decision 0012 charges to no request.
    #[must_use]
    pub(crate) fn without_read_budget(&self) -> Self {
        self.on(self.store.without_read_budget())
    }

    fn on(&self, store: Store) -> Self {
        let on =
            |table: &roundtable_model::table::Table| store.table_as(Arc::clone(table.definition()));
        Self {
            core: Core::on(on(self.core.table())),
            logins: LoginAttempts::on(on(self.logins.table())),
            ops: Ops::on(on(self.ops.table())),
            shared: Arc::clone(&self.shared),
            bus: self.bus.clone(),
            store,
        }
    }

    /// Returns the same context with reads answered by the memory of a bus, where that is exact. The
    /// bus itself must have a context without.
    #[must_use]
    pub fn with_memory_of(&self, bus: &LiveBus) -> Self {
        Self { bus: Some(bus.clone()), ..self.clone() }
    }

    /// Returns the memory of the bus, with every change until now applied; `None` where it is not
    /// exact. If the changes cannot be read, the caller reads the table and gets its error.
    pub(crate) async fn exact_memory(&self) -> Option<&EntityMemory> {
        let bus = self.bus.as_ref().filter(|bus| bus.is_exact())?;
        bus.catch_up().await.ok()?;
        Some(bus.entity_memory())
    }

    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// The core table: everything users create and do.
    pub const fn core(&self) -> &Core {
        &self.core
    }

    /// Reads the items at these keys; the results are in the same order. For items of several
    /// owners, which no named access pattern reads in one query.
    pub(crate) fn items_at<E: Entity>(
        &self,
        pattern: &'static str,
        places: impl IntoIterator<Item = EntityKey<E>>,
    ) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
        items_by_key(self.core.table().for_pattern(pattern), places)
    }

    /// As [`Context::items_at`], but eventually consistent: for numbers that processors maintain,
    /// which lag behind anyway.
    pub(crate) fn items_at_eventual<E: Entity>(
        &self,
        pattern: &'static str,
        places: impl IntoIterator<Item = EntityKey<E>>,
    ) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
        items_by_key_eventual(self.core.table().for_pattern(pattern), places)
    }

    pub const fn logins(&self) -> &LoginAttempts {
        &self.logins
    }

    /// The operations table: leases, checkpoints and dead letters.
    pub const fn ops(&self) -> &Ops {
        &self.ops
    }

    pub fn now(&self) -> Time {
        Time::now(&*self.shared.clock)
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    pub fn ids(&self) -> &IdGenerator {
        &self.shared.ids
    }

    pub(crate) fn entropy(&self) -> &Entropy {
        &self.shared.entropy
    }

    pub(crate) fn rate_limiter(&self) -> &RateLimiter {
        &self.shared.rate_limiter
    }

    pub(crate) fn passwords(&self) -> &PasswordHasher {
        &self.shared.passwords
    }

    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The policy that decides which activities are copied into feeds.
    pub fn feed_policy(&self) -> FeedPolicy {
        *self.shared.feed_policy.read()
    }

    /// Changes the feed policy. Existing copies stay and other activities are read from their
    /// actors, so feeds show the same entries.
    pub fn set_feed_policy(&self, policy: FeedPolicy) {
        *self.shared.feed_policy.write() = policy;
    }

    pub(crate) fn fingerprint_key(&self) -> &[u8; 32] {
        &self.shared.fingerprint_key
    }
}
