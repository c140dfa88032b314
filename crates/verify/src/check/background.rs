//! Checks the ops and logins tables, and how far background work has come.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_model::entities::{Checkpoint, DeadLetter, Job};
use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Item, LeaseKey, Table};
use roundtable_model::{Entity, FromItem, LoginAttempts, Ops, Queue, TYPE, Time};

use super::{CheckRun, SegmentResult, expired_finding};
use crate::Result;
use crate::entity_checks::check_item;
use crate::lag::{self, COUNTER_PROCESSOR, ProcessorLag, ShardLeases};
use crate::scan::ScannedItem;

/// Names of both a queue and the processor that fills it.
const QUESTS: &str = "quests";
const COPIES: &str = "fan-out";
const PURGES: &str = "purge";
/// A claimed job is due again when its claim ends, within this time. So jobs due sooner count as
/// pending.
const CLAIM_MS: u64 = 60_000;

/// Work that was pending, or had failed, when the ops table was checked.
#[derive(Debug)]
pub(super) struct PendingWork {
    pub(super) quests: bool,
    /// Copies of activities in feeds.
    pub(super) copies: bool,
    /// Removals of what deleted owners leave behind.
    pub(super) purges: bool,
    pub(super) checked_at: Time,
}

impl Default for PendingWork {
    fn default() -> Self {
        Self { quests: false, copies: false, purges: false, checked_at: Time::EPOCH }
    }
}

impl CheckRun<'_> {
    pub(super) async fn check_logins(&mut self) -> Result<bool> {
        let logins = self.verifier.tables.logins.table();
        let results = self.check_table(logins, LoginAttempts::SHAPE.entities, |(), _| {}).await?;
        Ok(results.is_some())
    }

    /// Checks the ops table, and how far the processors have come.
    pub(super) async fn check_ops(&mut self) -> Result<bool> {
        let (core, ops) = (self.verifier.tables.core.table(), self.verifier.tables.ops.table());
        let stream = core.definition().name.clone();
        let checked_at = Time::now(&*self.verifier.reader.clock);
        let soon = checked_at.plus_ms(CLAIM_MS);
        let visit = move |state: &mut BackgroundState, item: &Item| match item.text(TYPE) {
            Some(name) if name == Checkpoint::SHAPE.name => {
                state.checkpoints.extend(Checkpoint::from_item(item));
            }
            Some(name) if name == DeadLetter::SHAPE.name => {
                state.dead_letters += 1;
                let queue = item.text("queue").unwrap_or_default();
                let processor = queue.strip_prefix(Queue::CHANGES_PREFIX);
                state.uncounted += u64::from(processor == Some(COUNTER_PROCESSOR));
                state.queues.insert(processor.unwrap_or(queue).to_owned());
            }
            Some(name) if name == Job::SHAPE.name => {
                state.jobs += 1;
                // A failed job is retried, however much later.
                let job = Job::from_item(item).ok();
                let job = job.filter(|job| job.due_at <= soon || job.attempts > 0);
                state.queues.extend(job.map(|job| job.queue.as_str().to_owned()));
            }
            Some(_) => {}
            None => state.leases.add_item(item, &stream),
        };
        let Some(results) = self.check_table(ops, Ops::SHAPE.entities, visit).await? else {
            return Ok(false);
        };
        let mut all = BackgroundState::default();
        for state in results {
            all.checkpoints.extend(state.checkpoints);
            all.dead_letters += state.dead_letters;
            all.uncounted += state.uncounted;
            all.jobs += state.jobs;
            all.queues.extend(state.queues);
            all.leases.merge(state.leases);
        }
        let BackgroundState { checkpoints, leases, dead_letters, uncounted, jobs, queues } = all;
        let lag = lag::processor_lags(core, &checkpoints, &leases).await;
        let Some(lag) = self.unless_damaged(lag)? else { return Ok(false) };
        let notes = &mut self.report.notes;
        if checkpoints.is_empty() {
            notes.push("no processor has read the stream yet".into());
        }
        notes.extend(lag.iter().map(lag_note));
        if dead_letters > 0 {
            notes.push(format!("dead letters: {dead_letters}; data derived from them is missing"));
        }
        if jobs > 0 {
            notes.push(format!("pending jobs: {jobs}"));
        }
        let has_work =
            |name: &str| queues.contains(name) || lag.iter().any(|lag| lag.processor == name);
        let (quests, copies, purges) = (has_work(QUESTS), has_work(COPIES), has_work(PURGES));
        if purges {
            let what = "items whose owner is gone were not looked for: purges are pending";
            self.report.notes.push(what.into());
        }
        self.pending = PendingWork { quests, copies, purges, checked_at };
        self.report.uncounted = uncounted;
        self.report.lag = lag;
        Ok(true)
    }

    /// Checks the items of a table that has no indexes.
    async fn check_table<S: Default + Send + 'static>(
        &mut self,
        table: &Table,
        entities: &'static [&'static EntityShape],
        visit: impl Fn(&mut S, &Item) + Clone + Send + Sync + 'static,
    ) -> Result<Option<Vec<S>>> {
        let (definition, rules) = (Arc::clone(table.definition()), self.verifier.rules.clone());
        let visit = move |result: &mut SegmentResult<S>, scanned: ScannedItem<'_>| {
            let SegmentResult { state, findings, items, .. } = result;
            *items += 1;
            findings.extend(expired_finding(&definition, scanned, None));
            let partition = scanned.item.text(Index::Main.partition_attribute());
            if !partition.is_some_and(LeaseKey::is_partition) {
                let report = &mut |finding| findings.add(finding);
                check_item(scanned.item, entities, &rules, &mut |_| {}, report);
            }
            visit(state, scanned.item);
        };
        let results = self.read(table, None, S::default, visit).await?;
        Ok(results.map(|results| {
            let states = results.into_iter().map(|result| {
                self.report.items += result.items;
                self.findings.merge(result.findings);
                result.state
            });
            states.collect()
        }))
    }
}

#[derive(Debug, Default)]
struct BackgroundState {
    checkpoints: Vec<Checkpoint>,
    leases: ShardLeases,
    dead_letters: u64,
    /// Dead letters of the counting processor.
    uncounted: u64,
    jobs: u64,
    /// Queues with jobs that are due, and queues and processors with dead letters.
    queues: BTreeSet<String>,
}

fn lag_note(lag: &ProcessorLag) -> String {
    let ProcessorLag { processor, shard, changes, trimmed, .. } = lag;
    if *trimmed {
        return format!(
            "processor {processor} is too far behind: the stream no longer holds its next change \
             of shard {shard}"
        );
    }
    let plural = if *changes == 1 { "" } else { "s" };
    format!(
        "processor {processor} is {changes} change{plural} behind shard {shard}: \
        data it derives is out of date"
    )
}
