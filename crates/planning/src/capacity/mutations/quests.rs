//! Activities posted by users, and quests.

use roundtable_model::entities::Quest;
use roundtable_model::{QuestStatus, samples};

use super::MutationWrites;
use super::counters::{activity, feed_items};
use super::step::{MutationStep, change, check, delete, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![post_activity(), create(), cancel(), delete_quest()]
}

fn post_activity() -> MutationWrites {
    let own = activity().into_iter().chain([check(&samples::goal())]);
    MutationWrites::idempotent("postActivity", own).then_derived([feed_items()])
}

fn new_quest() -> Quest {
    Quest { status: QuestStatus::Active, progress_count: 0, ..samples::quest() }
}

fn tags(step: MutationStep) -> MutationStep {
    step.times("tags", 1.0)
}

/// Checks that the linked goals and tasks exist and belong to the caller.
fn create() -> MutationWrites {
    MutationWrites::idempotent(
        "createQuest",
        [
            check(&samples::goal()).times("goals", 1.0),
            check(&samples::task()).times("tasks", 1.0),
            put(&new_quest()),
            tags(put(&samples::tag_ref())),
        ],
    )
}

fn cancel() -> MutationWrites {
    let quest = new_quest();
    let cancelled = Quest { status: QuestStatus::Cancelled, ..quest.clone() };
    MutationWrites::idempotent("cancelQuest", [change(&quest, &cancelled)])
}

/// Done by an admin. Steps are deleted in the background; rewards stay.
fn delete_quest() -> MutationWrites {
    let own =
        [delete(&samples::quest()), tags(delete(&samples::tag_ref())), put(&samples::audit())];
    MutationWrites::idempotent("deleteQuest", own)
        .then_derived([delete(&samples::quest_step()).times("steps", 10.0)])
}
