//! What people tell of themselves, and quests.

use super::Mutation;
use super::counters::{activity, feed_items};
use super::step::{Step, change, check, delete, put};
use crate::entities::Quest;
use crate::{QuestStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![post_activity(), create(), cancel(), delete_quest()]
}

fn post_activity() -> Mutation {
    let own = activity().into_iter().chain([check(&samples::goal())]);
    Mutation::repeatable("postActivity", own).then([feed_items()])
}

/// A quest that has just begun.
fn begun() -> Quest {
    Quest { status: QuestStatus::Active, progress_count: 0, ..samples::quest() }
}

fn tags(step: Step) -> Step {
    step.times("tags", 1.0)
}

/// What it names must be there, and the caller's.
fn create() -> Mutation {
    Mutation::repeatable(
        "createQuest",
        [
            check(&samples::goal()).times("goals", 1.0),
            check(&samples::task()).times("tasks", 1.0),
            put(&begun()),
            tags(put(&samples::tag_ref())),
        ],
    )
}

fn cancel() -> Mutation {
    let quest = begun();
    let cancelled = Quest { status: QuestStatus::Cancelled, ..quest.clone() };
    Mutation::repeatable("cancelQuest", [change(&quest, &cancelled)])
}

/// By an admin. What counted for it follows in the background; what it earned stays.
fn delete_quest() -> Mutation {
    let own =
        [delete(&samples::quest()), tags(delete(&samples::tag_ref())), put(&samples::audit())];
    Mutation::repeatable("deleteQuest", own)
        .then([delete(&samples::quest_step()).times("steps", 10.0)])
}
