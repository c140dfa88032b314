//! The tables beside: that each holds its own entities, and how far background work has come.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_model::entities::{Checkpoint, DeadLetter, Job};
use roundtable_model::shape::{EntityShape, Index};
use roundtable_model::table::{Item, Table};
use roundtable_model::{Answer, Entity, LoginAttempts, Ops, Queue, TYPE, Time};

use super::{Check, Sight, expired};
use crate::Result;
use crate::kinds::judge_item;
use crate::lag::{self, COUNTING, LEASES, Lag, Leased};
use crate::scan::Met;

/// The queue of quests, and the processor that fills it; so it is with copies in feeds.
const QUESTS: &str = "quests";
const COPIES: &str = "fan-out";
/// A job that is being done is due again when its claim ends, after so long. What ends at a deadline is
/// due somewhat later than that, and sooner than this.
const CLAIM_MS: u64 = 60_000;

/// What waited to be done, or could not be, when the bookkeeping was looked at.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Something about quests.
    pub(super) quests: bool,
    /// Something about copies in feeds.
    pub(super) copies: bool,
    /// When that was.
    pub(super) looked_at: Time,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { quests: false, copies: false, looked_at: Time::EPOCH }
    }
}

impl Check<'_> {
    pub(super) async fn look_at_logins(&mut self) -> Result<bool> {
        let logins = self.verify.tables.logins.table();
        let seen = self.judge(logins, LoginAttempts::SHAPE.entities, |(), _| {}).await?;
        Ok(seen.is_some())
    }

    /// Looks at the bookkeeping, and at how far the processors have come.
    pub(super) async fn look_at_ops(&mut self) -> Result<bool> {
        let (core, ops) = (self.verify.tables.core.table(), self.verify.tables.ops.table());
        let stream = core.definition().name.clone();
        let looked_at = Time::now(&*self.verify.reader.clock);
        let soon = looked_at.plus_ms(CLAIM_MS);
        let visit = move |kept: &mut Kept, item: &Item| match item.text(TYPE) {
            Some(name) if name == Checkpoint::SHAPE.name => {
                kept.checkpoints.extend(Checkpoint::from_item(item));
            }
            Some(name) if name == DeadLetter::SHAPE.name => {
                kept.parked += 1;
                let queue = item.text("queue").unwrap_or_default();
                let processor = queue.strip_prefix(Queue::CHANGES);
                kept.parked_counts += u64::from(processor == Some(COUNTING));
                kept.busy.insert(processor.unwrap_or(queue).to_owned());
            }
            Some(name) if name == Job::SHAPE.name => {
                kept.jobs += 1;
                // One that has failed is tried again, however much later.
                let job = Job::from_item(item).ok();
                let job = job.filter(|job| job.due_at <= soon || job.attempts > 0);
                kept.busy.extend(job.map(|job| job.queue.as_str().to_owned()));
            }
            Some(_) => {}
            None => kept.leased.note(item, &stream),
        };
        let Some(seen) = self.judge(ops, Ops::SHAPE.entities, visit).await? else {
            return Ok(false);
        };
        let mut all = Kept::default();
        for kept in seen {
            all.checkpoints.extend(kept.checkpoints);
            all.parked += kept.parked;
            all.parked_counts += kept.parked_counts;
            all.jobs += kept.jobs;
            all.busy.extend(kept.busy);
            all.leased.merge(kept.leased);
        }
        let Kept { checkpoints, leased, parked, parked_counts, jobs, busy } = all;
        let lag = lag::behind(core, &checkpoints, &leased).await;
        let Some(lag) = self.unless_damaged(lag)? else { return Ok(false) };
        let notes = &mut self.report.notes;
        if checkpoints.is_empty() {
            notes.push("no processor has read the stream yet".into());
        }
        notes.extend(lag.iter().map(told));
        if parked > 0 {
            let what = "parked among the dead letters: what they lead to is missing";
            notes.push(format!("{parked} changes or jobs are {what}"));
        }
        if jobs > 0 {
            notes.push(format!("jobs that wait to be done: {jobs}"));
        }
        let waits = |name: &str| busy.contains(name) || lag.iter().any(|lag| lag.processor == name);
        self.waiting = Waiting { quests: waits(QUESTS), copies: waits(COPIES), looked_at };
        self.report.parked_counts = parked_counts;
        self.report.lag = lag;
        Ok(true)
    }

    /// Judges the items of a table that has no indexes.
    async fn judge<S: Default + Send + 'static>(
        &mut self,
        table: &Table,
        entities: &'static [&'static EntityShape],
        visit: impl Fn(&mut S, &Item) + Clone + Send + Sync + 'static,
    ) -> Result<Option<Vec<S>>> {
        let (definition, rules) = (Arc::clone(table.definition()), self.verify.rules.clone());
        let visit = move |sight: &mut Sight<S>, met: Met<'_>| {
            let Sight { books, findings, items, .. } = sight;
            *items += 1;
            findings.extend(expired(&definition, met, None));
            let partition = met.item.text(Index::Main.partition_attribute());
            if !partition.is_some_and(|partition| partition.starts_with(LEASES)) {
                let find = &mut |finding| findings.add(finding);
                judge_item(met.item, entities, &rules, &mut |_| {}, find);
            }
            visit(books, met.item);
        };
        let seen = self.read(table, None, S::default, visit).await?;
        Ok(seen.map(|seen| {
            let states = seen.into_iter().map(|sight| {
                self.report.items += sight.items;
                self.findings.merge(sight.findings);
                sight.books
            });
            states.collect()
        }))
    }
}

/// What the bookkeeping says about background work.
#[derive(Debug, Default)]
struct Kept {
    checkpoints: Vec<Checkpoint>,
    leased: Leased,
    /// Dead letters, and those among them that were to be counted.
    parked: u64,
    parked_counts: u64,
    jobs: u64,
    /// Queues with work that is due, and processors and queues with dead letters.
    busy: BTreeSet<String>,
}

fn told(lag: &Lag) -> String {
    let Lag { processor, shard, changes, trimmed, .. } = lag;
    if *trimmed {
        return format!(
            "processor {processor} stands at a place of shard {shard} that the stream no longer holds"
        );
    }
    let plural = if *changes == 1 { "" } else { "s" };
    format!(
        "processor {processor} is {changes} change{plural} behind shard {shard}: \
         what it derives is old"
    )
}
