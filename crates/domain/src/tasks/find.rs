//! A task by its id alone: an index tells of which goal it is.

use std::time::Duration;

use roundtable_model::entities::Task;
use roundtable_model::{Result as Found, TaskId};

use crate::Ground;

/// How old a task is that every index knows.
const INDEX_LAG_MS: u64 = 10_000;
/// How often an index is asked again about a task that is younger.
const LOOKS_MAX: u32 = 5;
/// How long the first of these waits, doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// A task as it is now.
pub(crate) async fn find(ground: &Ground, id: &TaskId) -> Found<Option<Task>> {
    match indexed(ground, id).await? {
        // It is as it is now already.
        found @ Some(_) if ground.store().capabilities().strong_index_reads => Ok(found),
        Some(found) => ground.core().task(&found.goal_id, id).get().await,
        None => Ok(None),
    }
}

/// A task as the index has it. Where that may be behind, it is asked again about what was only just
/// written.
async fn indexed(ground: &Ground, id: &TaskId) -> Found<Option<Task>> {
    let core = ground.core();
    let mut found = core.task_by_id(id).get().await?;
    let is_young = id.time().is_some_and(|time| time.plus_ms(INDEX_LAG_MS) > ground.now());
    let may_come = is_young && !ground.store().capabilities().strong_index_reads;
    let (mut looks, mut wait) = (if may_come { LOOKS_MAX } else { 0 }, FIRST_WAIT);
    while found.is_none() && looks > 0 {
        tokio::time::sleep(wait).await;
        found = core.task_by_id(id).get().await?;
        (looks, wait) = (looks - 1, wait * 2);
    }
    Ok(found)
}
