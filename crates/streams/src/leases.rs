//! Leases: which worker reads which shard of a stream. One item per shard and consumer, changed by
//! conditional writes only; independent of what the changes are used for.
//!
//! ```text
//! LEASES#consumer#stream   SHARD#id       owner  expires (ms)  term  ended
//! LEASES#consumer#stream   WORKER#owner          expires (ms)  address  behindSince (ms)
//! ```
//! Taking a lease increments its term, and every later write is conditional on the term it was taken
//! with: a worker that lost a lease cannot renew or end it, however late its write arrives.
//! Workers announce themselves, so that each can compute its share without asking the others, and so
//! that other processes find them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roundtable_model::table::{
    Clock, Delete, Error, Item, Key, KeyDefinition, LeaseKey, Number, Query, Result, Returning,
    ShardInfo, Table, Update, ValueRef, attribute, not_exists,
};

const OWNER: &str = "owner";
const EXPIRES: &str = "expires";
const TERM: &str = "term";
const ADDRESS: &str = "address";
const BEHIND_SINCE: &str = "behindSince";
const ENDED: &str = LeaseKey::ENDED;

/// The identity of a worker: its stream, consumer and owner.
#[derive(Clone, Debug)]
pub struct LeaseConfig {
    /// Name of the stream's table.
    pub stream: String,
    /// Purpose of the reads; each consumer has its own leases.
    pub consumer: String,
    /// Unique name of this worker.
    pub owner: String,
    /// Validity of a lease without renewal. Renew at about a third of it. The clocks of workers must
    /// agree to much less than this.
    pub duration: Duration,
}

/// The leases of one consumer on the shards of one stream.
#[derive(Clone, Debug)]
pub struct Leases {
    table: Table,
    clock: Arc<dyn Clock>,
    config: LeaseConfig,
    /// The address at which other processes reach this worker.
    address: Option<String>,
    /// The time of the oldest change that this worker has read and not processed.
    behind_since_ms: Arc<Mutex<Option<u64>>>,
}

/// The workers whose announcements have not expired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActiveWorkers {
    pub workers: Vec<AnnouncedWorker>,
    /// True if they hold all shards that were ever leased and have not ended: none is left from a
    /// worker that died.
    pub hold_all_shards: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncedWorker {
    pub name: String,
    pub address: Option<String>,
    /// The time of the oldest change that it had read and not processed when it announced itself.
    pub behind_since_ms: Option<u64>,
}

/// This worker's right to read a shard, until `expires_ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub shard: String,
    /// Expiry in milliseconds since the epoch, unless renewed.
    pub expires_ms: u64,
    term: u64,
}

/// A shard's item, possibly written by another worker.
struct LeaseEntry {
    owner: Option<String>,
    expires_ms: u64,
    ended: bool,
}

/// A worker's announcement.
struct WorkerEntry {
    expires_ms: u64,
    address: Option<String>,
    behind_since_ms: Option<u64>,
}

#[derive(Default)]
struct LeaseListing {
    shards: BTreeMap<String, LeaseEntry>,
    workers: BTreeMap<String, WorkerEntry>,
}

impl Leases {
    /// Leases stored in `table`, which must have two text keys.
    pub fn new(table: Table, clock: Arc<dyn Clock>, config: LeaseConfig) -> Self {
        Self { table, clock, config, address: None, behind_since_ms: Arc::default() }
    }

    /// Announces this worker with the address at which other processes reach it.
    #[must_use]
    pub fn at(self, address: Option<String>) -> Self {
        Self { address, ..self }
    }

    /// Announces this worker with its backlog from the next round on.
    pub fn report_backlog(&self, since_ms: Option<u64>) {
        *self.behind_since_ms.lock() = since_ms;
    }

    pub const fn duration(&self) -> Duration {
        self.config.duration
    }

    /// Performs one round of balancing: announces this worker, renews its leases up to its share of
    /// the readable shards, releases the rest, and takes free ones. Returns the leases held
    /// afterwards; those of `held` that are missing were lost or released.
    ///
    /// A shard is readable once its parent has ended for this consumer, or is no longer listed.
    pub async fn balance(&self, shards: &[ShardInfo], held: Vec<Lease>) -> Result<Vec<Lease>> {
        self.announce().await?;
        let listing = self.list().await?;
        let open = listing.readable_shards(shards);
        let now = self.clock.now_ms();
        let workers = listing.active_workers(now).count().max(1);
        let share = open.len().div_ceil(workers);
        let mut leases = Vec::with_capacity(share);
        for mut lease in held {
            if !open.contains(&lease.shard.as_str()) {
                continue;
            }
            if leases.len() >= share {
                self.release(lease).await?;
            } else if self.renew(&mut lease).await? {
                leases.push(lease);
            }
        }
        for shard in &open {
            if leases.len() >= share {
                break;
            }
            let free = listing.shards.get(*shard).is_none_or(|entry| self.is_available(entry, now));
            if free && !leases.iter().any(|lease| lease.shard == *shard) {
                leases.extend(self.take(shard).await?);
            }
        }
        self.remove_stale(&listing, shards).await?;
        Ok(leases)
    }

    /// Returns the workers whose announcement has not expired.
    pub async fn active_workers(&self) -> Result<ActiveWorkers> {
        let (listing, now) = (self.list().await?, self.clock.now_ms());
        let workers = listing.active_workers(now).map(|(name, entry)| AnnouncedWorker {
            name: name.to_owned(),
            address: entry.address.clone(),
            behind_since_ms: entry.behind_since_ms,
        });
        let workers = workers.collect();
        Ok(ActiveWorkers { workers, hold_all_shards: listing.are_all_shards_held(now) })
    }

    /// Takes the lease of `shard` if it is free, expired, or already held by this worker; `None` if
    /// another worker holds it, or the shard has ended.
    pub async fn take(&self, shard: &str) -> Result<Option<Lease>> {
        let now = self.clock.now_ms();
        let free = not_exists(OWNER)
            .or(attribute(EXPIRES).le(now))
            .or(attribute(OWNER).eq(self.config.owner.as_str()));
        let update = Update::new(self.key(LeaseKey::Shard(shard)))
            .set(OWNER, self.config.owner.as_str())
            .set(EXPIRES, self.new_expiry_ms())
            .add(TERM, 1)
            .when(free)
            .when(not_exists(ENDED))
            .returning(Returning::New);
        match self.table.update(update).await {
            Ok(written) => written.item.map(|item| to_lease(shard, &item)).transpose(),
            Err(Error::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the lease is still valid by this worker's clock. If not, the reader must stop,
    /// because another worker may have taken it.
    pub fn holds(&self, lease: &Lease) -> bool {
        self.clock.now_ms() < lease.expires_ms
    }

    /// Renews a lease; `false` if it was lost.
    pub async fn renew(&self, lease: &mut Lease) -> Result<bool> {
        let expires_ms = self.new_expiry_ms();
        let renewed = self.update_if_held(lease).set(EXPIRES, expires_ms);
        let held = self.try_update(renewed).await?;
        if held {
            lease.expires_ms = expires_ms;
        }
        Ok(held)
    }

    /// Records that the shard was read to its end, so that its children can be read; `false` if the
    /// lease was lost.
    pub async fn end(&self, lease: Lease) -> Result<bool> {
        let ended = self.update_if_held(&lease).set(ENDED, true).remove(OWNER).set(EXPIRES, 0);
        self.try_update(ended).await
    }

    /// Releases a lease, so that others can take it at once; `false` if it was lost before.
    pub async fn release(&self, lease: Lease) -> Result<bool> {
        self.try_update(self.update_if_held(&lease).remove(OWNER).set(EXPIRES, 0)).await
    }

    /// Withdraws this worker's announcement, so that the others need not wait for it to expire.
    pub async fn leave(&self) -> Result<()> {
        let delete = Delete::new(self.key(LeaseKey::Worker(&self.config.owner)));
        self.table.delete(delete).await.map(|_| ())
    }

    async fn announce(&self) -> Result<()> {
        let update = Update::new(self.key(LeaseKey::Worker(&self.config.owner)))
            .set(EXPIRES, self.new_expiry_ms());
        let update = match &self.address {
            Some(address) => update.set(ADDRESS, address.as_str()),
            None => update,
        };
        let behind_since_ms = *self.behind_since_ms.lock();
        let update = match behind_since_ms {
            Some(since_ms) => update.set(BEHIND_SINCE, since_ms),
            None => update.remove(BEHIND_SINCE),
        };
        self.table.update(update).await.map(|_| ())
    }

    async fn list(&self) -> Result<LeaseListing> {
        let mut listing = LeaseListing::default();
        let mut next = None;
        loop {
            let query = Query::new(self.partition()).strong().after(next);
            let page = self.table.query(query).await?;
            page.items.iter().for_each(|item| listing.add(&self.table.definition().key, item));
            next = page.next;
            if next.is_none() {
                return Ok(listing);
            }
        }
    }

    /// Deletes idle shards that the stream no longer lists, and expired workers.
    async fn remove_stale(&self, listing: &LeaseListing, shards: &[ShardInfo]) -> Result<()> {
        let now = self.clock.now_ms();
        let listed: HashSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
        let unlisted = listing
            .shards
            .iter()
            .filter(|(shard, entry)| {
                let idle = entry.ended || entry.expires_ms <= now;
                idle && !listed.contains(shard.as_str())
            })
            .map(|(shard, _)| self.key(LeaseKey::Shard(shard)));
        let expired = listing
            .workers
            .iter()
            .filter(|(_, entry)| entry.expires_ms <= now)
            .map(|(owner, _)| self.key(LeaseKey::Worker(owner)));
        for key in unlisted.chain(expired) {
            let delete = Delete::new(key).when(attribute(EXPIRES).le(now));
            match self.table.delete(delete).await {
                // A failed condition means that a worker has renewed it meanwhile.
                Ok(_) | Err(Error::ConditionFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_available(&self, entry: &LeaseEntry, now_ms: u64) -> bool {
        let own = entry.owner.as_ref() == Some(&self.config.owner);
        entry.owner.is_none() || own || entry.expires_ms <= now_ms
    }

    /// Returns an update that succeeds only while this lease is held.
    fn update_if_held(&self, lease: &Lease) -> Update {
        Update::new(self.key(LeaseKey::Shard(&lease.shard))).when(attribute(TERM).eq(lease.term))
    }

    async fn try_update(&self, update: Update) -> Result<bool> {
        match self.table.update(update).await {
            Ok(_) => Ok(true),
            Err(Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn new_expiry_ms(&self) -> u64 {
        let duration = u64::try_from(self.config.duration.as_millis()).unwrap_or(u64::MAX);
        self.clock.now_ms().saturating_add(duration)
    }

    fn partition(&self) -> String {
        LeaseKey::partition(&self.config.consumer, &self.config.stream)
    }

    fn key(&self, key: LeaseKey<'_>) -> Key {
        Key::new(self.partition(), key.sort())
    }
}

impl LeaseListing {
    fn add(&mut self, key: &KeyDefinition, item: &Item) {
        let Some(sort) = key.sort.as_ref().and_then(|sort| item.text(&sort.name)) else { return };
        let expires_ms = item.number(EXPIRES).and_then(Number::to_u64).unwrap_or(0);
        match LeaseKey::parse_sort(sort) {
            Some(LeaseKey::Shard(shard)) => {
                let owner = item.text(OWNER).map(str::to_owned);
                let ended = matches!(item.get(ENDED), Some(ValueRef::Bool(true)));
                self.shards.insert(shard.to_owned(), LeaseEntry { owner, expires_ms, ended });
            }
            Some(LeaseKey::Worker(worker)) => {
                let address = item.text(ADDRESS).map(str::to_owned);
                let behind_since_ms = item.number(BEHIND_SINCE).and_then(Number::to_u64);
                let entry = WorkerEntry { expires_ms, address, behind_since_ms };
                self.workers.insert(worker.to_owned(), entry);
            }
            None => {}
        }
    }

    fn active_workers(&self, now_ms: u64) -> impl Iterator<Item = (&str, &WorkerEntry)> {
        let workers = self.workers.iter().filter(move |(_, entry)| entry.expires_ms > now_ms);
        workers.map(|(owner, entry)| (owner.as_str(), entry))
    }

    fn are_all_shards_held(&self, now_ms: u64) -> bool {
        let is_held = |entry: &LeaseEntry| {
            let owner = entry.owner.as_ref().and_then(|owner| self.workers.get(owner));
            entry.expires_ms > now_ms && owner.is_some_and(|owner| owner.expires_ms > now_ms)
        };
        self.shards.values().all(|entry| entry.ended || is_held(entry))
    }

    fn has_ended(&self, shard: &str) -> bool {
        self.shards.get(shard).is_some_and(|entry| entry.ended)
    }

    fn readable_shards<'a>(&self, shards: &'a [ShardInfo]) -> Vec<&'a str> {
        let listed: HashSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
        shards
            .iter()
            .filter(|shard| {
                let parent = shard.parent.as_deref().filter(|parent| listed.contains(parent));
                !self.has_ended(&shard.id) && parent.is_none_or(|parent| self.has_ended(parent))
            })
            .map(|shard| shard.id.as_str())
            .collect()
    }
}

fn to_lease(shard: &str, item: &Item) -> Result<Lease> {
    let number = |name| item.number(name).and_then(Number::to_u64);
    let (Some(expires_ms), Some(term)) = (number(EXPIRES), number(TERM)) else {
        let detail = format!("the lease of shard {shard:?} lacks its attributes");
        return Err(Error::Unexpected { detail });
    };
    Ok(Lease { shard: shard.to_owned(), expires_ms, term })
}
