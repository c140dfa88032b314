//! Moves posts up and down the popular list as their reactions are counted.
//!
//! A post's key is rewritten only when its score reaches another step. It follows from the current
//! counter and not from the change, so changes may be delivered again, late, or in any order.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::entities::{Post, PostCounter};
use roundtable_model::{Entity, PostId, ProcessorName, rekey};

use crate::processor::{Batch, Effects, Images, Processor};
use crate::reads::read_all;
use crate::{Delivery, Result};

/// The processor that updates the scores of posts.
#[derive(Clone, Debug)]
pub struct ScoreUpdater {
    context: Context,
}

impl ScoreUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("scores");

    pub const fn new(context: Context) -> Self {
        Self { context }
    }
}

#[async_trait]
impl Processor for ScoreUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[PostCounter::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut counted: BTreeSet<PostId> = BTreeSet::new();
        for change in batch.changes {
            counted.extend(Images::<PostCounter>::of(change)?.new.map(|counter| counter.post_id));
        }
        let core = self.context.core().table();
        let keys = counted.iter().map(|id| (id.clone(), Post::at(id)));
        let posts = read_all(core, keys).await?;
        let keys = posts.keys().map(|id| (id.clone(), PostCounter::at(id)));
        let counters = read_all(core, keys).await?;
        for (id, post) in posts.iter().filter(|(_, post)| !post.is_deleted) {
            let Some(counter) = counters.get(id) else { continue };
            let score = self.context.settings().score.listed(counter.score);
            if post.score == score {
                continue;
            }
            let listed = Post { score, ..post.clone() };
            // Of two concurrent writers one may be late: its count must still be the latest.
            let last = counter.key().check(PostCounter::SEQ.is(&counter.seq));
            let moved = rekey(post, &listed)?;
            effects.write_together([(core, moved.into()), (core, last.into())]);
        }
        Ok(effects)
    }
}
