//! Leases: which worker reads which shard of a stream, and how far it has come. One item per shard
//! and consumer, changed by conditional writes only; knows nothing of what the changes are for.
//!
//! ```text
//! LEASES#consumer#stream   SHARD#id       owner  expires (ms)  term  checkpoint (40 digits)  ended
//! LEASES#consumer#stream   WORKER#owner          expires (ms)
//! ```
//! Every taking of a lease raises its term, and every later write demands the term it was taken
//! with: whoever lost a lease can no longer move its checkpoint, however late the write arrives.
//! Workers announce themselves, so that each can work out its share without asking the others.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use roundtable_table::{
    Clock, Delete, Error, Item, Key, KeyDefinition, Number, Query, Result, Returning, Sequence,
    Shard, Table, Update, ValueRef, attribute, not_exists,
};

const OWNER: &str = "owner";
const EXPIRES: &str = "expires";
const TERM: &str = "term";
const CHECKPOINT: &str = "checkpoint";
const ENDED: &str = "ended";
const SHARD: &str = "SHARD#";
const WORKER: &str = "WORKER#";

/// Who keeps leases on what.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// The stream, by the name of its table.
    pub stream: String,
    /// What the changes are read for; each consumer has leases and checkpoints of its own.
    pub consumer: String,
    /// This worker, by a name no other one has.
    pub owner: String,
    /// How long a lease holds without being renewed. Renew at a third of it or so; clocks of
    /// workers must agree to much less.
    pub duration: Duration,
}

/// The leases of one consumer on the shards of one stream.
#[derive(Clone, Debug)]
pub struct Leases {
    table: Table,
    clock: Arc<dyn Clock>,
    keeper: Keeper,
}

/// A shard that is this worker's to read, until `expires_ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The shard.
    pub shard: String,
    /// Up to where its changes have been dealt with; `None` at its beginning.
    pub checkpoint: Option<Sequence>,
    /// Until when it holds, in milliseconds since the epoch, unless renewed.
    pub expires_ms: u64,
    term: u64,
}

/// A shard's item as another worker may have left it.
struct Entry {
    owner: Option<String>,
    expires_ms: u64,
    ended: bool,
}

/// All items of one consumer on one stream.
#[derive(Default)]
struct Listing {
    shards: BTreeMap<String, Entry>,
    workers: BTreeMap<String, u64>,
}

impl Leases {
    /// Leases kept in `table`, which has two text keys.
    pub const fn new(table: Table, clock: Arc<dyn Clock>, keeper: Keeper) -> Self {
        Self { table, clock, keeper }
    }

    /// How long a lease holds without being renewed.
    pub const fn duration(&self) -> Duration {
        self.keeper.duration
    }

    /// One round of sharing: announces this worker, renews what it holds up to its share of the
    /// shards that can be read now, releases what is beyond, and takes what is free. Gives the
    /// leases held after it; those missing from `held` were lost or released.
    ///
    /// A shard can be read once its parent has ended for this consumer, or is no longer listed.
    pub async fn balance(&self, shards: &[Shard], held: Vec<Lease>) -> Result<Vec<Lease>> {
        self.announce().await?;
        let listing = self.list().await?;
        let open = listing.open(shards);
        let now = self.clock.now_ms();
        let workers = listing.at_work(now).count().max(1);
        let share = open.len().div_ceil(workers);
        let mut kept = Vec::with_capacity(share);
        for mut lease in held {
            if !open.contains(&lease.shard.as_str()) {
                continue;
            }
            if kept.len() >= share {
                self.release(lease).await?;
            } else if self.renew(&mut lease).await? {
                kept.push(lease);
            }
        }
        for shard in &open {
            if kept.len() >= share {
                break;
            }
            let free = listing.shards.get(*shard).is_none_or(|entry| self.may_take(entry, now));
            if free && !kept.iter().any(|lease| lease.shard == *shard) {
                kept.extend(self.take(shard).await?);
            }
        }
        self.tidy(&listing, shards).await?;
        Ok(kept)
    }

    /// The workers that have announced themselves lately, whoever asks.
    pub async fn workers(&self) -> Result<Vec<String>> {
        let listing = self.list().await?;
        Ok(listing.at_work(self.clock.now_ms()).map(str::to_owned).collect())
    }

    /// Takes the lease of `shard` if it is free, expired, or this worker's already; `None` if it is
    /// another's, or the shard has ended.
    pub async fn take(&self, shard: &str) -> Result<Option<Lease>> {
        let now = self.clock.now_ms();
        let free = not_exists(OWNER)
            .or(attribute(EXPIRES).le(now))
            .or(attribute(OWNER).eq(self.keeper.owner.as_str()));
        let update = Update::new(self.key(SHARD, shard))
            .set(OWNER, self.keeper.owner.as_str())
            .set(EXPIRES, self.expiry())
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

    /// Whether the lease still holds by this worker's clock. A reader that finds it does not must
    /// stop: another may have taken it.
    pub fn holds(&self, lease: &Lease) -> bool {
        self.clock.now_ms() < lease.expires_ms
    }

    /// Lengthens a lease; `false` if it was lost.
    pub async fn renew(&self, lease: &mut Lease) -> Result<bool> {
        let expires_ms = self.expiry();
        let renewed = self.held(lease).set(EXPIRES, expires_ms);
        let held = self.succeeds(renewed).await?;
        if held {
            lease.expires_ms = expires_ms;
        }
        Ok(held)
    }

    /// Moves the checkpoint to `sequence`, and lengthens the lease; `false` if it was lost, and
    /// then nothing has changed.
    pub async fn checkpoint(&self, lease: &mut Lease, sequence: &Sequence) -> Result<bool> {
        let expires_ms = self.expiry();
        let moved = self.checkpointing(lease, sequence).set(EXPIRES, expires_ms);
        let held = self.succeeds(moved).await?;
        if held {
            lease.checkpoint = Some(sequence.clone());
            lease.expires_ms = expires_ms;
        }
        Ok(held)
    }

    /// The write that moves the checkpoint, for a transaction with what was done up to there.
    pub fn checkpointing(&self, lease: &Lease, sequence: &Sequence) -> Update {
        let onward = not_exists(CHECKPOINT).or(attribute(CHECKPOINT).le(sequence.as_str()));
        self.held(lease).set(CHECKPOINT, sequence.as_str()).when(onward)
    }

    /// Notes that the shard was read to its end, so that its children can be read; `false` if the
    /// lease was lost.
    pub async fn end(&self, lease: Lease) -> Result<bool> {
        let ended = self.held(&lease).set(ENDED, true).remove(OWNER).set(EXPIRES, 0);
        self.succeeds(ended).await
    }

    /// Gives a lease back for others to take at once; `false` if it was lost before.
    pub async fn release(&self, lease: Lease) -> Result<bool> {
        self.succeeds(self.held(&lease).remove(OWNER).set(EXPIRES, 0)).await
    }

    /// Takes this worker's announcement back, so that the others need not wait for it to expire.
    pub async fn leave(&self) -> Result<()> {
        let delete = Delete::new(self.key(WORKER, &self.keeper.owner));
        self.table.delete(delete).await.map(|_| ())
    }

    async fn announce(&self) -> Result<()> {
        let update = Update::new(self.key(WORKER, &self.keeper.owner)).set(EXPIRES, self.expiry());
        self.table.update(update).await.map(|_| ())
    }

    async fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
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

    /// Forgets ended shards that the stream no longer lists, and workers long silent.
    async fn tidy(&self, listing: &Listing, shards: &[Shard]) -> Result<()> {
        let now = self.clock.now_ms();
        let listed: HashSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
        let gone = listing
            .shards
            .iter()
            .filter(|(shard, entry)| {
                let idle = entry.ended || entry.expires_ms <= now;
                idle && !listed.contains(shard.as_str())
            })
            .map(|(shard, _)| self.key(SHARD, shard));
        let silent = listing
            .workers
            .iter()
            .filter(|(_, expires)| **expires <= now)
            .map(|(owner, _)| self.key(WORKER, owner));
        for key in gone.chain(silent) {
            let delete = Delete::new(key).when(attribute(EXPIRES).le(now));
            match self.table.delete(delete).await {
                // Someone has come back to it in between.
                Ok(_) | Err(Error::ConditionFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn may_take(&self, entry: &Entry, now_ms: u64) -> bool {
        let own = entry.owner.as_ref() == Some(&self.keeper.owner);
        entry.owner.is_none() || own || entry.expires_ms <= now_ms
    }

    /// A write that only the holder of this lease can do.
    fn held(&self, lease: &Lease) -> Update {
        Update::new(self.key(SHARD, &lease.shard)).when(attribute(TERM).eq(lease.term))
    }

    async fn succeeds(&self, update: Update) -> Result<bool> {
        match self.table.update(update).await {
            Ok(_) => Ok(true),
            Err(Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn expiry(&self) -> u64 {
        let duration = u64::try_from(self.keeper.duration.as_millis()).unwrap_or(u64::MAX);
        self.clock.now_ms().saturating_add(duration)
    }

    fn partition(&self) -> String {
        format!("LEASES#{}#{}", self.keeper.consumer, self.keeper.stream)
    }

    fn key(&self, kind: &str, name: &str) -> Key {
        Key::new(self.partition(), format!("{kind}{name}"))
    }
}

impl Listing {
    fn add(&mut self, key: &KeyDefinition, item: &Item) {
        let Some(sort) = key.sort.as_ref().and_then(|sort| item.text(&sort.name)) else { return };
        let expires_ms = item.number(EXPIRES).and_then(Number::to_u64).unwrap_or(0);
        if let Some(shard) = sort.strip_prefix(SHARD) {
            let owner = item.text(OWNER).map(str::to_owned);
            let ended = matches!(item.get(ENDED), Some(ValueRef::Bool(true)));
            self.shards.insert(shard.to_owned(), Entry { owner, expires_ms, ended });
        } else if let Some(worker) = sort.strip_prefix(WORKER) {
            self.workers.insert(worker.to_owned(), expires_ms);
        }
    }

    fn at_work(&self, now_ms: u64) -> impl Iterator<Item = &str> {
        let workers = self.workers.iter().filter(move |(_, expires_ms)| **expires_ms > now_ms);
        workers.map(|(owner, _)| owner.as_str())
    }

    fn has_ended(&self, shard: &str) -> bool {
        self.shards.get(shard).is_some_and(|entry| entry.ended)
    }

    /// The shards that can be read now.
    fn open<'a>(&self, shards: &'a [Shard]) -> Vec<&'a str> {
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
    let checkpoint = item.text(CHECKPOINT).map(Sequence::parse).transpose()?;
    Ok(Lease { shard: shard.to_owned(), checkpoint, expires_ms, term })
}
