//! Every processor there is, and every kind of work.

use std::sync::Arc;

use roundtable_domain::{Deliver, Ground, Judge, MediaStore};

use crate::{
    Counters, EventWatch, Events, FanOut, FileRemoval, Files, FollowerShards, MilestoneRule,
    Notices, Privacy, PromotionRule, Purge, QuestProgress, Runner, Scores, Setup, Verdicts,
};

impl Setup {
    /// A runner with every processor and every kind of work, as a server needs it.
    pub fn everything(ground: &Ground, seed: [u8; 32]) -> Self {
        Self::derived(ground, seed)
            .with(QuestProgress::new(ground.clone()))
            .working(QuestProgress::new(ground.clone()))
            .with(Purge::new(ground.clone()))
            .working(Purge::new(ground.clone()))
    }

    /// The same for tests, which decide themselves how time passes: nothing waits.
    pub fn everything_at_once(ground: &Ground) -> Self {
        Self::derived(ground, [0; 32])
            .with(QuestProgress::new(ground.clone()).at_once())
            .working(QuestProgress::new(ground.clone()).at_once())
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

    /// With a store of files, from which those are taken away that nobody can see any more.
    #[must_use]
    pub fn storing(self, store: Arc<dyn MediaStore>) -> Self {
        let removal = FileRemoval::new(self.ground.clone(), store);
        self.working(removal)
    }

    /// With endpoints outside that are told of what happens, by somebody who brings it to them.
    #[must_use]
    pub fn telling(self, deliver: Arc<dyn Deliver>) -> Self {
        let events = Events::new(self.ground.clone(), deliver);
        self.working(events)
    }

    fn derived(ground: &Ground, seed: [u8; 32]) -> Self {
        let fan_out = FanOut::new(ground.clone());
        Runner::on(ground.clone(), seed)
            .with(Counters::new(ground.clone()))
            .with(Scores::new(ground.clone()))
            .with(Privacy::new(ground.clone()))
            .working(Privacy::new(ground.clone()))
            .with(Notices::new(ground.clone()))
            .working(Notices::new(ground.clone()))
            .with(FollowerShards::new(ground.clone()))
            .with(Files::new(ground.clone()))
            .with(EventWatch::new(ground.clone()))
            .with(PromotionRule::new(ground.clone()))
            .with(MilestoneRule::new(ground.clone()))
            .working(MilestoneRule::new(ground.clone()))
            .with(fan_out.clone())
            .working(fan_out)
    }
}
