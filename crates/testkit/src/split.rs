//! A store whose stream is split into shards, as DynamoDB's is: by key, so that even what belongs to
//! one post comes in several; parents end and have children; and sequences of different shards say
//! nothing about each other. It also says that other processes work on it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_model::table::{
    Around, Backend, Capabilities, Key, Result, Sequence, Shard, SharedBackend, StreamPage,
    StreamRead, StreamStart, TableDefinition,
};

/// How far the sequences of the odd shards are ahead of the even ones.
const AHEAD: u128 = 1_000_000;
/// Changes of one read beneath.
const READ_CHANGES: usize = 1_000;
/// How long a reader waits beneath at most: it must notice when its shard has ended.
const WAIT_MAX: Duration = Duration::from_millis(20);

/// A store with shards: at first one, after every [cut](Split::cut) two. The stream beneath has one.
#[derive(Clone, Debug)]
pub struct Split {
    inner: SharedBackend,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// What the one shard beneath is called.
    beneath: Option<String>,
    /// Where all shards ended and had children, by the sequences beneath; `None` for the beginning.
    cuts: Vec<Option<Sequence>>,
    /// The last change that anybody looked at.
    head: Option<Sequence>,
    /// How many were looked at.
    shown: usize,
}

impl Split {
    /// `inner`, whose stream has one shard.
    pub fn new(inner: SharedBackend) -> Self {
        Self { inner, state: Arc::default() }
    }

    /// The same store as another process reaches it.
    #[must_use]
    pub fn reached_by(&self, inner: SharedBackend) -> Self {
        Self { inner, state: Arc::clone(&self.state) }
    }

    /// How many changes anybody has looked at, wanted or not.
    pub fn shown(&self) -> usize {
        self.state.lock().shown
    }

    /// Ends every shard of this table's stream here: each has a child, the first has two.
    pub async fn cut(&self, table: &TableDefinition) {
        let mut end = self.state.lock().head.clone();
        loop {
            let page = self.beneath(table, end.clone(), Duration::ZERO).await.unwrap();
            if page.changes.is_empty() {
                break;
            }
            end = page.next;
        }
        let mut state = self.state.lock();
        // Somebody may have been shown what came in between: children must not show it again.
        let end = end.max(state.head.clone());
        state.cuts.push(end);
    }

    async fn beneath(
        &self,
        table: &TableDefinition,
        after: Option<Sequence>,
        wait: Duration,
    ) -> Result<StreamPage> {
        let start = after.map_or(StreamStart::Oldest, StreamStart::After);
        let shard = self.shard_beneath(table).await?;
        let read = StreamRead::new(shard, start).limit(READ_CHANGES).wait(wait);
        self.inner.stream_read(table, read).await
    }

    async fn shard_beneath(&self, table: &TableDefinition) -> Result<String> {
        if let Some(known) = &self.state.lock().beneath {
            return Ok(known.clone());
        }
        let shards = self.inner.stream_shards(table).await?;
        let [shard] = shards.as_slice() else {
            panic!("only a stream of one shard can be split: {shards:?}")
        };
        self.state.lock().beneath = Some(shard.id.clone());
        Ok(shard.id.clone())
    }
}

/// One shard, by its name: `g0`, later `g1-0`, `g1-1`, `g2-0`…
#[derive(Clone, Copy, Debug)]
struct Part {
    generation: usize,
    half: u128,
}

impl Part {
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

    /// A sequence of this shard, as it is beneath.
    fn as_beneath(self, sequence: &Sequence) -> Sequence {
        plain(number(sequence).checked_sub(self.half * AHEAD).unwrap())
    }

    /// A sequence beneath, as it is in this shard.
    fn as_shown(self, sequence: &Sequence) -> Sequence {
        plain(number(sequence) + self.half * AHEAD)
    }
}

fn number(sequence: &Sequence) -> u128 {
    sequence.trimmed().parse().unwrap()
}

fn plain(number: u128) -> Sequence {
    Sequence::parse(&number.to_string()).unwrap()
}

#[async_trait]
impl Around for Split {
    fn inner(&self) -> &dyn Backend {
        &*self.inner
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { one_process: false, ..self.inner.capabilities() }
    }

    async fn stream_shards(&self, _: &TableDefinition) -> Result<Vec<Shard>> {
        let mut shards = vec![Shard { id: Part { generation: 0, half: 0 }.name(), parent: None }];
        for generation in 1..=self.state.lock().cuts.len() {
            for half in 0..2 {
                let parent = Some(Part { generation: generation - 1, half }.name());
                shards.push(Shard { id: Part { generation, half }.name(), parent });
            }
        }
        Ok(shards)
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        let part = Part::named(&read.shard);
        let (from, ends) = {
            let cuts = &self.state.lock().cuts;
            let from = part.generation.checked_sub(1).and_then(|before| cuts.get(before));
            (from.cloned().flatten(), cuts.get(part.generation).is_some())
        };
        let after = match &read.start {
            StreamStart::After(sequence) => Some(part.as_beneath(sequence)).max(from),
            StreamStart::Oldest => from,
            StreamStart::Latest => panic!("nobody reads only the latest of a split stream"),
        };
        let wait = if ends { Duration::ZERO } else { read.wait.min(WAIT_MAX) };
        let page = self.beneath(table, after.clone(), wait).await?;
        let mut state = self.state.lock();
        // It may have ended meanwhile.
        let to = state.cuts.get(part.generation).cloned();
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
        changes.retain(|change| read.wants(change.old.as_ref(), change.new.as_ref()));
        let ended = to.is_some_and(|to| next >= to);
        state.shown += evaluated;
        state.head = state.head.take().max(next.clone());
        for change in &mut changes {
            change.sequence = part.as_shown(&change.sequence);
        }
        let next = next.max(after).map(|next| part.as_shown(&next));
        Ok(StreamPage { changes, evaluated, next, ended })
    }
}
