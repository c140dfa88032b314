//! The recorder: tasks that do random things to a few keys, and write down what they saw.

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

use super::call::{Action, Answer, Call, Demand, Edit, Effect, Image, Seen};
use super::model::State;

/// Stamps of one task lie in one block of this size.
const STAMPS_PER_TASK: u64 = 1_000;

/// How often a task lets the others go first, at each of three points of a call.
const PAUSES_MAX: usize = 3;

/// What the tasks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Reads and writes of single items.
    Items,
    /// The same, and transactions and reads over several items.
    Transactions,
}

/// How much the tasks do.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// What.
    pub mix: Mix,
    /// How many tasks work at a time.
    pub tasks: usize,
    /// How many calls each makes.
    pub calls_per_task: usize,
    /// How many keys they share, at most [`super::KEYS_MAX`].
    pub keys: usize,
    /// In how many of 1000 calls the caller goes away unless the answer comes at once.
    pub abandoned_per_mille: u32,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct History {
    /// The calls, task by task; at the end, reads of every key by one more task.
    pub calls: Vec<Call>,
}

/// A clock that counts: no two moments are equal, and what was before is less.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    pub(super) fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Lets the other tasks go first a random number of times.
pub(super) async fn pause(rng: &mut SmallRng) {
    for _ in 0..rng.random_range(0..=PAUSES_MAX) {
        tokio::task::yield_now().await;
    }
}

/// An empty table of this definition.
pub(super) async fn fresh_table(store: &Store, definition: TableDefinition) -> Result<Table> {
    match store.delete_table(&definition.name).await {
        Ok(()) | Err(Error::TableMissing { .. }) => store.create_table(definition).await,
        Err(error) => Err(error),
    }
}

/// Lets tasks work on a fresh table of `store` and records what they saw. On a runtime of one
/// thread, the same seed gives the same history, as long as the store itself is deterministic.
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
    calls.extend(last.look_around().await);
    Ok(History { calls })
}

struct Task {
    number: usize,
    workload: Workload,
    table: Table,
    ticks: Ticks,
    rng: SmallRng,
    /// What it saw last of each key: the conditions it sets are guesses from that.
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

    /// Reads every key once all others are done.
    async fn look_around(mut self) -> Vec<Call> {
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

    /// Two or more keys, in any order.
    fn some_keys(&mut self) -> Vec<usize> {
        let mut keys: Vec<usize> = (0..self.workload.keys).collect();
        keys.shuffle(&mut self.rng);
        keys.truncate(self.rng.random_range(2..=self.workload.keys.max(2)));
        keys
    }

    fn edit(&mut self, key: usize, in_transaction: bool) -> Edit {
        let guess = match self.known.at(key) {
            None => Demand::Absent,
            Some(Image { stamp: Some(stamp), .. }) => Demand::Stamp(stamp),
            Some(Image { stamp: None, .. }) => Demand::Present,
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
        Edit { key, demand: demands.then_some(guess), effect }
    }
}

/// What a future has to say when asked once; whoever asks goes away after.
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

/// Two keys share a partition: neighbours and strangers both matter.
fn key_of(key: usize) -> Key {
    Key::new(format!("P#{}", key / 2), format!("S#{key}"))
}

/// What an item shows; anything a history never wrote is an error.
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
    let condition = edit.demand.map(Demand::condition);
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
            let condition = edit.demand.unwrap_or(Demand::Present).condition();
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

/// An answer, or what is strange about it.
type Told = Result<Answer, String>;

async fn get(table: &Table, key: usize) -> Told {
    match table.get(Get::new(key_of(key)).strong()).await {
        Ok(found) => Ok(Answer::Read(vec![read(key, found.item.as_ref())?])),
        Err(error) => failed(error),
    }
}

async fn get_together(table: &Table, keys: &[usize]) -> Told {
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

async fn write(table: &Table, edit: &Edit) -> Told {
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

async fn transact(table: &Table, edits: &[Edit]) -> Told {
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

/// What an error says about the write: the contract lets only [`Error::Unavailable`] leave it open.
fn failed(error: Error) -> Told {
    match error {
        Error::Unavailable { .. } => Ok(Answer::Unknown),
        Error::Cancelled { .. } | Error::WritesStopped { .. } | Error::Io { .. } => {
            Ok(Answer::Failed)
        }
        other => Err(other.to_string()),
    }
}
