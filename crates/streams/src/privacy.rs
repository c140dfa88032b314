//! Removes the posts of an account that becomes private from public lists, and puts them back: a
//! page at a time, since there may be many. Visibility is decided from the account itself at every
//! read; this keeps lists full and without gaps.

use async_trait::async_trait;
use roundtable_domain::{Context, Posts};
use roundtable_model::entities::{Job, User};
use roundtable_model::{Entity, ProcessorName, Queue, UserId};
use serde::{Deserialize, Serialize};

use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("privacy");

/// The possible lag of a DynamoDB index. Usually it is a fraction of a second.
const INDEX_LAG_MS: u64 = 5_000;

/// The processor and job handler that apply an account's privacy to its posts.
#[derive(Clone, Debug)]
pub struct PrivacyUpdater {
    context: Context,
    posts: Posts,
}

/// The payload of a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrivacyJob {
    user_id: UserId,
    is_private: bool,
}

impl PrivacyUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("privacy");

    pub fn new(context: Context) -> Self {
        Self { posts: Posts::new(context.clone()), context }
    }

    /// Posts written just before must have reached the index by which they are found.
    fn index_lag_ms(&self) -> u64 {
        if self.context.store().capabilities().strong_index_reads { 0 } else { INDEX_LAG_MS }
    }
}

#[async_trait]
impl Processor for PrivacyUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[User::SHAPE.name] }
    }

    /// A job does nothing if the account has changed again since.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut jobs: Vec<Job> = Vec::new();
        for change in batch.changes {
            let Images { old: Some(old), new: Some(new) } = Images::<User>::of(change)? else {
                continue;
            };
            if old.is_private == new.is_private {
                continue;
            }
            let payload = PrivacyJob { user_id: new.id.clone(), is_private: new.is_private };
            let due = job_due_at(change, &self.context).plus_ms(self.index_lag_ms());
            let job = new_job(QUEUE, new.id.recast(), due, &payload)?;
            // Of two changes within a millisecond the last one counts.
            jobs.retain(|earlier| earlier.key().into_key() != job.key().into_key());
            jobs.push(job);
        }
        for job in jobs {
            effects.write(self.context.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for PrivacyUpdater {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let payload: PrivacyJob = job.payload.decode()?;
        let after = job.cursor.as_ref().map(|cursor| cursor.parse()).transpose()?;
        let posts = self.posts.set_author_private(&payload.user_id, payload.is_private, after);
        Ok(posts.await?.map_or(PageOutcome::Done, |next| PageOutcome::Continue(next.to_string())))
    }
}
