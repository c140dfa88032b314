//! Which shards of the stream this process reads, where several processes share them.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::Processor as Name;
use roundtable_model::table::{Result, Sequence, Shard};

/// Decides which shards are this process's to read. A shard is read once its parent has ended.
///
/// Effects are exactly once also where two processes take themselves for the reader of the same shard:
/// sharing keeps work from being done twice in vain, not from being wrong.
#[async_trait]
pub trait Sharing: Send + Sync + fmt::Debug + 'static {
    /// How often [`Sharing::share`] must be asked.
    fn interval(&self) -> Duration;

    /// One round of sharing: of the shards there are, parents before children, those to read now.
    async fn share(&self, shards: &[Shard]) -> Result<Vec<String>>;

    /// Whether a shard is still this process's, as far as it can tell without asking.
    fn holds(&self, shard: &str) -> bool;

    /// All processors have read a shard to its end, so its children can be read.
    async fn end(&self, shard: &str) -> Result<()>;

    /// Gives everything back.
    async fn leave(&self) -> Result<()>;

    /// A processor needs nothing of a shard up to here any more. Told now and then, for stores that
    /// keep the stream until then.
    async fn passed(&self, processor: &Name, shard: &str, sequence: &Sequence) -> Result<()> {
        let _ = (processor, shard, sequence);
        Ok(())
    }
}

/// The only reader there is: of the embedded store, or of a table that one process alone works on.
#[derive(Debug, Default)]
pub struct Alone {
    ended: Mutex<HashSet<String>>,
}

impl Alone {
    /// The only reader.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Sharing for Alone {
    fn interval(&self) -> Duration {
        Duration::from_secs(10)
    }

    async fn share(&self, shards: &[Shard]) -> Result<Vec<String>> {
        let listed: HashSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
        let mut ended = self.ended.lock();
        ended.retain(|shard| listed.contains(shard.as_str()));
        let open = |shard: &&Shard| {
            let parent = shard.parent.as_deref().filter(|parent| listed.contains(parent));
            !ended.contains(&shard.id) && parent.is_none_or(|parent| ended.contains(parent))
        };
        Ok(shards.iter().filter(open).map(|shard| shard.id.clone()).collect())
    }

    fn holds(&self, _: &str) -> bool {
        true
    }

    async fn end(&self, shard: &str) -> Result<()> {
        self.ended.lock().insert(shard.to_owned());
        Ok(())
    }

    async fn leave(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: &str, parent: Option<&str>) -> Shard {
        Shard { id: id.into(), parent: parent.map(str::to_owned) }
    }

    #[test]
    fn parents_are_read_before_their_children() {
        let alone = Alone::new();
        let listed = [
            shard("old", Some("forgotten")),
            shard("left", Some("old")),
            shard("right", Some("old")),
            shard("leaf", Some("left")),
        ];
        let share = || futures::executor::block_on(alone.share(&listed)).unwrap();
        assert_eq!(share(), ["old"]);
        futures::executor::block_on(alone.end("old")).unwrap();
        assert_eq!(share(), ["left", "right"]);
        futures::executor::block_on(alone.end("left")).unwrap();
        assert_eq!(share(), ["right", "leaf"]);
    }
}
