//! The watermark: up to where everything has reached every feed.

use roundtable_model::entities::{ActorHead, Promotion};
use roundtable_model::table::{Condition, Error, Transaction};
use roundtable_model::{Entity, PromotionReason};

use super::pending::Pass;
use super::{FanOut, Home};
use crate::Failure;

impl FanOut {
    /// Raises the watermark to the end of a pass that is complete, unless it is further already.
    pub(super) async fn raise(&self, home: &Home, pass: &Pass) -> Result<(), Failure> {
        if !pass.is_marked {
            return self.mark(home, pass).await;
        }
        let patch = Promotion::at(&home.actor())
            .patch()
            .set(Promotion::WATERMARK, &Some(pass.upto))
            .set(Promotion::WATERMARK_SINCE, &Some(pass.since))
            .set(Promotion::UPDATED_AT, &self.ground.now())
            .when(is_behind(pass));
        match self.ground.core().table().update(patch.into()).await {
            // Somebody else was faster, or the home is gone.
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the first watermark of a home that nobody has promoted: the policy had it copied. It is as
    /// if the rule had looked at it and left it alone, so that the rule may look again. Of a home that is
    /// gone nothing may be left.
    async fn mark(&self, home: &Home, pass: &Pass) -> Result<(), Failure> {
        let (user_id, group_id) = match home {
            Home::Person(id) => (Some(id.clone()), None),
            Home::Group(id) => (None, Some(id.clone())),
        };
        let promotion = Promotion {
            subject_id: home.actor(),
            user_id,
            group_id,
            fanout_enabled: false,
            reason: PromotionReason::Followers,
            thresholds: None,
            watermark: Some(pass.upto),
            watermark_since: Some(pass.since),
            updated_at: self.ground.now(),
        };
        let core = self.ground.core().table();
        let both = Transaction::new()
            .with(core, promotion.create())
            .with(core, ActorHead::at(&home.actor()).exists());
        self.ground.store().transact(both).await?;
        Ok(())
    }
}

/// That the watermark is before the end of a pass.
fn is_behind(pass: &Pass) -> Condition {
    let earlier = Promotion::WATERMARK_SINCE.at_most(&pass.since.minus_ms(1));
    let same = Promotion::WATERMARK_SINCE.is(&pass.since);
    let lower = Promotion::WATERMARK.at_most(&pass.upto.minus_ms(1));
    Promotion::WATERMARK_SINCE.absent().or(earlier).or(same.and(lower))
}
