//! Lookup of a task by id alone, through an index.

use std::time::Duration;

use roundtable_model::entities::Task;
use roundtable_model::{Result as Found, TaskId};

use crate::Context;

/// The age after which every index contains a task.
const INDEX_LAG_MS: u64 = 10_000;
/// Lookups of a younger task.
const LOOKUPS_MAX: u32 = 5;
/// The first wait between lookups; doubles each time.
const INITIAL_BACKOFF: Duration = Duration::from_millis(10);

pub(crate) async fn find(context: &Context, id: &TaskId) -> Found<Option<Task>> {
    match indexed(context, id).await? {
        // The index is strongly consistent.
        found @ Some(_) if context.store().capabilities().strong_index_reads => Ok(found),
        Some(found) => context.core().task(&found.goal_id, id).get().await,
        None => Ok(None),
    }
}

/// Reads the index. Where it may be stale, retries for recent ids.
async fn indexed(context: &Context, id: &TaskId) -> Found<Option<Task>> {
    let core = context.core();
    let mut found = core.task_by_id(id).get().await?;
    let is_young = id.time().is_some_and(|time| time.plus_ms(INDEX_LAG_MS) > context.now());
    let may_come = is_young && !context.store().capabilities().strong_index_reads;
    let (mut lookups, mut wait) = (if may_come { LOOKUPS_MAX } else { 0 }, INITIAL_BACKOFF);
    while found.is_none() && lookups > 0 {
        tokio::time::sleep(wait).await;
        found = core.task_by_id(id).get().await?;
        (lookups, wait) = (lookups - 1, wait * 2);
    }
    Ok(found)
}
