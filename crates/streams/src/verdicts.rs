//! Brings cases that wait before a judge (R34), one job each, so that a judge who takes long holds up
//! nobody but those who wait for it, too.
//!
//! What a judge cannot tell stays PENDING. One that fails is asked again, as every job is that fails;
//! after too many times the case is a moderator's, and its job a dead letter, to be redriven when the
//! judge is well again. What has been decided is never judged: neither the change nor the job that comes
//! again finds a case that waits.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{Ground, Judge, Judgement, Moderation, ModerationError};
use roundtable_model::entities::{Comment, Job, ModerationCase, Post};
use roundtable_model::table::Change;
use roundtable_model::{CaseId, Entity, ModerationStatus, Processor as Name, Queue, Time};

use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::reads::read_all;
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("verdicts");
/// Cases before the judge at the same time.
const CASES_AT_ONCE: usize = 10;

/// Asks a judge about cases that wait.
#[derive(Clone)]
pub struct Verdicts {
    ground: Ground,
    moderation: Moderation,
    judge: Arc<dyn Judge>,
}

impl Verdicts {
    /// What it is called.
    pub const NAME: Name = Name::named("verdicts");

    /// The verdicts of this judge, on this ground.
    pub fn new(ground: Ground, judge: Arc<dyn Judge>) -> Self {
        Self { moderation: Moderation::new(ground.clone()), ground, judge }
    }
}

impl fmt::Debug for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verdicts").field("ground", &self.ground).finish_non_exhaustive()
    }
}

#[async_trait]
impl Processor for Verdicts {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[ModerationCase::SHAPE.name, Post::SHAPE.name, Comment::SHAPE.name] }
    }

    /// A case is judged as it is when its turn comes.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut asked: BTreeMap<CaseId, Time> = BTreeMap::new();
        for change in batch.changes {
            if let Some(case) = to_be_judged(change)? {
                asked.insert(case, happened(change, &self.ground));
            }
        }
        let places = asked.keys().map(|id| (id.clone(), ModerationCase::at(id)));
        let cases = read_all(self.ground.core().table(), places).await?;
        for (id, due) in asked {
            if cases.get(&id).is_some_and(waits) {
                let job = job(QUEUE, id.recast(), due, &id)?;
                effects.write(self.ground.ops().table(), job.put());
            }
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for Verdicts {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        CASES_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let case: CaseId = job.payload.to()?;
        match self.moderation.decide_automatically(&case, &*self.judge).await {
            Ok(Judgement::Failed(error)) => Err(Failure::broken(format!("no verdict: {error}"))),
            // Undecided is an answer, too. What is gone, or whose author is, needs none.
            Ok(_) | Err(ModerationError::NoSuchPost | ModerationError::NoSuchComment) => {
                Ok(Next::Done)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The case that a change gives somebody reason to look at, if there is one: it waits from now on, or
/// what it is about says something else. A verdict about the text before is dropped, so that there must
/// be one about the text after.
fn to_be_judged(change: &Change) -> Result<Option<CaseId>, Failure> {
    let kind = entity(change).unwrap_or_default();
    if kind == ModerationCase::SHAPE.name {
        let Images { old, new } = Images::<ModerationCase>::of(change)?;
        let new = new.filter(|case| waits(case) && !old.as_ref().is_some_and(waits));
        return Ok(new.map(|case| case.id));
    }
    if kind == Post::SHAPE.name {
        let Images { old: Some(old), new: Some(new) } = Images::<Post>::of(change)? else {
            return Ok(None);
        };
        let edited = (&old.content, &old.media) != (&new.content, &new.media);
        return Ok((edited && !new.is_deleted).then(|| new.id.into()));
    }
    let Images { old: Some(old), new: Some(new) } = Images::<Comment>::of(change)? else {
        return Ok(None);
    };
    Ok((old.content != new.content && !new.is_deleted).then(|| new.id.into()))
}

fn waits(case: &ModerationCase) -> bool {
    case.status == ModerationStatus::Pending
}
