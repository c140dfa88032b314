//! One processor on one shard: reads on, processes, parks what cannot be processed, and remembers how
//! far it came. A lane can be dropped at any moment: the next one goes on where its writes ended.

mod pace;
mod parking;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use roundtable_model::table::{self, Change, Key, Sequence};
use roundtable_model::{Processor as Name, StreamShard, Time};

use crate::commit::{Committed, EFFECTS_MAX, Mark};
use crate::failure::Remedy;
use crate::figures::Event;
use crate::processor::entity;
use crate::shared::Shared;
use crate::tail::{Page, Tail};
use crate::{Batch, Delivery, Effects, Failure, Processor};

use self::pace::Pace;

/// How much oftener changes are tried that only met others at work on the same items.
const PATIENCE: u32 = 4;
/// How long one read waits for the first change.
const WAIT: Duration = Duration::from_secs(1);
/// A checkpoint that only passes over what nobody wants is written after so many changes…
const UNSAVED_CHANGES_MAX: usize = 10_000;
/// …or after so long: it saves a restart from reading them again, and nothing else.
const UNSAVED_MS_MAX: u64 = 60_000;

/// One processor on one shard.
#[derive(Debug)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
    processor: Arc<dyn Processor>,
    name: Name,
    shard: StreamShard,
    tail: Arc<Tail>,
    /// `None` until it was read, and after another reader has moved it.
    mark: Option<Mark>,
    /// Everything up to here has been dealt with.
    reached: Option<Sequence>,
    /// Items with a parked change that must not be overtaken.
    parked: HashSet<Key>,
    /// Changes passed over since the checkpoint was last written, about.
    unsaved: usize,
    saved_at: Time,
}

/// What a step of a lane came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It got further.
    Moved,
    /// There is nothing to read at the moment.
    Idle,
    /// The shard was read to its end.
    Ended,
    /// Another reader is at work, or the shard is no longer this process's.
    Lost,
    /// It was asked to stop.
    Stopped,
}

/// How some changes were dealt with.
enum Dealt {
    All,
    Lost,
    Stopped,
}

/// What came of trying to process some changes.
enum Tried {
    Done,
    Lost,
    /// Their effects do not fit into one transaction.
    TooMany,
}

impl Lane {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        processor: &Arc<dyn Processor>,
        tail: &Arc<Tail>,
        shard: StreamShard,
    ) -> Self {
        Self {
            saved_at: shared.ground.now(),
            shared: Arc::clone(shared),
            name: processor.name(),
            processor: Arc::clone(processor),
            shard,
            tail: Arc::clone(tail),
            mark: None,
            reached: None,
            parked: HashSet::new(),
            unsaved: 0,
        }
    }

    /// Steps on until the shard ends, is lost, or everything is to stop.
    pub(crate) async fn follow(mut self) -> Step {
        let mut failures = 0;
        let end = loop {
            if self.shared.stop.is_set() {
                break Step::Stopped;
            }
            if !self.holds() {
                break Step::Lost;
            }
            match self.step(WAIT).await {
                Ok(Step::Ended) => break Step::Ended,
                Ok(_) => failures = 0,
                Err(failure) => {
                    failures += 1;
                    tracing::warn!(processor = %self.name, shard = %self.shard, %failure, "cannot read on");
                    self.shared.stop.unless(self.shared.retries.backoff.wait(failures)).await;
                }
            }
        };
        if let Err(failure) = self.flush().await {
            // It is read again, and has no further effect.
            tracing::warn!(processor = %self.name, shard = %self.shard, %failure, "checkpoint not written");
        }
        self.shared.figures.forget(&self.name, self.shard.as_str());
        end
    }

    /// Reads some changes and deals with them.
    pub(crate) async fn step(&mut self, wait: Duration) -> Result<Step, Failure> {
        if self.mark.is_none() {
            self.load().await?;
        }
        let Some(page) = self.read(wait).await? else { return Ok(Step::Stopped) };
        match self.deal(&page).await? {
            Dealt::All => {}
            Dealt::Stopped => return Ok(Step::Stopped),
            Dealt::Lost => {
                self.mark = None;
                return Ok(Step::Lost);
            }
        }
        let before = self.reached.clone();
        self.reached = self.reached.take().max(page.next.clone());
        self.tell(None);
        self.save_now_and_then().await?;
        if page.ended {
            return Ok(Step::Ended);
        }
        let moved = !page.changes.is_empty() || self.reached != before;
        Ok(if moved { Step::Moved } else { Step::Idle })
    }

    /// Writes the checkpoint, if changes were passed over since it was last written.
    pub(crate) async fn flush(&mut self) -> Result<(), Failure> {
        let (Some(mark), Some(reached)) = (&mut self.mark, &self.reached) else { return Ok(()) };
        if mark.saved.as_ref() == Some(reached) {
            return Ok(());
        }
        if mark.save(&self.shared, reached).await? == Committed::Lost {
            self.mark = None;
        }
        self.unsaved = 0;
        Ok(())
    }

    fn holds(&self) -> bool {
        self.shared.sharing.holds(self.shard.as_str())
    }

    async fn load(&mut self) -> Result<(), Failure> {
        let mark = Mark::load(&self.shared, &self.name, &self.shard).await?;
        self.parked = self.parked_items().await?;
        (self.reached, self.unsaved) = (mark.saved.clone(), 0);
        self.mark = Some(mark);
        Ok(())
    }

    /// The next page; `None` if everything is to stop.
    async fn read(&mut self, wait: Duration) -> Result<Option<Arc<Page>>, Failure> {
        let read = async {
            match self.tail.read(self.reached.as_ref(), wait).await {
                Err(table::Error::StreamTrimmed { after, .. }) if self.reached.is_some() => {
                    Ok(Err(after))
                }
                other => other.map(Ok),
            }
        };
        match self.shared.stop.unless(read).await {
            None => Ok(None),
            Some(Err(error)) => Err(error.into()),
            Some(Ok(Ok(page))) => Ok(Some(page)),
            Some(Ok(Err(after))) => {
                tracing::error!(
                    processor = %self.name, shard = %self.shard, after,
                    "the stream no longer holds what comes next: verify and repair what is derived"
                );
                self.shared.figures.lane(&self.name, self.shard.as_str(), Event::Gap);
                self.reached = None;
                Ok(Some(self.tail.read(None, wait).await?))
            }
        }
    }

    /// Deals with the changes that this processor wants and has not dealt with.
    async fn deal(&mut self, page: &Page) -> Result<Dealt, Failure> {
        let new = |change: &&Change| Some(&change.sequence) > self.reached.as_ref();
        let wants = self.processor.wants();
        let wanted = |change: &&Change| entity(change).is_some_and(|kind| wants.contains(&kind));
        let mut wanted: Vec<Change> =
            page.changes.iter().filter(new).filter(wanted).cloned().collect();
        self.unsaved += page.unwanted + page.changes.len() - wanted.len();
        wanted.sort_by(|one, other| one.sequence.cmp(&other.sequence));
        wanted.dedup_by(|one, other| one.sequence == other.sequence);
        let mut pace = Pace::new();
        let mut rest = wanted.as_slice();
        while let Some(first) = rest.first() {
            if self.shared.stop.is_set() {
                return Ok(Dealt::Stopped);
            }
            if !self.holds() {
                return Ok(Dealt::Lost);
            }
            self.tell(Some(first));
            let clear = self.clear(rest).await?;
            let past = if clear == 0 {
                let behind = Failure::broken("an earlier change of the same item is parked");
                self.park(first, &behind, 0).await?.map(|()| 1)
            } else {
                let batch = rest.get(..pace.size().min(clear)).unwrap_or(rest);
                self.process(batch, &mut pace).await?
            };
            let Some(past) = past else { return Ok(Dealt::Lost) };
            let (dealt, others) = rest.split_at(past);
            if let Some(last) = dealt.last() {
                self.reached = Some(last.sequence.clone());
                pace.past(past);
            }
            rest = others;
        }
        Ok(Dealt::All)
    }

    /// Processes a batch, or parks it if it is one change that keeps failing; how many changes are
    /// dealt with, `None` if they are another reader's.
    async fn process(
        &mut self,
        batch: &[Change],
        pace: &mut Pace,
    ) -> Result<Option<usize>, Failure> {
        let failure = match self.attempt(batch).await {
            Ok(Tried::Done) => {
                self.event(Event::Processed(batch.len()));
                return Ok(Some(batch.len()));
            }
            Ok(Tried::Lost) => return Ok(None),
            Ok(Tried::TooMany) => {
                pace.size = (batch.len() / 2).max(1);
                return Ok(Some(0));
            }
            Err(failure) => failure,
        };
        self.event(Event::Retried);
        pace.tries += 1;
        let (tries, attempts_max) = (pace.tries, self.shared.retries.attempts_max);
        tracing::warn!(
            processor = %self.name, shard = %self.shard, changes = batch.len(), tries, %failure,
            "cannot process changes"
        );
        let remedy = failure.remedy();
        let given_up = match remedy {
            Remedy::Wait => false,
            // Of several, one may be at fault: find out which.
            Remedy::None => batch.len() > 1 || tries >= attempts_max,
            Remedy::Again => tries >= attempts_max.saturating_mul(PATIENCE),
        };
        if !given_up {
            let backoff = &self.shared.retries.backoff;
            self.shared.stop.unless(backoff.wait(tries)).await;
            return Ok(Some(0));
        }
        if let [change] = batch {
            return Ok(self.park(change, &failure, tries).await?.map(|()| 1));
        }
        (pace.alone, pace.tries) = (batch.len(), 0);
        Ok(Some(0))
    }

    async fn attempt(&mut self, batch: &[Change]) -> Result<Tried, Failure> {
        let Some(last) = batch.last() else { return Ok(Tried::Done) };
        let effects = self.effects(batch, Delivery::Streamed).await?;
        if effects.items() > EFFECTS_MAX {
            let items = effects.items();
            if batch.len() == 1 {
                return Err(Failure::broken(format!("one change would lead to {items} writes")));
            }
            return Ok(Tried::TooMany);
        }
        if effects.is_empty() {
            self.unsaved += batch.len();
            return Ok(Tried::Done);
        }
        let Some(mark) = &mut self.mark else { return Ok(Tried::Lost) };
        let asks = effects.touches(self.shared.ground.ops().table());
        match mark.commit(&self.shared, effects, &last.sequence).await? {
            Committed::Done => {
                self.unsaved = 0;
                if asks {
                    self.shared.asked.say();
                }
                Ok(Tried::Done)
            }
            Committed::Lost => Ok(Tried::Lost),
        }
    }

    async fn effects(&self, changes: &[Change], delivery: Delivery) -> Result<Effects, Failure> {
        let shard = (!self.shared.commits_together()).then(|| self.shard.as_str());
        let batch = Batch { shard, delivery, changes };
        let effects = AssertUnwindSafe(self.processor.effects(&batch)).catch_unwind();
        effects.await.unwrap_or_else(|_| Err(Failure::broken("the processor panicked")))
    }

    async fn save_now_and_then(&mut self) -> Result<(), Failure> {
        let now = self.shared.ground.now();
        let long_ago = self.saved_at.plus_ms(UNSAVED_MS_MAX) <= now;
        if self.unsaved >= UNSAVED_CHANGES_MAX || long_ago {
            self.flush().await?;
        }
        if long_ago {
            self.saved_at = now;
            if let Some(saved) = self.mark.as_ref().and_then(|mark| mark.saved.as_ref()) {
                self.shared.sharing.passed(&self.name, self.shard.as_str(), saved).await?;
            }
        }
        Ok(())
    }

    fn event(&self, event: Event) {
        self.shared.figures.lane(&self.name, self.shard.as_str(), event);
    }

    /// Tells how far behind this is; `next` is the change it is about to deal with.
    fn tell(&self, next: Option<&Change>) {
        let known = self.tail.known_after(self.reached.as_ref());
        let (shard, since) = (self.shard.as_str(), next.map(|change| change.at_ms));
        let since = since.filter(|_| known > 0);
        self.shared.figures.at(&self.name, shard, self.reached.as_ref(), known, since);
    }
}
