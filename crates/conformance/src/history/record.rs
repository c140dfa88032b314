//! The recorder: tasks that make random calls on a few keys, and record the results.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use roundtable_table::{
    CancelReason, Check, Delete, Error, Get, Item, Key, KeyDefinition, Put, Result, Returning,
    Store, Table, TableDefinition, TableGet, Transaction, Update, Write, item,
};
use tokio::task::JoinSet;

use super::call::{Action, Answer, Call, Edit, Effect, Image, Precondition, Seen};
use super::model::State;

/// The number of stamps reserved for each task.
const STAMPS_PER_TASK: u64 = 1_000;

/// The maximum number of yields at each of three points of a call.
const PAUSES_MAX: usize = 3;

/// The kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Reads and writes of single items.
    Items,
    /// Also transactions and reads of several items.
    Transactions,
}

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub mix: Mix,
    /// Concurrent tasks.
    pub tasks: usize,
    pub calls_per_task: usize,
    /// Shared keys, at most [`super::KEYS_MAX`].
    pub keys: usize,
    /// Calls out of 1000 that the caller abandons unless the response comes at once.
    pub abandoned_per_mille: u32,
}

#[derive(Clone, Debug)]
pub struct History {
    /// The calls by task; at the end, reads of every key by one more task.
    pub calls: Vec<Call>,
}

/// A logical clock: times are unique and increase.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    pub(super) fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Yields to other tasks a random number of times.
pub(super) async fn pause(rng: &mut SmallRng) {
    for _ in 0..rng.random_range(0..=PAUSES_MAX) {
        tokio::task::yield_now().await;
    }
}

pub(super) async fn fresh_table(store: &Store, definition: TableDefinition) -> Result<Table> {
    match store.delete_table(&definition.name).await {
        Ok(()) | Err(Error::TableNotFound { .. }) => store.create_table(definition).await,
        Err(error) => Err(error),
    }
}

/// Lets tasks work on a new table of `store` and records their calls. On a runtime of one thread,
/// the same seed gives the same history if the store is deterministic.
pub async fn record(store: &Store, workload: &Workload, seed: u64) -> Result<History> {
    let name = format!("history-{:?}-{seed}", workload.mix).to_lowercase();
    let key = KeyDefinition::texts("pk", "sk");
    let table = fresh_table(store, TableDefinition::new(name, key)).await?;
    let ticks = Ticks::default();
    let mut tasks = JoinSet::new();
    for number in 0..workload.tasks {
        let task = Task::new(number, seed, *workload, table.clone(), ticks.clone());
        tasks.spawn(task.run());
    }
    let mut by_task = tasks.join_all().await;
    by_task.sort_by_key(|calls| calls.first().map(|call| call.task));
    let mut calls: Vec<Call> = by_task.into_iter().flatten().collect();
    let last = Task::new(workload.tasks, seed, *workload, table, ticks);
    calls.extend(last.read_all_keys().await);
    Ok(History { calls })
}

struct Task {
    number: usize,
    workload: Workload,
    table: Table,
    ticks: Ticks,
    rng: SmallRng,
    /// The last known item of each key, from which it guesses conditions.
    known: State,
    stamps: u64,
}

impl Task {
    fn new(number: usize, seed: u64, workload: Workload, table: Table, ticks: Ticks) -> Self {
        let block = number as u64 * STAMPS_PER_TASK;
        let rng = SmallRng::seed_from_u64(seed.wrapping_mul(STAMPS_PER_TASK) ^ block);
        Self { number, workload, table, ticks, rng, known: State::default(), stamps: block }
    }

    async fn run(mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        for _ in 0..self.workload.calls_per_task {
            let action = self.choose();
            pause(&mut self.rng).await;
            calls.push(self.call(action).await);
        }
        calls
    }

    /// Reads every key after all other tasks are done.
    async fn read_all_keys(mut self) -> Vec<Call> {
        let keys = 0..self.workload.keys;
        let actions = match self.workload.mix {
            Mix::Items => keys.map(Action::Get).collect(),
            Mix::Transactions => vec![Action::GetTogether(keys.collect())],
        };
        self.workload.abandoned_per_mille = 0;
        let mut calls = Vec::new();
        for action in actions {
            calls.push(self.call(action).await);
        }
        calls
    }

    async fn call(&mut self, action: Action) -> Call {
        let asked = self.ticks.now();
        // Pauses inside the call make it overlap with others, also on one thread.
        pause(&mut self.rng).await;
        let answer = if self.rng.random_ratio(self.workload.abandoned_per_mille, 1_000) {
            at_once(perform(&self.table, &action)).await.unwrap_or(Answer::Unknown)
        } else {
            perform(&self.table, &action).await
        };
        pause(&mut self.rng).await;
        let answered = (answer != Answer::Unknown).then(|| self.ticks.now());
        self.learn(&action, &answer);
        Call { task: self.number, asked, answered, action, answer }
    }

    fn learn(&mut self, action: &Action, answer: &Answer) {
        match answer {
            Answer::Read(seen) => {
                for (key, seen) in action.reads().iter().zip(seen) {
                    self.known = self.known.with(*key, *seen);
                }
            }
            Answer::Done(seen) => {
                for (at, edit) in action.edits().iter().enumerate() {
                    let before = seen.get(at).copied().unwrap_or(self.known.at(edit.key));
                    self.known = self.known.with(edit.key, edit.effect.apply(before));
                }
            }
            Answer::Refused(parts) => {
                for (edit, part) in action.edits().iter().zip(parts) {
                    self.known = self.known.with(edit.key, part.unwrap_or(self.known.at(edit.key)));
                }
            }
            Answer::Failed | Answer::Unknown | Answer::Strange(_) => {}
        }
    }

    fn choose(&mut self) -> Action {
        let (transactions, looks, writes) = match self.workload.mix {
            Mix::Items => (0, 0, 65),
            Mix::Transactions => (35, 60, 85),
        };
        let roll = self.rng.random_range(0..100);
        if roll < transactions {
            let keys = self.some_keys();
            return Action::Transact(keys.into_iter().map(|key| self.edit(key, true)).collect());
        }
        if roll < looks {
            return Action::GetTogether(self.some_keys());
        }
        let key = self.rng.random_range(0..self.workload.keys);
        if roll < writes { Action::Write(self.edit(key, false)) } else { Action::Get(key) }
    }

    fn some_keys(&mut self) -> Vec<usize> {
        let mut keys: Vec<usize> = (0..self.workload.keys).collect();
        keys.shuffle(&mut self.rng);
        keys.truncate(self.rng.random_range(2..=self.workload.keys.max(2)));
        keys
    }

    fn edit(&mut self, key: usize, in_transaction: bool) -> Edit {
        let guess = match self.known.at(key) {
            None => Precondition::Absent,
            Some(Image { stamp: Some(stamp), .. }) => Precondition::Stamp(stamp),
            Some(Image { stamp: None, .. }) => Precondition::Present,
        };
        let effect = match self.rng.random_range(0..100) {
            0..45 => {
                self.stamps += 1;
                Effect::Put(self.stamps)
            }
            45..70 => Effect::Add(self.rng.random_range(1..=3)),
            70..85 if in_transaction => Effect::Nothing,
            70..85 => Effect::Add(-1),
            _ => Effect::Delete,
        };
        let conditional = if in_transaction { 0.3 } else { 0.5 };
        let demands = effect == Effect::Nothing || self.rng.random_bool(conditional);
        Edit { key, precondition: demands.then_some(guess), effect }
    }
}

/// Polls a future once, then drops it.
async fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Two keys share a partition, so that both same and different partitions are tested.
fn key_of(key: usize) -> Key {
    Key::new(format!("P#{}", key / 2), format!("S#{key}"))
}

/// Reads an item; an item that a history cannot have written is an error.
fn read(key: usize, item: Option<&Item>) -> Result<Seen, String> {
    let Some(item) = item else {
        return Ok(None);
    };
    let stamp = item.number("stamp").and_then(roundtable_table::Number::to_u64);
    let count = item.number("count").and_then(roundtable_table::Number::to_i64);
    let right_key = KeyDefinition::texts("pk", "sk").read(item) == Some(key_of(key));
    let attributes = 2 + usize::from(stamp.is_some()) + usize::from(count.is_some());
    if right_key && item.len() == attributes {
        return Ok(Some(Image { stamp, count }));
    }
    Err(format!("{item:?} for k{key}"))
}

fn write_of(edit: &Edit) -> Write {
    let key = key_of(edit.key);
    let condition = edit.precondition.map(Precondition::condition);
    let returning = Returning::Old;
    match edit.effect {
        Effect::Put(stamp) => {
            let (pk, sk) = (format!("P#{}", edit.key / 2), format!("S#{}", edit.key));
            let item = item! { "pk" => pk, "sk" => sk, "stamp" => stamp };
            Put { item, condition, returning }.into()
        }
        Effect::Add(amount) => {
            let Update { actions, .. } = Update::new(key.clone()).add("count", amount);
            Update { key, actions, condition, returning }.into()
        }
        Effect::Delete => Delete { key, condition, returning }.into(),
        Effect::Nothing => {
            let condition = edit.precondition.unwrap_or(Precondition::Present).condition();
            Check { key, condition, returning }.into()
        }
    }
}

async fn perform(table: &Table, action: &Action) -> Answer {
    let answer = match action {
        Action::Get(key) => get(table, *key).await,
        Action::GetTogether(keys) => get_together(table, keys).await,
        Action::Write(edit) => write(table, edit).await,
        Action::Transact(edits) => transact(table, edits).await,
    };
    answer.unwrap_or_else(Answer::Strange)
}

/// An answer, or the description of an impossible one.
type AnswerResult = Result<Answer, String>;

async fn get(table: &Table, key: usize) -> AnswerResult {
    match table.get(Get::new(key_of(key)).strong()).await {
        Ok(found) => Ok(Answer::Read(vec![read(key, found.item.as_ref())?])),
        Err(error) => failed(error),
    }
}

async fn get_together(table: &Table, keys: &[usize]) -> AnswerResult {
    let get = |key: &usize| TableGet {
        table: Arc::clone(table.definition()),
        get: Get::new(key_of(*key)),
    };
    match table.store().transact_get(keys.iter().map(get).collect()).await {
        Ok(found) if found.items.len() == keys.len() => {
            let seen = keys.iter().zip(&found.items).map(|(key, item)| read(*key, item.as_ref()));
            Ok(Answer::Read(seen.collect::<Result<_, _>>()?))
        }
        Ok(found) => Err(format!("{} items for {} keys", found.items.len(), keys.len())),
        Err(error) => failed(error),
    }
}

async fn write(table: &Table, edit: &Edit) -> AnswerResult {
    let written = match write_of(edit) {
        Write::Put(put) => table.put(put).await,
        Write::Update(update) => table.update(update).await,
        Write::Delete(delete) => table.delete(delete).await,
        Write::Check(_) => return Err(String::from("a check outside a transaction")),
    };
    match written {
        Ok(written) => Ok(Answer::Done(vec![read(edit.key, written.item.as_ref())?])),
        Err(Error::ConditionFailed { item }) => {
            Ok(Answer::Refused(vec![Some(read(edit.key, item.as_deref())?)]))
        }
        Err(error) => failed(error),
    }
}

async fn transact(table: &Table, edits: &[Edit]) -> AnswerResult {
    let transaction =
        edits.iter().fold(Transaction::new(), |t, edit| t.with(table, write_of(edit)));
    let reasons = match table.store().transact(transaction).await {
        Ok(_) => return Ok(Answer::Done(Vec::new())),
        Err(Error::Cancelled { reasons }) => reasons,
        Err(error) => return failed(error),
    };
    if reasons.len() != edits.len() {
        return Err(format!("{} reasons for {} writes", reasons.len(), edits.len()));
    }
    let mut parts = Vec::new();
    for (edit, reason) in edits.iter().zip(&reasons) {
        parts.push(match reason {
            None => None,
            Some(CancelReason::ConditionFailed { item }) => Some(read(edit.key, item.as_deref())?),
            Some(CancelReason::Conflict | CancelReason::Throttled) => return Ok(Answer::Failed),
            Some(other) => return Err(other.to_string()),
        });
    }
    Ok(Answer::Refused(parts))
}

/// The answer of an error; some leave the outcome open.
fn failed(error: Error) -> AnswerResult {
    match error {
        error if error.leaves_outcome_unknown() => Ok(Answer::Unknown),
        Error::Cancelled { .. }
        | Error::WritesPaused { .. }
        | Error::WritesStopped { .. }
        | Error::Io { .. } => Ok(Answer::Failed),
        other => Err(other.to_string()),
    }
}
