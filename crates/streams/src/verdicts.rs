//! Submits pending cases to the auto moderator (R34), one job each, so that a slow moderator delays
//! only other cases.
//!
//! A case that the auto moderator cannot decide stays PENDING. A failing call is retried like any
//! job; after too many attempts the case is left to human moderators, and its job becomes a dead
//! letter, to be redriven once the auto moderator works again. A decided case is never submitted:
//! changes and jobs that are repeated find it no longer pending.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    AutoModerationOutcome, AutoModerator, Context, Moderation, ModerationError,
};
use roundtable_model::entities::{Comment, Job, ModerationCase, Post};
use roundtable_model::table::Change;
use roundtable_model::{CaseId, Entity, ModerationStatus, ProcessorName, Queue, Time};

use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::reads::read_all;
use crate::{Delivery, ProcessingError, Result};

const QUEUE: Queue = Queue::from_static("verdicts");
const CASES_AT_ONCE: usize = 10;

/// The processor and job handler that submit pending cases to the auto moderator.
#[derive(Clone)]
pub struct CaseReviewer {
    context: Context,
    moderation: Moderation,
    moderator: Arc<dyn AutoModerator>,
}

impl CaseReviewer {
    pub const NAME: ProcessorName = ProcessorName::from_static("verdicts");

    pub fn new(context: Context, moderator: Arc<dyn AutoModerator>) -> Self {
        Self { moderation: Moderation::new(context.clone()), context, moderator }
    }
}

impl fmt::Debug for CaseReviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseReviewer").field("context", &self.context).finish_non_exhaustive()
    }
}

#[async_trait]
impl Processor for CaseReviewer {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[ModerationCase::SHAPE.name, Post::SHAPE.name, Comment::SHAPE.name] }
    }

    /// A case is judged in its current state.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut jobs: BTreeMap<CaseId, Time> = BTreeMap::new();
        for change in batch.changes {
            if let Some(case) = case_to_review(change)? {
                jobs.insert(case, job_due_at(change, &self.context));
            }
        }
        let keys = jobs.keys().map(|id| (id.clone(), ModerationCase::at(id)));
        let cases = read_all(self.context.core().table(), keys).await?;
        for (id, due) in jobs {
            if cases.get(&id).is_some_and(is_pending) {
                let job = new_job(QUEUE, id.recast(), due, &id)?;
                effects.write(self.context.ops().table(), job.put());
            }
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for CaseReviewer {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        CASES_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let case: CaseId = job.payload.decode()?;
        match self.moderation.decide_automatically(&case, &*self.moderator).await {
            Ok(AutoModerationOutcome::Failed(error)) => {
                Err(ProcessingError::unprocessable(format!("no verdict: {error}")))
            }
            // An undecided verdict completes the job. Deleted content, or content of a deleted
            // author, needs none.
            Ok(_) | Err(ModerationError::NoSuchPost | ModerationError::NoSuchComment) => {
                Ok(PageOutcome::Done)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the case to submit after a change, if any: it has become pending, or its content was
/// edited. A verdict on the earlier text is dropped, so there must be one on the later text.
fn case_to_review(change: &Change) -> Result<Option<CaseId>> {
    let kind = entity_type(change).unwrap_or_default();
    if kind == ModerationCase::SHAPE.name {
        let Images { old, new } = Images::<ModerationCase>::of(change)?;
        let new = new.filter(|case| is_pending(case) && !old.as_ref().is_some_and(is_pending));
        return Ok(new.map(|case| case.id));
    }
    if kind == Post::SHAPE.name {
        let Images { old: Some(old), new: Some(new) } = Images::<Post>::of(change)? else {
            return Ok(None);
        };
        let is_edited = (&old.content, &old.media) != (&new.content, &new.media);
        return Ok((is_edited && !new.is_deleted).then(|| new.id.into()));
    }
    let Images { old: Some(old), new: Some(new) } = Images::<Comment>::of(change)? else {
        return Ok(None);
    };
    Ok((old.content != new.content && !new.is_deleted).then(|| new.id.into()))
}

fn is_pending(case: &ModerationCase) -> bool {
    // Cases about users, groups and messages are for moderators.
    case.status == ModerationStatus::Pending && case.post_id.is_some()
}
