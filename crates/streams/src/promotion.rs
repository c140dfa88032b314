//! Promotes and demotes people and groups by how many follow them and how much they do (R36). What is
//! decided follows from how things are now, so changes may come again, late, or in any order; they only
//! tell about whom there may be something to decide.

use std::collections::BTreeMap;

use async_trait::async_trait;
use roundtable_domain::{Ground, Promotions};
use roundtable_model::entities::{ActorHead, GroupCounter, UserCounter};
use roundtable_model::table::Change;
use roundtable_model::{ActorId, Entity, Processor as Name, Shard, UserCount};

use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::{Delivery, Failure};

/// Promotes and demotes by a rule.
#[derive(Clone, Debug)]
pub struct PromotionRule {
    ground: Ground,
    promotions: Promotions,
}

/// Somebody who may have to be promoted or demoted.
struct Hint {
    subject: ActorId,
    /// How much they did in the day that has just ended for them.
    ended_day: Option<u64>,
}

impl PromotionRule {
    /// What it is called.
    pub const NAME: Name = Name::named("promotion");

    /// The promotion of this ground.
    pub fn new(ground: Ground) -> Self {
        Self { promotions: Promotions::new(ground.clone()), ground }
    }

    /// About whom a change leaves something to decide: nothing about most of them.
    fn hint(&self, change: &Change) -> Result<Option<Hint>, Failure> {
        let kind = entity(change).unwrap_or_default();
        if kind == ActorHead::SHAPE.name {
            let Images { old, new: Some(new) } = Images::<ActorHead>::of(change)? else {
                return Ok(None);
            };
            return Ok(self.of_activity(old.as_ref(), new));
        }
        let (subject, is_part, before, now) = if kind == GroupCounter::SHAPE.name {
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
        // Too few to be promoted, and not just fallen below what one may stay promoted with.
        let min = self.ground.settings().feed.promotion.followers_min;
        let falls = before.saturating_mul(2) >= min && now.saturating_mul(2) < min;
        let ended_day = None;
        Ok((is_part || now >= min || falls).then_some(Hint { subject, ended_day }))
    }

    /// What somebody's newest activity tells of how much they do.
    fn of_activity(&self, old: Option<&ActorHead>, new: ActorHead) -> Option<Hint> {
        let ended = old.filter(|old| old.window_at != new.window_at);
        let ended_day = ended.map(|old| old.window_count);
        let is_busy = new.window_count >= self.ground.settings().feed.promotion.per_day_min;
        let turns = if new.promoted { ended_day.is_some() } else { is_busy };
        turns.then_some(Hint { subject: new.actor_id, ended_day })
    }
}

#[async_trait]
impl Processor for PromotionRule {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[UserCounter::SHAPE.name, GroupCounter::SHAPE.name, ActorHead::SHAPE.name] }
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut hints: BTreeMap<ActorId, Option<u64>> = BTreeMap::new();
        for change in batch.changes {
            if let Some(Hint { subject, ended_day }) = self.hint(change)? {
                let known = hints.entry(subject).or_default();
                *known = ended_day.or(*known);
            }
        }
        let core = self.ground.core().table();
        for (subject, ended_day) in hints {
            let writes = self.promotions.decide(&subject, ended_day).await?;
            if !writes.is_empty() {
                effects.together(writes.into_iter().map(|write| (core, write)));
            }
        }
        Ok(effects)
    }
}
