//! The lag of processors by what is stored: for processes that run none, and shards that no worker reads.

use roundtable_domain_macros::boxed;
use roundtable_model::StreamShard;
use roundtable_model::table::{Error, Sequence, StreamRead, StreamStart};

use crate::{Result, Runner};

/// Pages without a change that are read of one shard: DynamoDB sometimes returns an empty page although
/// there are changes.
const EMPTY_READS_MAX: usize = 20;

#[boxed]
impl Runner {
    /// Returns the age in milliseconds of the oldest change after a processor's checkpoint, or 0. Processors
    /// write checkpoints behind changes without effects up to a minute late.
    pub async fn unread_ms(&self) -> Result<u64> {
        let shards = self.context().core().table().stream_shards().await?;
        let now_ms = self.context().now().ms();
        let mut lag_ms = 0;
        for shard in &shards {
            let after = self.first_checkpoint(&shard.id).await?;
            if let Some(at_ms) = self.first_change(&shard.id, after).await? {
                lag_ms = lag_ms.max(now_ms.saturating_sub(at_ms));
            }
        }
        Ok(lag_ms)
    }

    /// Returns the least checkpoint of a shard; `None` if a processor has none.
    async fn first_checkpoint(&self, shard: &str) -> Result<Option<Sequence>> {
        let shard: StreamShard = shard.parse()?;
        let mut first: Option<Sequence> = None;
        for processor in self.processor_names() {
            let found = self.context().ops().checkpoint(&processor, &shard).get().await?;
            let Some(checkpoint) = found else { return Ok(None) };
            let sequence = Sequence::parse(&checkpoint.sequence).map_err(Error::from)?;
            first =
                Some(first.map_or_else(|| sequence.clone(), |first| first.min(sequence.clone())));
        }
        Ok(first)
    }

    /// Returns the time of the first change after a position.
    async fn first_change(&self, shard: &str, after: Option<Sequence>) -> Result<Option<u64>> {
        let mut after = after;
        for _ in 0..EMPTY_READS_MAX {
            let start = after.clone().map_or(StreamStart::Oldest, StreamStart::After);
            let read = StreamRead::new(shard, start).limit(1);
            let page = match self.context().core().table().stream_read(read).await {
                Ok(page) => page,
                Err(Error::StreamTrimmed { .. }) if after.is_some() => {
                    after = None;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(change) = page.changes.first() {
                return Ok(Some(change.at_ms));
            }
            let is_at_end = page.next.is_none() || page.next == after;
            if page.ended || is_at_end && self.context().store().capabilities().single_process {
                return Ok(None);
            }
            after = page.next.or(after);
        }
        Ok(None)
    }
}
