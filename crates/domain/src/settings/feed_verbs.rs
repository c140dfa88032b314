//! The activities that enter home feeds, by what happened (R51).

use roundtable_model::ActivityVerb;
use serde::Deserialize;

/// The activities that enter home feeds when they happen. The others are shown by the lists of their
/// actor or group alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each verb is a setting of its own")]
pub struct FeedVerbs {
    pub post: bool,
    pub share: bool,
    pub comment: bool,
    /// Completed goals and achieved milestones.
    pub goal_update: bool,
    /// Other changes of goals.
    pub goal_edit: bool,
    /// Completed quests.
    pub quest_update: bool,
    /// Whatever users post with `postActivity`.
    pub posted: bool,
}

impl Default for FeedVerbs {
    fn default() -> Self {
        Self {
            post: true,
            share: true,
            comment: false,
            goal_update: true,
            goal_edit: false,
            quest_update: true,
            posted: true,
        }
    }
}

impl FeedVerbs {
    /// Returns whether activities with this verb enter home feeds, if the server writes them.
    pub const fn enters(self, verb: ActivityVerb) -> bool {
        match verb {
            ActivityVerb::Post => self.post,
            ActivityVerb::Share => self.share,
            ActivityVerb::Comment => self.comment,
            ActivityVerb::GoalUpdate => self.goal_update,
            ActivityVerb::GoalEdit => self.goal_edit,
            ActivityVerb::QuestUpdate => self.quest_update,
            // Only users write these.
            ActivityVerb::Like | ActivityVerb::Follow | ActivityVerb::Join => self.posted,
        }
    }
}
