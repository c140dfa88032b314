//! Rewrites items of older shapes in the current one, a page of a table at a time, as an operator asks
//! for it. Reads upgrade such items anyway, so that nothing waits for this.

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::entities::Job;
use roundtable_model::shape::{EntityShape, Index, TableShape};
use roundtable_model::table::{
    Condition, Error, Item, Key, Position, Put, Scan, Table, attribute, exists, not_exists,
};
use roundtable_model::{Core, Entity, LoginAttempts, Ops, Queue, Shard, Span, TYPE};
use serde::{Deserialize, Serialize};

use crate::{JobHandler, PageOutcome, ProcessingError, Result, new_job};

const QUEUE: Queue = Queue::from_static("shapes");
/// The id of the only job.
const JOB: &str = "upgrade";
const PAGE_ITEMS: usize = 100;
const SHAPE: &str = "shape";
const VERSION: &str = "version";

/// The upgrade of all items whose entity has older shapes.
#[derive(Clone, Debug)]
pub struct ShapeUpgrader {
    context: Context,
    /// The tables that may hold older items.
    tables: Vec<(Table, &'static TableShape)>,
}

/// The progress of an upgrade, stored in the cursor of its job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeProgress {
    /// The position of the table among those to read, and the last key read of it.
    table: usize,
    after: Option<(String, String)>,
    pub read: u64,
    pub rewritten: u64,
    /// Items that could not be upgraded; `verify` names them.
    pub failed: u64,
}

/// The state of the upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpgradeState {
    /// No entity has an older shape.
    NothingToUpgrade,
    Idle,
    UnderWay(UpgradeProgress),
}

enum RewriteOutcome {
    /// The item is current, or was changed meanwhile.
    Unchanged,
    Rewritten,
    Failed,
}

impl ShapeUpgrader {
    pub fn new(context: &Context) -> Self {
        let (core, logins, ops) = (context.core(), context.logins(), context.ops());
        let tables = [
            (core.table().clone(), Core::SHAPE),
            (logins.table().clone(), LoginAttempts::SHAPE),
            (ops.table().clone(), Ops::SHAPE),
        ];
        Self::of_tables(context, tables)
    }

    /// Upgrades the items of these tables.
    pub fn of_tables(
        context: &Context,
        tables: impl IntoIterator<Item = (Table, &'static TableShape)>,
    ) -> Self {
        let has_older =
            |shape: &TableShape| shape.entities.iter().any(|entity| !entity.upgrades.is_empty());
        let tables = tables.into_iter().filter(|(_, shape)| has_older(shape)).collect();
        Self { context: context.clone(), tables }
    }

    /// Returns whether an entity has older shapes.
    pub const fn has_work(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Starts an upgrade, unless one is under way.
    pub async fn start(&self) -> Result<UpgradeState> {
        let state = self.state().await?;
        if state != UpgradeState::Idle {
            return Ok(state);
        }
        let progress = UpgradeProgress::default();
        let job = new_job(QUEUE, JOB.parse()?, self.context.now(), &())?;
        self.context.ops().table().put(job.put()).await?;
        Ok(UpgradeState::UnderWay(progress))
    }

    pub async fn state(&self) -> Result<UpgradeState> {
        if !self.has_work() {
            return Ok(UpgradeState::NothingToUpgrade);
        }
        let jobs = self.context.ops().jobs_in_shard(&QUEUE, &Shard::ZERO, Span::ALL);
        let page = jobs.limit(1).page().await?;
        match page.items.first() {
            Some(job) => Ok(UpgradeState::UnderWay(UpgradeProgress::of(job)?)),
            None => Ok(UpgradeState::Idle),
        }
    }
}

/// Rewrites an item of an older shape, unless it has been changed since it was read.
async fn rewrite(table: &Table, shape: &TableShape, item: &Item) -> Result<RewriteOutcome> {
    let entity = item.text(TYPE).and_then(|name| shape.entity(name));
    let Some(entity) = entity.filter(|entity| entity.is_older(item)) else {
        return Ok(RewriteOutcome::Unchanged);
    };
    let rewritten = match (entity.rewrite)(item) {
        Ok(rewritten) => rewritten,
        Err(error) => return Ok(failed(entity, &error)),
    };
    let keys = &table.definition().key;
    if keys.read(&rewritten) != keys.read(item) {
        return Ok(failed(entity, &"its upgrade changes the primary key"));
    }
    match table.put(Put::new(rewritten).when(is_as_read(item))).await {
        Ok(_) => Ok(RewriteOutcome::Rewritten),
        Err(Error::ConditionFailed { .. }) => Ok(RewriteOutcome::Unchanged),
        Err(error) => Err(error.into()),
    }
}

fn failed(entity: &EntityShape, reason: &dyn std::fmt::Display) -> RewriteOutcome {
    tracing::error!(entity = entity.name, %reason, "an item could not be upgraded; see `roundtable verify`");
    RewriteOutcome::Failed
}

/// A condition that fails if the item was deleted or written in another shape or version.
fn is_as_read(item: &Item) -> Condition {
    let same = |name: &str| match item.number(name) {
        Some(number) => attribute(name).eq(number),
        None => not_exists(name),
    };
    exists(Index::Main.partition_attribute()).and(same(SHAPE)).and(same(VERSION))
}

#[async_trait]
impl JobHandler for ShapeUpgrader {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let mut progress = UpgradeProgress::of(job)?;
        let Some((table, shape)) = self.tables.get(progress.table) else {
            return Ok(PageOutcome::Done);
        };
        let start = progress
            .after
            .take()
            .map(|(partition, sort)| Position { base: Key::new(partition, sort), index: None });
        let mut scan = Scan::new().limit(PAGE_ITEMS).after(start);
        scan.strong = true;
        let page = table.scan(scan).await?;
        for item in &page.items {
            match rewrite(table, shape, item).await? {
                RewriteOutcome::Unchanged => {}
                RewriteOutcome::Rewritten => progress.rewritten += 1,
                RewriteOutcome::Failed => progress.failed += 1,
            }
        }
        progress.read += page.items.len() as u64;
        match page.next {
            Some(next) => progress.after = Some(key_texts(&next.base)),
            None => progress.table += 1,
        }
        if progress.table < self.tables.len() {
            return Ok(PageOutcome::Continue(progress.encode()?));
        }
        let UpgradeProgress { read, rewritten, failed, .. } = progress;
        tracing::info!(
            read,
            rewritten,
            failed,
            "all items have been upgraded to their current shapes"
        );
        Ok(PageOutcome::Done)
    }
}

fn key_texts(key: &Key) -> (String, String) {
    let sort = key.sort.as_ref().and_then(|sort| sort.as_text());
    let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
    (text(key.partition.as_text()), text(sort))
}

impl UpgradeProgress {
    fn of(job: &Job) -> Result<Self> {
        let Some(cursor) = &job.cursor else { return Ok(Self::default()) };
        serde_json::from_str(cursor).map_err(ProcessingError::unprocessable)
    }

    fn encode(&self) -> Result<String> {
        serde_json::to_string(self).map_err(ProcessingError::unprocessable)
    }
}
