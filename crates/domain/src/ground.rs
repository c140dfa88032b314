//! What every service stands on: the tables, time, ids, settings. All of it is given from outside.

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::RwLock;
use roundtable_domain_macros::boxed;
use roundtable_model::table::{Clock, Observer, Store};
use roundtable_model::{
    At, Core, Entity, Ids, LoginAttempts, Ops, Result, Time, items_at, items_lately_at,
};

use crate::accounts::Passwords;
use crate::chance::Chance;
use crate::rates::Rates;
use crate::{FeedPolicy, Settings};

/// What a [`Ground`] is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where everything is stored.
    pub store: Store,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Ids,
    /// Where secrets come from.
    pub chance: Chance,
    /// How this installation is configured.
    pub settings: Settings,
    /// Keys the fingerprints of requests, so that they tell nothing about the input.
    pub fingerprint_key: [u8; 32],
}

/// What every service stands on; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ground {
    store: Store,
    core: Core,
    logins: LoginAttempts,
    ops: Ops,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    ids: Ids,
    chance: Chance,
    settings: Settings,
    fingerprint_key: [u8; 32],
    /// Begins as the settings have it, and can be changed while everything runs.
    feed_policy: RwLock<FeedPolicy>,
    /// Here, because all callers of all services count.
    rates: Rates,
    /// Here, because only so many hashes are computed at the same time.
    passwords: Passwords,
}

#[boxed]
impl Ground {
    /// Makes the tables where they are not there yet, and stands on them.
    pub async fn open(parts: Parts) -> Result<Self> {
        let Parts { store, clock, ids, chance, settings, fingerprint_key } = parts;
        let names = &settings.tables;
        let core = store.create_table(Core::SHAPE.definition(&names.core)).await?;
        let logins = store.create_table(LoginAttempts::SHAPE.definition(&names.logins)).await?;
        let ops = store.create_table(Ops::SHAPE.definition(&names.ops)).await?;
        let (core, logins, ops) = (Core::on(core), LoginAttempts::on(logins), Ops::on(ops));
        let rates = Rates::new(Arc::clone(&clock), &settings.rates);
        let passwords = Passwords::new(&settings.login, &chance);
        let feed_policy = RwLock::new(settings.feed.policy);
        let shared =
            Shared { clock, ids, chance, settings, fingerprint_key, feed_policy, rates, passwords };
        Ok(Self { store, core, logins, ops, shared: Arc::new(shared) })
    }

    /// The same ground, with `observer` told of every operation: for one request's cost.
    #[must_use]
    pub fn observed(&self, observer: Arc<dyn Observer>) -> Self {
        let store = self.store.observed(observer);
        let on =
            |table: &roundtable_model::table::Table| store.table_as(Arc::clone(table.definition()));
        Self {
            core: Core::on(on(self.core.table())),
            logins: LoginAttempts::on(on(self.logins.table())),
            ops: Ops::on(on(self.ops.table())),
            shared: Arc::clone(&self.shared),
            store,
        }
    }

    /// The store behind the tables.
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// What people make and do.
    pub const fn core(&self) -> &Core {
        &self.core
    }

    /// What is at these places, each in its own. No question of the page names things of several people:
    /// their places do.
    pub(crate) fn at<E: Entity>(
        &self,
        pattern: &'static str,
        places: impl IntoIterator<Item = At<E>>,
    ) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
        items_at(self.core.table().for_pattern(pattern), places)
    }

    /// The same, perhaps as it was a moment ago: for numbers that processors keep, which are behind anyway.
    pub(crate) fn lately_at<E: Entity>(
        &self,
        pattern: &'static str,
        places: impl IntoIterator<Item = At<E>>,
    ) -> BoxFuture<'static, Result<Vec<Option<E>>>> {
        items_lately_at(self.core.table().for_pattern(pattern), places)
    }

    /// Failed sign-ins.
    pub const fn logins(&self) -> &LoginAttempts {
        &self.logins
    }

    /// Bookkeeping.
    pub const fn ops(&self) -> &Ops {
        &self.ops
    }

    /// Now.
    pub fn now(&self) -> Time {
        Time::now(&*self.shared.clock)
    }

    /// The clock itself.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Where ids come from.
    pub fn ids(&self) -> &Ids {
        &self.shared.ids
    }

    /// Where secrets come from.
    pub(crate) fn chance(&self) -> &Chance {
        &self.shared.chance
    }

    /// How much anybody may do in a while.
    pub(crate) fn rates(&self) -> &Rates {
        &self.shared.rates
    }

    /// What passwords are hashed with.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.shared.passwords
    }

    /// How this installation is configured.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Whose activities are copied into feeds, from now on.
    pub fn feed_policy(&self) -> FeedPolicy {
        *self.shared.feed_policy.read()
    }

    /// Changes that. What was copied stays copied, and what was not is looked up: feeds show the same.
    pub fn set_feed_policy(&self, policy: FeedPolicy) {
        *self.shared.feed_policy.write() = policy;
    }

    /// Keys the fingerprints of requests.
    pub(crate) fn fingerprint_key(&self) -> &[u8; 32] {
        &self.shared.fingerprint_key
    }
}
