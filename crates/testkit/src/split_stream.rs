//! A backend whose stream has shards, like DynamoDB's: split by key, so that changes of one post
//! are in several; parents end and have children; sequences of different shards cannot be compared.
//! It also reports that other processes use it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Backend, BackendDecorator, Capabilities, Key, Result, Sequence, ShardInfo, SharedBackend,
    StreamPage, StreamRead, StreamStart, TableDefinition,
};

/// The offset of the sequences of odd shards from those of even ones.
const ODD_OFFSET: u128 = 1_000_000;
/// Changes per read of the inner stream.
const READ_CHANGES: usize = 1_000;
/// The longest wait of a read of the inner stream: readers must notice that their shard has ended.
const WAIT_MAX: Duration = Duration::from_millis(20);

/// A backend whose stream has one shard at first, and two after every
/// [split](SplitStreamBackend::split). The inner stream has one.
#[derive(Clone, Debug)]
pub struct SplitStreamBackend {
    inner: SharedBackend,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The only shard of the inner stream.
    inner_shard: Option<String>,
    /// The inner sequences at which all shards ended and had children; `None` for the beginning.
    splits: Vec<Option<Sequence>>,
    /// The last change that was read.
    head: Option<Sequence>,
    changes_read: usize,
}

impl SplitStreamBackend {
    pub fn new(inner: SharedBackend) -> Self {
        Self { inner, state: Arc::default() }
    }

    /// The same store through the backend of another process.
    #[must_use]
    pub fn with_backend(&self, inner: SharedBackend) -> Self {
        Self { inner, state: Arc::clone(&self.state) }
    }

    /// The number of changes read, including those a filter omitted.
    pub fn changes_read(&self) -> usize {
        self.state.lock().changes_read
    }

    /// Ends every shard of this table's stream; each gets a child, the first one two.
    pub async fn split(&self, table: &TableDefinition) {
        let mut end = self.state.lock().head.clone();
        loop {
            let page = self.inner_page(table, end.clone(), Duration::ZERO).await.unwrap();
            if page.changes.is_empty() {
                break;
            }
            end = page.next;
        }
        let mut state = self.state.lock();
        // A reader may have read changes in between, which the children must not repeat.
        let end = end.max(state.head.clone());
        state.splits.push(end);
    }

    async fn inner_page(
        &self,
        table: &TableDefinition,
        after: Option<Sequence>,
        wait: Duration,
    ) -> Result<StreamPage> {
        let start = after.map_or(StreamStart::Oldest, StreamStart::After);
        let shard = self.inner_shard(table).await?;
        let read = StreamRead::new(shard, start).limit(READ_CHANGES).wait(wait);
        self.inner.stream_read(table, read).await
    }

    async fn inner_shard(&self, table: &TableDefinition) -> Result<String> {
        if let Some(shard) = &self.state.lock().inner_shard {
            return Ok(shard.clone());
        }
        let shards = self.inner.stream_shards(table).await?;
        let [shard] = shards.as_slice() else {
            panic!("only a stream of one shard can be split: {shards:?}")
        };
        self.state.lock().inner_shard = Some(shard.id.clone());
        Ok(shard.id.clone())
    }
}

/// One shard, by its name: `g0`, later `g1-0`, `g1-1`, `g2-0`…
#[derive(Clone, Copy, Debug)]
struct ShardPart {
    generation: usize,
    half: u128,
}

impl ShardPart {
    fn named(name: &str) -> Self {
        let name = name.strip_prefix('g').unwrap();
        let (generation, half) = name.split_once('-').unwrap_or((name, "0"));
        Self { generation: generation.parse().unwrap(), half: half.parse().unwrap() }
    }

    fn name(self) -> String {
        let Self { generation, half } = self;
        if generation == 0 { "g0".into() } else { format!("g{generation}-{half}") }
    }

    fn has(self, key: &Key) -> bool {
        let sum: u128 = key.to_string().bytes().map(u128::from).sum();
        self.generation == 0 || sum % 2 == self.half
    }

    /// Converts a sequence of this shard to the inner one.
    fn to_inner(self, sequence: &Sequence) -> Sequence {
        sequence_of(number(sequence).checked_sub(self.half * ODD_OFFSET).unwrap())
    }

    /// Converts an inner sequence to one of this shard.
    fn to_outer(self, sequence: &Sequence) -> Sequence {
        sequence_of(number(sequence) + self.half * ODD_OFFSET)
    }
}

fn number(sequence: &Sequence) -> u128 {
    sequence.trimmed().parse().unwrap()
}

fn sequence_of(number: u128) -> Sequence {
    Sequence::parse(&number.to_string()).unwrap()
}

#[async_trait]
impl BackendDecorator for SplitStreamBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { single_process: false, ..self.inner.capabilities() }
    }

    async fn stream_shards(&self, _: &TableDefinition) -> Result<Vec<ShardInfo>> {
        let mut shards =
            vec![ShardInfo { id: ShardPart { generation: 0, half: 0 }.name(), parent: None }];
        for generation in 1..=self.state.lock().splits.len() {
            for half in 0..2 {
                let parent = Some(ShardPart { generation: generation - 1, half }.name());
                shards.push(ShardInfo { id: ShardPart { generation, half }.name(), parent });
            }
        }
        Ok(shards)
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let part = ShardPart::named(&read.shard);
        let (from, ends) = {
            let splits = &self.state.lock().splits;
            let from = part.generation.checked_sub(1).and_then(|before| splits.get(before));
            (from.cloned().flatten(), splits.get(part.generation).is_some())
        };
        let after = match &read.start {
            StreamStart::After(sequence) => Some(part.to_inner(sequence)).max(from),
            StreamStart::Oldest => from,
            StreamStart::Latest => panic!("a split stream has no reads from the latest change"),
        };
        let wait = if ends { Duration::ZERO } else { read.wait.min(WAIT_MAX) };
        let page = self.inner_page(table, after.clone(), wait).await?;
        let mut state = self.state.lock();
        // The shard may have ended in the meantime.
        let to = state.splits.get(part.generation).cloned();
        let within =
            |sequence: &Sequence| to.as_ref().is_none_or(|to| Some(sequence) <= to.as_ref());
        let mut next = match (page.next, &to) {
            (Some(next), Some(to)) if !within(&next) => to.clone(),
            (next, _) => next,
        };
        let mut changes: Vec<_> = page
            .changes
            .into_iter()
            .filter(|change| within(&change.sequence) && part.has(&change.key))
            .collect();
        if changes.len() > read.limit {
            changes.truncate(read.limit);
            next = changes.last().map(|change| change.sequence.clone());
        }
        let evaluated = changes.len();
        changes.retain(|change| read.matches(change.old.as_ref(), change.new.as_ref()));
        let ended = to.is_some_and(|to| next >= to);
        state.changes_read += evaluated;
        state.head = state.head.take().max(next.clone());
        for change in &mut changes {
            change.sequence = part.to_outer(&change.sequence);
        }
        let next = next.max(after).map(|next| part.to_outer(&next));
        Ok(StreamPage { changes, evaluated, next, ended })
    }
}
