//! Takes the posts of somebody who turns private out of the lists for everybody, and puts them back:
//! a page at a time, since there may be many. Who may see them is asked of the account itself, at every
//! read; this is for lists to be full, and to have no gaps.

use async_trait::async_trait;
use roundtable_domain::{Ground, Posts};
use roundtable_model::entities::{Job, User};
use roundtable_model::{Entity, Processor as Name, Queue, UserId};
use serde::{Deserialize, Serialize};

use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("privacy");

/// How long an index of DynamoDB may be behind; most often it is a fraction of a second.
const INDEX_LAG_MS: u64 = 5_000;

/// Tells posts that their author has turned private, or public again.
#[derive(Clone, Debug)]
pub struct Privacy {
    ground: Ground,
    posts: Posts,
}

/// Whose posts are to be told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Turned {
    user_id: UserId,
    is_private: bool,
}

impl Privacy {
    /// What it is called.
    pub const NAME: Name = Name::named("privacy");

    /// The privacy of this ground.
    pub fn new(ground: Ground) -> Self {
        Self { posts: Posts::new(ground.clone()), ground }
    }

    /// A post written just before must have reached the index by which it is found.
    fn index_lag_ms(&self) -> u64 {
        if self.ground.store().capabilities().strong_index_reads { 0 } else { INDEX_LAG_MS }
    }
}

#[async_trait]
impl Processor for Privacy {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[User::SHAPE.name] }
    }

    /// A job does nothing where the account has turned again since.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
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
            let turned = Turned { user_id: new.id.clone(), is_private: new.is_private };
            let due = happened(change, &self.ground).plus_ms(self.index_lag_ms());
            let asked = job(QUEUE, new.id.recast(), due, &turned)?;
            // Turning twice in a millisecond is turning as one did last.
            jobs.retain(|earlier| earlier.key().into_key() != asked.key().into_key());
            jobs.push(asked);
        }
        for asked in jobs {
            effects.write(self.ground.ops().table(), asked.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for Privacy {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let turned: Turned = job.payload.to()?;
        let after = job.cursor.as_ref().map(|cursor| cursor.parse()).transpose()?;
        let posts = self.posts.set_author_private(&turned.user_id, turned.is_private, after);
        Ok(posts.await?.map_or(Next::Done, |next| Next::Page(next.to_string())))
    }
}
