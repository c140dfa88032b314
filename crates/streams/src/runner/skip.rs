//! Skips the stream, for stores that were filled with items together with everything derived from
//! them.

use roundtable_domain_macros::boxed;
use roundtable_model::StreamShard;
use roundtable_model::table::{Sequence, StreamRead, StreamStart};

use super::Runner;
use crate::commit::{CheckpointOutcome, LaneCheckpoint};
use crate::{ProcessingError, Result};

#[boxed]
impl Runner {
    /// Moves every processor to the current end of the stream without processing anything. No other
    /// process may read the stream meanwhile.
    pub async fn skip_to_end(&self) -> Result<()> {
        for shard in self.shared.context.core().table().stream_shards().await? {
            let Some(last) = self.shard_end(&shard.id).await? else { continue };
            let name: StreamShard = shard.id.parse()?;
            for processor in &self.processors {
                let mut checkpoint =
                    LaneCheckpoint::load(&self.shared, &processor.name(), &name).await?;
                if checkpoint.save(&self.shared, &last).await? == CheckpointOutcome::Lost {
                    return Err(ProcessingError::unprocessable(
                        "another process is reading the stream; stop it first",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the end of a shard. Some backends reveal it only by reading the whole shard.
    async fn shard_end(&self, shard: &str) -> Result<Option<Sequence>> {
        let mut last = None;
        loop {
            let start = last.clone().map_or(StreamStart::Oldest, StreamStart::After);
            let read = StreamRead::new(shard, start);
            let page = self.shared.context.core().table().stream_read(read).await?;
            let has_moved = page.next.is_some() && page.next != last;
            last = page.next.or(last);
            if page.ended || !has_moved {
                return Ok(last);
            }
        }
    }
}
