//! Passing over what is in the stream: for stores that were filled with items and with all that follows
//! from them.

use roundtable_model::StreamShard;
use roundtable_model::table::{Sequence, StreamRead, StreamStart};

use super::Runner;
use crate::Failure;
use crate::commit::{Committed, Mark};

impl Runner {
    /// Has every processor go on behind what is in the stream now, without processing any of it. Nobody
    /// else may read it meanwhile.
    pub async fn pass_over(&self) -> Result<(), Failure> {
        for shard in self.shared.ground.core().table().stream_shards().await? {
            let Some(last) = self.last_of(&shard.id).await? else { continue };
            let name: StreamShard = shard.id.parse()?;
            for processor in &self.processors {
                let mut mark = Mark::load(&self.shared, &processor.name(), &name).await?;
                if mark.save(&self.shared, &last).await? == Committed::Lost {
                    return Err(Failure::broken("somebody else reads the stream; stop them first"));
                }
            }
        }
        Ok(())
    }

    /// The end of a shard. Not every backend can tell it otherwise than by reading all of it.
    async fn last_of(&self, shard: &str) -> Result<Option<Sequence>, Failure> {
        let mut last = None;
        loop {
            let start = last.clone().map_or(StreamStart::Oldest, StreamStart::After);
            let read = StreamRead::new(shard, start);
            let page = self.shared.ground.core().table().stream_read(read).await?;
            let moved = page.next.is_some() && page.next != last;
            last = page.next.or(last);
            if page.ended || !moved {
                return Ok(last);
            }
        }
    }
}
