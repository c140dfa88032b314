//! Builds runners with all processors and job handlers.

use std::sync::Arc;

use roundtable_domain::{AutoModerator, Context, MediaStore, WebhookSender};

use crate::{
    CaseReviewer, CounterUpdater, EventDelivery, EventDetector, FanOut, FileRemover,
    FollowerShardScaler, GroupArchiver, MilestoneUpdater, NotificationWriter, PostNotifier,
    PrivacyUpdater, PromotionUpdater, Purge, QuestUpdater, Runner, RunnerBuilder, ScoreUpdater,
    ShapeUpgrader, UnusedFileDetector,
};

impl RunnerBuilder {
    /// A runner with all processors and job handlers, as a server needs it.
    pub fn with_all_processors(context: &Context, seed: [u8; 32]) -> Self {
        Self::with_common_processors(context, seed)
            .with(QuestUpdater::new(context.clone()))
            .with_job_handler(QuestUpdater::new(context.clone()))
            .with(Purge::new(context.clone()))
            .with_job_handler(Purge::new(context.clone()))
    }

    /// The same without delays, for tests that control the clock.
    pub fn with_all_processors_undelayed(context: &Context) -> Self {
        Self::with_common_processors(context, [0; 32])
            .with(QuestUpdater::new(context.clone()).without_delays())
            .with_job_handler(QuestUpdater::new(context.clone()).without_delays())
            .with(Purge::new(context.clone()).without_delays())
            .with_job_handler(Purge::new(context.clone()).without_delays())
            .without_delays()
    }

    /// Lets an auto moderator decide pending cases before human moderators do.
    #[must_use]
    pub fn with_moderator(self, judge: Arc<dyn AutoModerator>) -> Self {
        let verdicts = CaseReviewer::new(self.context.clone(), judge);
        self.with(verdicts.clone()).with_job_handler(verdicts)
    }

    /// Removes the bytes of files that are no longer visible to any user from this store.
    #[must_use]
    pub fn with_media_store(self, store: Arc<dyn MediaStore>) -> Self {
        let removal = FileRemover::new(self.context.clone(), store);
        self.with_job_handler(removal)
    }

    /// Delivers events to webhook endpoints through this sender.
    #[must_use]
    pub fn with_webhook_sender(self, deliver: Arc<dyn WebhookSender>) -> Self {
        let events = EventDelivery::new(self.context.clone(), deliver);
        self.with_job_handler(events)
    }

    fn with_common_processors(context: &Context, seed: [u8; 32]) -> Self {
        let fan_out = FanOut::new(context.clone());
        let builder = Runner::builder(context.clone(), seed)
            .with(CounterUpdater::new(context.clone()))
            .with(ScoreUpdater::new(context.clone()))
            .with(PrivacyUpdater::new(context.clone()))
            .with_job_handler(PrivacyUpdater::new(context.clone()))
            .with(NotificationWriter::new(context.clone()))
            .with_job_handler(NotificationWriter::new(context.clone()))
            .with(PostNotifier::new(context.clone()))
            .with_job_handler(PostNotifier::new(context.clone()))
            .with(FollowerShardScaler::new(context.clone()))
            .with(UnusedFileDetector::new(context.clone()))
            .with(EventDetector::new(context.clone()))
            .with(PromotionUpdater::new(context.clone()))
            .with(MilestoneUpdater::new(context.clone()))
            .with_job_handler(MilestoneUpdater::new(context.clone()))
            .with(GroupArchiver::new(context.clone()))
            .with_job_handler(GroupArchiver::new(context.clone()))
            .with(fan_out.clone())
            .with_job_handler(fan_out);
        let upgrader = ShapeUpgrader::new(context);
        // A queue that is never used would still be polled.
        if upgrader.has_work() { builder.with_job_handler(upgrader) } else { builder }
    }
}
