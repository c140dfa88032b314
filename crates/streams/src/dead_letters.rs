//! Dead letters: changes and jobs that failed too often, kept with their content and error until an
//! operator redrives or discards them.
//!
//! A parked change is in `stream.<processor>`, a parked job in the queue it came from.

mod parked_change;
mod redrive;

use roundtable_domain_macros::boxed;
use std::collections::HashSet;
use std::sync::Arc;

use roundtable_domain::Context;
use roundtable_model::entities::{DeadLetter, Job};
use roundtable_model::table::{Change, Key, Table};
use roundtable_model::{
    Cursor, EntityPage, Error, JobId, Json, ProcessorName, Queue, Result, StreamShard, Time,
};

pub use self::parked_change::ParkedChange;
pub use self::redrive::RedriveSummary;
use crate::runner_state::RunnerState;
use crate::{ProcessingError, Processor};

/// Dead letters per page, unless the caller sets a limit.
const PAGE_LETTERS: usize = 50;

/// The dead letters of a runner's processors and queues.
#[derive(Clone, Debug)]
pub struct DeadLetters {
    shared: Arc<RunnerState>,
    processors: Vec<Arc<dyn Processor>>,
    jobs: Vec<Queue>,
}

/// The content of a dead letter.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "only one exists at a time")]
pub enum DeadLetterSubject {
    Change(ParkedChange),
    Job {
        payload: Json,
        /// The position at which it would have continued.
        cursor: Option<String>,
    },
}

#[boxed]
impl DeadLetters {
    pub(crate) const fn new(
        shared: Arc<RunnerState>,
        processors: Vec<Arc<dyn Processor>>,
        jobs: Vec<Queue>,
    ) -> Self {
        Self { shared, processors, jobs }
    }

    /// Returns the queues that can hold dead letters.
    pub fn queues(&self) -> Vec<Queue> {
        let changes = self.processors.iter().filter_map(|each| change_queue(&each.name()).ok());
        changes.chain(self.jobs.iter().cloned()).collect()
    }

    /// Returns the number of dead letters in all queues.
    pub async fn count(&self) -> Result<usize> {
        let mut count = 0;
        for queue in self.queues() {
            for_each_letter(&self.shared.context, &queue, |_| count += 1).await?;
        }
        Ok(count)
    }

    /// Lists the dead letters of a queue, oldest first.
    pub async fn list(
        &self,
        queue: &Queue,
        limit: Option<usize>,
        after: Option<Cursor>,
    ) -> Result<EntityPage<DeadLetter>> {
        let letters = self.shared.context.ops().dead_letters(queue);
        letters.limit(limit.unwrap_or(PAGE_LETTERS)).after(after).page().await
    }

    /// Lists the dead letters of all queues, the oldest of each first. Each has the cursor that continues
    /// after it.
    pub async fn page(
        &self,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<(Vec<(DeadLetter, Cursor)>, Option<Cursor>)> {
        let (mut found, mut after) = (Vec::new(), after);
        // A cursor belongs to the list of one queue.
        let mut refused = None;
        for queue in self.queues() {
            let missing = (limit + 1).saturating_sub(found.len());
            if missing == 0 {
                break;
            }
            let page = match self.list(&queue, Some(missing), after.clone()).await {
                Err(error @ Error::InvalidCursor { .. }) if after.is_some() => {
                    refused = Some(error);
                    continue;
                }
                page => page?,
            };
            (after, refused) = (None, None);
            let cursors: Vec<Cursor> = page.items.iter().map(|item| page.cursor(item)).collect();
            found.extend(page.items.into_iter().zip(cursors));
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| has_more).map(|(_, cursor)| cursor.clone());
        Ok((found, next))
    }

    /// Returns a dead letter and its content.
    pub async fn get(
        &self,
        queue: &Queue,
        at: Time,
        id: &JobId,
    ) -> Result<Option<(DeadLetter, DeadLetterSubject)>, ProcessingError> {
        let letter = self.shared.context.ops().dead_letter(queue, &at, id).get().await?;
        let Some(letter) = letter else { return Ok(None) };
        let subject = DeadLetterSubject::of(&letter)?;
        Ok(Some((letter, subject)))
    }

    /// Deletes a dead letter: its change or job will never be processed. Returns whether it
    /// existed.
    pub async fn discard(
        &self,
        queue: &Queue,
        at: Time,
        id: &JobId,
    ) -> Result<bool, ProcessingError> {
        let delete = DeadLetter::at(queue, &at, id).delete();
        match self.ops().delete(delete).await {
            Ok(_) => Ok(true),
            Err(roundtable_model::table::Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn ops(&self) -> &Table {
        self.shared.context.ops().table()
    }
}

impl DeadLetterSubject {
    fn of(letter: &DeadLetter) -> Result<Self, ProcessingError> {
        if letter.queue.as_str().starts_with(Queue::CHANGES_PREFIX) {
            return ParkedChange::decode(letter).map(Self::Change);
        }
        let (payload, cursor) = (letter.payload.clone(), letter.cursor.clone());
        Ok(Self::Job { payload, cursor })
    }
}

pub(crate) fn dead_letter_for_change(
    context: &Context,
    (processor, shard): (&ProcessorName, &StreamShard),
    change: &Change,
    error: &ProcessingError,
    attempts: u32,
) -> Result<DeadLetter, ProcessingError> {
    let parked = ParkedChange::new(processor, shard, change);
    let (payload, cursor) = parked.encode()?;
    let (now, id) = (context.now(), context.ids().next());
    Ok(DeadLetter {
        queue: change_queue(processor)?,
        failed_at: now,
        id,
        payload,
        cursor,
        error: error.to_string(),
        attempts: attempts.into(),
        created_at: Time::from_ms(change.at_ms),
    })
}

pub(crate) fn dead_letter_for_job(context: &Context, job: &Job, error: String) -> DeadLetter {
    DeadLetter {
        queue: job.queue.clone(),
        failed_at: context.now(),
        id: job.id.clone(),
        payload: job.payload.clone(),
        cursor: job.cursor.clone(),
        error,
        attempts: job.attempts,
        created_at: job.created_at,
    }
}

/// Returns the items that have a change parked for `processor`.
pub(crate) async fn parked_items(
    context: &Context,
    processor: &ProcessorName,
) -> Result<HashSet<Key>, ProcessingError> {
    let mut keys = Ok(HashSet::new());
    for_each_letter(context, &change_queue(processor)?, |letter| {
        if let Ok(items) = &mut keys {
            match ParkedChange::decode(&letter) {
                Ok(parked) => drop(items.insert(parked.change.key)),
                Err(error) => keys = Err(error),
            }
        }
    })
    .await?;
    keys
}

/// Visits every dead letter of a queue, a page at a time.
async fn for_each_letter(
    context: &Context,
    queue: &Queue,
    mut visit: impl FnMut(DeadLetter),
) -> Result<()> {
    let mut after = None;
    loop {
        let letters = context.ops().dead_letters(queue).limit(PAGE_LETTERS).after(after);
        let page = letters.page().await?;
        page.items.into_iter().for_each(&mut visit);
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// The queue of the changes that a processor could not process.
fn change_queue(processor: &ProcessorName) -> Result<Queue, ProcessingError> {
    Ok(Queue::for_changes(processor)?)
}
