//! Brings posts among the popular ones, up and down, as what people do with them is counted.
//!
//! A post's place is rewritten only when its score reaches another step. It follows from what the
//! counter says now, not from the change, so changes may come again, late, or in any order.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_model::entities::{Post, PostCounter};
use roundtable_model::{Entity, PostId, Processor as Name, rekey};

use crate::processor::{Batch, Effects, Images, Processor};
use crate::reads::read_all;
use crate::{Delivery, Failure};

/// Keeps the scores of posts.
#[derive(Clone, Debug)]
pub struct Scores {
    ground: Ground,
}

impl Scores {
    /// What it is called.
    pub const NAME: Name = Name::named("scores");

    /// The scores of this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }
}

#[async_trait]
impl Processor for Scores {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[PostCounter::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut counted: BTreeSet<PostId> = BTreeSet::new();
        for change in batch.changes {
            counted.extend(Images::<PostCounter>::of(change)?.new.map(|counter| counter.post_id));
        }
        let core = self.ground.core().table();
        let places = counted.iter().map(|id| (id.clone(), Post::at(id)));
        let posts = read_all(core, places).await?;
        let places = posts.keys().map(|id| (id.clone(), PostCounter::at(id)));
        let counters = read_all(core, places).await?;
        for (id, post) in posts.iter().filter(|(_, post)| !post.is_deleted) {
            let Some(counter) = counters.get(id) else { continue };
            let score = self.ground.settings().score.listed(counter.score);
            if post.score == score {
                continue;
            }
            let listed = Post { score, ..post.clone() };
            // Of two who do this at once, one may be late: its count must still be the last one.
            let last = counter.key().check(PostCounter::SEQ.is(&counter.seq));
            let moved = rekey(post, &listed)?;
            effects.together([(core, moved.into()), (core, last.into())]);
        }
        Ok(effects)
    }
}
