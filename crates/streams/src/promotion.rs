//! Promotes and demotes users and groups by their followers and activity (R36). A decision follows
//! from the current state, so changes may be delivered again, late, or in any order; they only
//! identify candidates.

use std::collections::BTreeMap;

use async_trait::async_trait;
use roundtable_domain::{Context, Promotions};
use roundtable_model::entities::{ActorHead, GroupCounter, UserCounter};
use roundtable_model::table::Change;
use roundtable_model::{ActorId, Entity, ProcessorName, Shard, UserCount};

use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::{Delivery, Result};

/// The processor that applies the promotion rule.
#[derive(Clone, Debug)]
pub struct PromotionUpdater {
    context: Context,
    promotions: Promotions,
}

/// A user or group that may have to be promoted or demoted.
struct PromotionCandidate {
    subject: ActorId,
    /// The number of activities in the day that has just ended for them.
    ended_day: Option<u64>,
}

impl PromotionUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("promotion");

    pub fn new(context: Context) -> Self {
        Self { promotions: Promotions::new(context.clone()), context }
    }

    /// Returns the candidate of a change. Most changes have none.
    fn candidate(&self, change: &Change) -> Result<Option<PromotionCandidate>> {
        let kind = entity_type(change).unwrap_or_default();
        if kind == ActorHead::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<ActorHead>::of(change)? else {
                return Ok(None);
            };
            return Ok(self.activity_candidate(old.as_ref(), new));
        }
        let (subject, is_extra_shard, before, now) = if kind == GroupCounter::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<GroupCounter>::of(change)? else {
                return Ok(None);
            };
            let before = old.map_or(0, |old| old.count);
            (ActorId::from(&new.group_id), false, before, new.count)
        } else {
            let Images { old, new: Some(new) } = Images::<UserCounter>::of(change)? else {
                return Ok(None);
            };
            if new.counter != UserCount::Followers {
                return Ok(None);
            }
            let before = old.map_or(0, |old| old.count);
            (ActorId::from(&new.user_id), new.shard != Shard::ZERO, before, new.count)
        };
        // Otherwise there are too few to be promoted, and they have not just fallen below the limit
        // for staying promoted.
        let min = self.context.settings().feed.promotion.followers_min;
        let falls = before.saturating_mul(2) >= min && now.saturating_mul(2) < min;
        let ended_day = None;
        Ok((is_extra_shard || now >= min || falls)
            .then_some(PromotionCandidate { subject, ended_day }))
    }

    /// Returns the candidate that follows from an actor's newest activity.
    fn activity_candidate(
        &self,
        old: Option<&ActorHead>,
        new: ActorHead,
    ) -> Option<PromotionCandidate> {
        let ended = old.filter(|old| old.window_at != new.window_at);
        let ended_day = ended.map(|old| old.window_count);
        let is_busy = new.window_count >= self.context.settings().feed.promotion.per_day_min;
        let is_candidate = if new.promoted { ended_day.is_some() } else { is_busy };
        is_candidate.then_some(PromotionCandidate { subject: new.actor_id, ended_day })
    }
}

#[async_trait]
impl Processor for PromotionUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[UserCounter::SHAPE.name, GroupCounter::SHAPE.name, ActorHead::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut candidates: BTreeMap<ActorId, Option<u64>> = BTreeMap::new();
        for change in batch.changes {
            if let Some(PromotionCandidate { subject, ended_day }) = self.candidate(change)? {
                let day = candidates.entry(subject).or_default();
                *day = ended_day.or(*day);
            }
        }
        let core = self.context.core().table();
        for (subject, ended_day) in candidates {
            let writes = self.promotions.rule_writes(&subject, ended_day).await?;
            if !writes.is_empty() {
                effects.write_together(writes.into_iter().map(|write| (core, write)));
            }
        }
        Ok(effects)
    }
}
