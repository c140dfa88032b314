//! Promotes and demotes users and groups by their followers and activity (R36). A decision follows
//! from the current state, so changes may be delivered again, late, or in any order; they only
//! identify candidates. An admin may have set thresholds for one of them, which are read
//! with each batch.

use std::collections::BTreeMap;

use async_trait::async_trait;
use roundtable_domain::{Context, PromotionSettings, Promotions};
use roundtable_model::entities::{ActorHead, GroupCounter, Promotion, UserCounter};
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

/// A change of what the rule depends on.
enum ActorUpdate {
    /// The number of followers or members before and after; of users with several shards, that in one.
    Readers { is_extra_shard: bool, before: u64, now: u64 },
    /// The number of activities of the day so far, and of the day that has just ended.
    Activity { is_promoted: bool, today: u64, ended_day: Option<u64> },
    /// The thresholds themselves.
    Thresholds,
}

impl PromotionUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("promotion");

    pub fn new(context: Context) -> Self {
        Self { promotions: Promotions::new(context.clone()), context }
    }
}

impl ActorUpdate {
    /// Returns what a change means to the rule, and for which user or group.
    fn of(change: &Change) -> Result<Option<(ActorId, Self)>> {
        let kind = entity_type(change).unwrap_or_default();
        if kind == ActorHead::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<ActorHead>::of(change)? else {
                return Ok(None);
            };
            let ended = old.filter(|old| old.window_at != new.window_at);
            let ended_day = ended.map(|old| old.window_count);
            let (is_promoted, today) = (new.promoted, new.window_count);
            return Ok(Some((new.actor_id, Self::Activity { is_promoted, today, ended_day })));
        }
        if kind == Promotion::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<Promotion>::of(change)? else {
                return Ok(None);
            };
            let is_same = old.and_then(|old| old.overrides) == new.overrides;
            return Ok((!is_same).then_some((new.subject_id, Self::Thresholds)));
        }
        if kind == GroupCounter::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<GroupCounter>::of(change)? else {
                return Ok(None);
            };
            let before = old.map_or(0, |old| old.count);
            let update = Self::Readers { is_extra_shard: false, before, now: new.count };
            return Ok(Some((ActorId::from(&new.group_id), update)));
        }
        let Images { old, new: Some(new) } = Images::<UserCounter>::of(change)? else {
            return Ok(None);
        };
        if new.counter != UserCount::Followers {
            return Ok(None);
        }
        let (is_extra_shard, before) = (new.shard != Shard::ZERO, old.map_or(0, |old| old.count));
        let update = Self::Readers { is_extra_shard, before, now: new.count };
        Ok(Some((ActorId::from(&new.user_id), update)))
    }

    /// Returns whether the rule may have to decide. Most changes do not matter to it.
    fn matters(&self, thresholds: &PromotionSettings) -> bool {
        match *self {
            // Otherwise there are too few to be promoted, and they have not just fallen below the
            // limit for staying promoted.
            Self::Readers { is_extra_shard, before, now } => {
                let min = thresholds.followers_min;
                let falls = before.saturating_mul(2) >= min && now.saturating_mul(2) < min;
                is_extra_shard || now >= min || falls
            }
            Self::Activity { is_promoted: true, ended_day, .. } => ended_day.is_some(),
            Self::Activity { today, .. } => today >= thresholds.per_day_min,
            Self::Thresholds => true,
        }
    }

    const fn ended_day(&self) -> Option<u64> {
        match self {
            Self::Activity { ended_day, .. } => *ended_day,
            Self::Readers { .. } | Self::Thresholds => None,
        }
    }
}

#[async_trait]
impl Processor for PromotionUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const {
            &[
                UserCounter::SHAPE.name,
                GroupCounter::SHAPE.name,
                ActorHead::SHAPE.name,
                Promotion::SHAPE.name,
            ]
        }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut updates: BTreeMap<ActorId, Vec<ActorUpdate>> = BTreeMap::new();
        for change in batch.changes {
            if let Some((subject, update)) = ActorUpdate::of(change)? {
                updates.entry(subject).or_default().push(update);
            }
        }
        let subjects: Vec<ActorId> = updates.keys().cloned().collect();
        let thresholds = self.promotions.thresholds(&subjects).await?;
        let mut candidates: BTreeMap<ActorId, Option<u64>> = BTreeMap::new();
        for ((subject, updates), thresholds) in updates.into_iter().zip(thresholds) {
            let mut matter = updates.iter().filter(|update| update.matters(&thresholds)).peekable();
            if matter.peek().is_some() {
                let ended_day = matter.filter_map(ActorUpdate::ended_day).last();
                candidates.insert(subject, ended_day);
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
