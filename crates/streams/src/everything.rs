//! Every processor there is, and every kind of work.

use std::sync::Arc;

use roundtable_domain::{Ground, Judge};

use crate::{
    Counters, FanOut, FollowerShards, Privacy, PromotionRule, Purge, Runner, Scores, Setup,
    Verdicts,
};

impl Setup {
    /// A runner with every processor and every kind of work, as a server needs it.
    pub fn everything(ground: &Ground, seed: [u8; 32]) -> Self {
        Self::derived(ground, seed)
            .with(Purge::new(ground.clone()))
            .working(Purge::new(ground.clone()))
    }

    /// The same for tests, which decide themselves how time passes: nothing waits.
    pub fn everything_at_once(ground: &Ground) -> Self {
        Self::derived(ground, [0; 32])
            .with(Purge::new(ground.clone()).at_once())
            .working(Purge::new(ground.clone()).at_once())
            .at_once()
    }

    /// With somebody who decides about cases that wait, before moderators do.
    #[must_use]
    pub fn judged_by(self, judge: Arc<dyn Judge>) -> Self {
        let verdicts = Verdicts::new(self.ground.clone(), judge);
        self.with(verdicts.clone()).working(verdicts)
    }

    fn derived(ground: &Ground, seed: [u8; 32]) -> Self {
        let fan_out = FanOut::new(ground.clone());
        Runner::on(ground.clone(), seed)
            .with(Counters::new(ground.clone()))
            .with(Scores::new(ground.clone()))
            .with(Privacy::new(ground.clone()))
            .working(Privacy::new(ground.clone()))
            .with(FollowerShards::new(ground.clone()))
            .with(PromotionRule::new(ground.clone()))
            .with(fan_out.clone())
            .working(fan_out)
    }
}
