//! How far the processors are behind the stream: what they have not dealt with is not derived yet.

use std::collections::BTreeMap;

use roundtable_model::entities::Checkpoint;
use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{Error, Item, Sequence, StreamStart, Table, ValueRef};
use roundtable_model::{Answer, Entity};

use crate::Result;
use crate::chain::reading;

/// Counting ends here: far behind is far behind.
const CHANGES_MAX: u64 = 10_000;
/// How the keys of the leases begin that the DynamoDB backend keeps among our own bookkeeping.
pub(crate) const LEASES: &str = "LEASES#";
/// The entities from which processors derive what is checked here.
const FACTS: [&str; 5] = ["Post", "Comment", "Like", "Share", "CommentLike"];

/// How far one processor is behind one shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The processor.
    pub processor: String,
    /// The shard.
    pub shard: String,
    /// How many changes it has not dealt with; counting ends at ten thousand.
    pub changes: u64,
    /// How many of these change what counters and scores are derived from.
    pub facts: u64,
    /// Whether the stream no longer holds all that it has not dealt with.
    pub trimmed: bool,
}

/// How far a processor has come in one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    processor: String,
    shard: String,
    /// Of 40 digits; `None` at the beginning.
    reached: Option<String>,
    /// Whether it has read the shard, which has ended, to its end.
    ended: bool,
}

impl Mark {
    /// What an item of the bookkeeping says about it: a checkpoint, or a lease of the backend's.
    pub(crate) fn of(item: &Item) -> Option<Self> {
        if item.text("type") == Some(Checkpoint::SHAPE.name) {
            let checkpoint = Checkpoint::from_item(item).ok()?;
            let processor = checkpoint.processor.as_str().to_owned();
            let shard = checkpoint.stream_shard.as_str().to_owned();
            return Some(Self { processor, shard, reached: Some(checkpoint.sequence), ended: false });
        }
        let (consumer, _stream) = item.text("PK")?.strip_prefix(LEASES)?.split_once('#')?;
        let shard = item.text("SK")?.strip_prefix("SHARD#")?;
        Some(Self {
            processor: consumer.to_owned(),
            shard: shard.to_owned(),
            reached: item.text("checkpoint").map(str::to_owned),
            ended: matches!(item.get("ended"), Some(ValueRef::Bool(true))),
        })
    }
}

/// How far each processor that has left a mark is behind.
pub(crate) async fn behind(core: &Table, marks: &[Mark]) -> Result<Vec<Lag>> {
    let mut reached: BTreeMap<&str, BTreeMap<&str, &Mark>> = BTreeMap::new();
    for mark in marks {
        reached.entry(&mark.processor).or_default().insert(&mark.shard, mark);
    }
    let shards = core.stream_shards().await?;
    let mut lags = Vec::new();
    for (processor, reached) in reached {
        for shard in &shards {
            let mark = reached.get(&*shard.id);
            if mark.is_some_and(|mark| mark.ended) {
                continue;
            }
            let sequence = mark.and_then(|mark| Sequence::parse(mark.reached.as_ref()?).ok());
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
        let page = match core.stream_read(reading(&lag.shard, start.clone(), STREAM_CHANGES_MAX)).await
        {
            Ok(page) => page,
            Err(Error::StreamTrimmed { .. }) => {
                lag.trimmed = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        for change in &page.changes {
            let kind = change.new.as_ref().or(change.old.as_ref()).and_then(|item| item.text("type"));
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
