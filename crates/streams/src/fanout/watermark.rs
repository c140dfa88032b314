//! The watermark: all activities up to it are in all feeds.

use roundtable_model::entities::{ActorHead, Promotion};
use roundtable_model::table::{Condition, Error, Transaction};
use roundtable_model::{Entity, PromotionReason};

use super::pending::CopyPass;
use super::{FanOut, FanOutSource};
use crate::Result;

impl FanOut {
    /// Raises the watermark to the end of a completed pass, unless it is already further.
    pub(super) async fn raise_watermark(
        &self,
        source: &FanOutSource,
        pass: &CopyPass,
    ) -> Result<()> {
        if !pass.has_promotion {
            return self.create_watermark(source, pass).await;
        }
        let patch = Promotion::at(&source.actor())
            .patch()
            .set(Promotion::WATERMARK, &Some(pass.upto))
            .set(Promotion::WATERMARK_SINCE, &Some(pass.since))
            .set(Promotion::UPDATED_AT, &self.context.now())
            .when(is_watermark_behind(pass));
        match self.context.core().table().update(patch.into()).await {
            // Another worker was faster, or the source is gone.
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the first watermark of a source that is not promoted but copied by policy. It looks
    /// as if the promotion rule had declined, so that the rule may decide again. Nothing may be
    /// left behind for a deleted source.
    async fn create_watermark(&self, source: &FanOutSource, pass: &CopyPass) -> Result<()> {
        let (user_id, group_id) = match source {
            FanOutSource::User(id) => (Some(id.clone()), None),
            FanOutSource::Group(id) => (None, Some(id.clone())),
        };
        let promotion = Promotion {
            subject_id: source.actor(),
            user_id,
            group_id,
            fanout_enabled: false,
            reason: PromotionReason::Followers,
            thresholds: None,
            overrides: None,
            watermark: Some(pass.upto),
            watermark_since: Some(pass.since),
            updated_at: self.context.now(),
        };
        let core = self.context.core().table();
        let both = Transaction::new()
            .with(core, promotion.create())
            .with(core, ActorHead::at(&source.actor()).exists());
        self.context.store().transact(both).await?;
        Ok(())
    }
}

/// The condition that the watermark is before the end of a pass.
fn is_watermark_behind(pass: &CopyPass) -> Condition {
    let earlier = Promotion::WATERMARK_SINCE.at_most(&pass.since.minus_ms(1));
    let same = Promotion::WATERMARK_SINCE.is(&pass.since);
    let lower = Promotion::WATERMARK.at_most(&pass.upto.minus_ms(1));
    Promotion::WATERMARK_SINCE.absent().or(earlier).or(same.and(lower))
}
