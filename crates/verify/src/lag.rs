//! How far the processors are behind the stream: what they have not dealt with is not derived yet.

use std::collections::BTreeMap;

use roundtable_model::entities::Checkpoint;
use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{Error, Sequence, StreamStart, Table};

use crate::Result;
use crate::chain::reading;

/// Counting ends here: far behind is far behind.
const CHANGES_MAX: u64 = 10_000;
/// How the keys of the leases begin that the DynamoDB backend keeps among our own bookkeeping.
pub(crate) const LEASES: &str = "LEASES#";
/// What the processor is called that counts what people do with posts and comments…
pub(crate) const COUNTING: &str = "counters";
/// … and what it counts.
const FACTS: [&str; 4] = ["Comment", "Like", "Share", "CommentLike"];

/// How far one processor is behind one shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The processor.
    pub processor: String,
    /// The shard.
    pub shard: String,
    /// How many changes it has not dealt with; counting ends at ten thousand.
    pub changes: u64,
    /// How many of these are of what is counted: likes, comments, shares.
    pub facts: u64,
    /// Whether the stream no longer holds all that it has not dealt with.
    pub trimmed: bool,
}

/// How far each processor that has left a checkpoint is behind.
pub(crate) async fn behind(core: &Table, checkpoints: &[Checkpoint]) -> Result<Vec<Lag>> {
    let mut reached: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for Checkpoint { processor, stream_shard, sequence, .. } in checkpoints {
        reached.entry(processor.as_str()).or_default().insert(stream_shard.as_str(), sequence);
    }
    let shards = core.stream_shards().await?;
    let mut lags = Vec::new();
    for (processor, reached) in reached {
        for shard in &shards {
            let sequence = reached.get(&*shard.id).and_then(|digits| Sequence::parse(digits).ok());
            // Never begun: all of it is to be read.
            let start = sequence.map_or(StreamStart::Oldest, StreamStart::After);
            let (processor, shard) = (processor.to_owned(), shard.id.clone());
            let mut lag = Lag { processor, shard, changes: 0, facts: 0, trimmed: false };
            count(core, start, &mut lag).await?;
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
            let kind =
                change.new.as_ref().or(change.old.as_ref()).and_then(|item| item.text("type"));
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
