//! Dead letters: changes and jobs that failed too often, kept with what they were about and why they
//! failed, until somebody redrives or discards them.
//!
//! A parked change is in `stream.<processor>`, a parked job in the queue it came from.

mod change;
mod redrive;

use std::collections::HashSet;
use std::sync::Arc;

use roundtable_domain::Ground;
use roundtable_model::entities::{DeadLetter, Job};
use roundtable_model::table::{Change, Key, Table};
use roundtable_model::{
    Cursor, JobId, Json, Page, Processor as Name, Queue, Result, StreamShard, Time,
};

pub use self::change::ParkedChange;
pub use self::redrive::Redriven;
use crate::shared::Shared;
use crate::{Failure, Processor};

/// Letters read at once, unless asked otherwise.
const PAGE_LETTERS: usize = 50;

/// All dead letters.
#[derive(Clone, Debug)]
pub struct DeadLetters {
    shared: Arc<Shared>,
    processors: Vec<Arc<dyn Processor>>,
    jobs: Vec<Queue>,
}

/// What a dead letter is about.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time is looked at")]
pub enum Subject {
    /// A change that a processor could not process.
    Change(ParkedChange),
    /// A job that could not be done: what it was, and where it would have gone on.
    Job {
        /// What was to be done.
        payload: Json,
        /// Where it would have gone on.
        cursor: Option<String>,
    },
}

impl DeadLetters {
    pub(crate) const fn new(
        shared: Arc<Shared>,
        processors: Vec<Arc<dyn Processor>>,
        jobs: Vec<Queue>,
    ) -> Self {
        Self { shared, processors, jobs }
    }

    /// The queues that letters can be in.
    pub fn queues(&self) -> Vec<Queue> {
        let changes = self.processors.iter().filter_map(|each| changes_of(&each.name()).ok());
        changes.chain(self.jobs.iter().cloned()).collect()
    }

    /// How many there are in all queues.
    pub async fn count(&self) -> Result<usize> {
        let mut count = 0;
        for queue in self.queues() {
            each(&self.shared.ground, &queue, |_| count += 1).await?;
        }
        Ok(count)
    }

    /// The letters of a queue, the oldest first.
    pub async fn list(
        &self,
        queue: &Queue,
        limit: Option<usize>,
        after: Option<Cursor>,
    ) -> Result<Page<DeadLetter>> {
        let letters = self.shared.ground.ops().dead_letters(queue);
        letters.limit(limit.unwrap_or(PAGE_LETTERS)).after(after).page().await
    }

    /// A letter, and what it is about.
    pub async fn show(
        &self,
        queue: &Queue,
        at: Time,
        id: &JobId,
    ) -> Result<Option<(DeadLetter, Subject)>, Failure> {
        let letter = self.shared.ground.ops().dead_letter(queue, &at, id).get().await?;
        let Some(letter) = letter else { return Ok(None) };
        let subject = Subject::of(&letter)?;
        Ok(Some((letter, subject)))
    }

    /// Forgets a letter for good: what it was about will not happen. Whether it was there.
    pub async fn discard(&self, queue: &Queue, at: Time, id: &JobId) -> Result<bool, Failure> {
        let gone = DeadLetter::at(queue, &at, id).delete();
        match self.ops().delete(gone).await {
            Ok(_) => Ok(true),
            Err(roundtable_model::table::Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn ops(&self) -> &Table {
        self.shared.ground.ops().table()
    }
}

impl Subject {
    fn of(letter: &DeadLetter) -> Result<Self, Failure> {
        if letter.queue.as_str().starts_with(Queue::CHANGES) {
            return ParkedChange::read(letter).map(Self::Change);
        }
        let (payload, cursor) = (letter.payload.clone(), letter.cursor.clone());
        Ok(Self::Job { payload, cursor })
    }
}

/// The letter of a change that a processor could not process.
pub(crate) fn of_change(
    ground: &Ground,
    (processor, shard): (&Name, &StreamShard),
    change: &Change,
    failure: &Failure,
    attempts: u32,
) -> Result<DeadLetter, Failure> {
    let parked = ParkedChange::of(processor, shard, change);
    let (payload, cursor) = parked.write()?;
    let (now, id) = (ground.now(), ground.ids().next());
    Ok(DeadLetter {
        queue: changes_of(processor)?,
        failed_at: now,
        id,
        payload,
        cursor,
        error: failure.to_string(),
        attempts: attempts.into(),
        created_at: Time::from_ms(change.at_ms),
    })
}

/// The letter of a job that could not be done.
pub(crate) fn of_job(ground: &Ground, job: &Job, error: String) -> DeadLetter {
    DeadLetter {
        queue: job.queue.clone(),
        failed_at: ground.now(),
        id: job.id.clone(),
        payload: job.payload.clone(),
        cursor: job.cursor.clone(),
        error,
        attempts: job.attempts,
        created_at: job.created_at,
    }
}

/// The items of which a change is parked for a processor.
pub(crate) async fn parked_items(
    ground: &Ground,
    processor: &Name,
) -> Result<HashSet<Key>, Failure> {
    let mut keys = Ok(HashSet::new());
    each(ground, &changes_of(processor)?, |letter| {
        if let Ok(known) = &mut keys {
            match ParkedChange::read(&letter) {
                Ok(parked) => drop(known.insert(parked.change.key)),
                Err(failure) => keys = Err(failure),
            }
        }
    })
    .await?;
    keys
}

/// Looks at every letter of a queue, however many there are, a page at a time.
async fn each(ground: &Ground, queue: &Queue, mut look: impl FnMut(DeadLetter)) -> Result<()> {
    let mut after = None;
    loop {
        let letters = ground.ops().dead_letters(queue).limit(PAGE_LETTERS).after(after);
        let page = letters.page().await?;
        page.items.into_iter().for_each(&mut look);
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Where the changes that a processor could not process are parked.
fn changes_of(processor: &Name) -> Result<Queue, Failure> {
    Ok(Queue::of_changes(processor)?)
}
