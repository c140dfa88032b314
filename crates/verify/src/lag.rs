//! Measures how far the processors are behind the stream: changes they have not applied are not
//! derived yet.

use std::collections::BTreeMap;

use roundtable_model::TYPE;
use roundtable_model::entities::Checkpoint;
use roundtable_model::shape::Index;
use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{Error, Item, LeaseKey, Sequence, StreamStart, Table, ValueRef};

use crate::Result;
use crate::stream_check::stream_read;

/// Counting stops here: beyond it the exact lag no longer matters.
const CHANGES_MAX: u64 = 10_000;
/// The processor that counts likes, comments, shares and unread notifications.
pub(crate) const COUNTER_PROCESSOR: &str = "counters";
const COUNTED_ENTITIES: [&str; 5] = ["Comment", "Like", "Share", "CommentLike", "Notification"];

/// The lag of one processor in one shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorLag {
    pub processor: String,
    pub shard: String,
    /// Changes it has not applied; counting stops at ten thousand.
    pub changes: u64,
    /// Those among them that counters count: likes, comments, shares, notifications.
    pub facts: u64,
    /// The stream no longer holds all changes that it has not applied.
    pub trimmed: bool,
}

/// Leased shards of a stream, on stores that processes share; true when all consumers have reached
/// the shard's end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardLeases(BTreeMap<String, bool>);

impl ShardLeases {
    /// Records an item of the ops table if it is a lease on a shard of this stream.
    pub(crate) fn add_item(&mut self, item: &Item, stream: &str) {
        let partition = item.text(Index::Main.partition_attribute()).unwrap_or_default();
        let sort = item.text(Index::Main.sort_attribute()).unwrap_or_default();
        if LeaseKey::is_partition_of(partition, stream)
            && let Some(LeaseKey::Shard(shard)) = LeaseKey::parse_sort(sort)
        {
            let ended = matches!(item.get(LeaseKey::ENDED), Some(ValueRef::Bool(true)));
            self.add(shard.to_owned(), ended);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(shard, ended)| self.add(shard, ended));
    }

    fn add(&mut self, shard: String, ended: bool) {
        *self.0.entry(shard).or_insert(true) &= ended;
    }
}

/// Measures the lag of each processor that has written a checkpoint.
pub(crate) async fn processor_lags(
    core: &Table,
    checkpoints: &[Checkpoint],
    leased: &ShardLeases,
) -> Result<Vec<ProcessorLag>> {
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
                // All processors have reached its end; the changes they stopped at may be trimmed
                // by now.
                continue;
            }
            let sequence = reached.get(&*shard.id).and_then(|digits| Sequence::parse(digits).ok());
            let has_no_checkpoint = sequence.is_none() && lease.is_some();
            // Without a checkpoint it has to read the whole shard.
            let start = sequence.map_or(StreamStart::Oldest, StreamStart::After);
            let (processor, shard) = (processor.to_owned(), shard.id.clone());
            let mut lag = ProcessorLag { processor, shard, changes: 0, facts: 0, trimmed: false };
            count(core, start, &mut lag).await?;
            if has_no_checkpoint {
                // A consumer reads the shard and has found nothing to apply yet. Only for the
                // counting processor is it known which changes it would apply.
                lag.changes = if lag.processor == COUNTER_PROCESSOR { lag.facts } else { 0 };
            }
            if lag.changes > 0 || lag.trimmed {
                lags.push(lag);
            }
        }
    }
    Ok(lags)
}

async fn count(core: &Table, mut start: StreamStart, lag: &mut ProcessorLag) -> Result<()> {
    while lag.changes < CHANGES_MAX {
        let page = match core
            .stream_read(stream_read(&lag.shard, start.clone(), STREAM_CHANGES_MAX))
            .await
        {
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
            lag.facts += u64::from(kind.is_some_and(|kind| COUNTED_ENTITIES.contains(&kind)));
        }
        match page.next.map(StreamStart::After) {
            Some(next) if !page.ended && next != start => start = next,
            _ => return Ok(()),
        }
    }
    Ok(())
}
