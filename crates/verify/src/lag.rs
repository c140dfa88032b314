//! How far the processors are behind the stream: what they have not dealt with is not derived yet.

use std::collections::BTreeMap;

use roundtable_model::TYPE;
use roundtable_model::entities::Checkpoint;
use roundtable_model::shape::Index;
use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{Error, Item, Sequence, StreamStart, Table, ValueRef};

use crate::Result;
use crate::chain::reading;

/// Counting ends here: far behind is far behind.
const CHANGES_MAX: u64 = 10_000;
/// How the keys of the leases begin that the DynamoDB backend keeps among our own bookkeeping: before
/// whom they are for, and the stream…
pub(crate) const LEASES: &str = "LEASES#";
/// … and before the shard.
const LEASED: &str = "SHARD#";
/// What the processor is called that counts what people do with posts and comments, and what they are told…
pub(crate) const COUNTING: &str = "counters";
/// … and what it counts.
const FACTS: [&str; 5] = ["Comment", "Like", "Share", "CommentLike", "Notification"];

/// How far one processor is behind one shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The processor.
    pub processor: String,
    /// The shard.
    pub shard: String,
    /// How many changes it has not dealt with; counting ends at ten thousand.
    pub changes: u64,
    /// How many of these are of what is counted: likes, comments, shares, notifications.
    pub facts: u64,
    /// Whether the stream no longer holds all that it has not dealt with.
    pub trimmed: bool,
}

/// The shards of the stream that somebody has taken, on stores that processes share; and whether all who
/// have came to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leased(BTreeMap<String, bool>);

impl Leased {
    /// Takes note of an item of the bookkeeping, if it is a lease on a shard of this stream.
    pub(crate) fn note(&mut self, item: &Item, stream: &str) {
        let place = Index::Main;
        let partition = item.text(place.partition_attribute()).unwrap_or_default();
        let sort = item.text(place.sort_attribute()).unwrap_or_default();
        let consumer = partition.strip_prefix(LEASES).and_then(|rest| rest.strip_suffix(stream));
        let here = consumer.is_some_and(|consumer| consumer.ends_with('#'));
        if let Some(shard) = sort.strip_prefix(LEASED).filter(|_| here) {
            self.add(shard.to_owned(), matches!(item.get("ended"), Some(ValueRef::Bool(true))));
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(shard, ended)| self.add(shard, ended));
    }

    fn add(&mut self, shard: String, ended: bool) {
        *self.0.entry(shard).or_insert(true) &= ended;
    }
}

/// How far each processor that has left a checkpoint is behind.
pub(crate) async fn behind(
    core: &Table,
    checkpoints: &[Checkpoint],
    leased: &Leased,
) -> Result<Vec<Lag>> {
    let mut reached: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for Checkpoint { processor, stream_shard, sequence, .. } in checkpoints {
        reached.entry(processor.as_str()).or_default().insert(stream_shard.as_str(), sequence);
    }
    let shards = core.stream_shards().await?;
    let mut lags = Vec::new();
    for (processor, reached) in reached {
        for shard in &shards {
            let lease = leased.0.get(&shard.id);
            if lease == Some(&true) {
                // All processors have come to its end; what they stood at may be gone by now.
                continue;
            }
            let sequence = reached.get(&*shard.id).and_then(|digits| Sequence::parse(digits).ok());
            let unmarked = sequence.is_none() && lease.is_some();
            // Never begun: all of it is to be read.
            let start = sequence.map_or(StreamStart::Oldest, StreamStart::After);
            let (processor, shard) = (processor.to_owned(), shard.id.clone());
            let mut lag = Lag { processor, shard, changes: 0, facts: 0, trimmed: false };
            count(core, start, &mut lag).await?;
            if unmarked {
                // Somebody reads it who has not met anything to write down: but for what is counted,
                // nobody here knows what that would be.
                lag.changes = if lag.processor == COUNTING { lag.facts } else { 0 };
            }
            if lag.changes > 0 || lag.trimmed {
                lags.push(lag);
            }
        }
    }
    Ok(lags)
}

async fn count(core: &Table, mut start: StreamStart, lag: &mut Lag) -> Result<()> {
    while lag.changes < CHANGES_MAX {
        let page =
            match core.stream_read(reading(&lag.shard, start.clone(), STREAM_CHANGES_MAX)).await {
                Ok(page) => page,
                Err(Error::StreamTrimmed { .. }) => {
                    lag.trimmed = true;
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
        for change in &page.changes {
            let kind = change.new.as_ref().or(change.old.as_ref()).and_then(|item| item.text(TYPE));
            lag.changes += 1;
            lag.facts += u64::from(kind.is_some_and(|kind| FACTS.contains(&kind)));
        }
        match page.next.map(StreamStart::After) {
            Some(next) if !page.ended && next != start => start = next,
            _ => return Ok(()),
        }
    }
    Ok(())
}
