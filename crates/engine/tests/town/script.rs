//! A scripted workload of several users that tracks acknowledged writes and checks them after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use roundtable_engine::Engine;
use roundtable_table::{
    BatchWrite, Clock, Delete, Error, Item, Key, ManualClock, Put, Query, Result, Store, Table,
    Transaction, Update, attribute, item, not_exists,
};

use crate::agreement::{self, Rows};

const START_MS: u64 = 1_700_000_000_000;
const ROUND_SECONDS: u64 = 100;
const ACTORS: [&str; 3] = ["USER#ana", "USER#bo", "USER#cy"];

/// An operation of one user.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Put {
        sort: String,
        row: Row,
    },
    /// Only if nothing is there.
    PutNew {
        sort: String,
        row: Row,
    },
    /// Increments a counter and changes the row's index key.
    Bump {
        sort: String,
        day: u64,
    },
    Remove {
        sort: String,
    },
    /// A transaction: moves an amount between two rows and puts a receipt into another table.
    Move {
        from: String,
        to: String,
        by: u64,
        receipt: String,
    },
    Batch {
        put: Vec<(String, Row)>,
        remove: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    n: u64,
    day: Option<u64>,
    expires: Option<u64>,
    padding: usize,
}

impl Row {
    fn item(&self, partition: &str, sort: &str) -> Item {
        let mut item = item! { "PK" => partition, "SK" => sort, "n" => self.n };
        if let Some(day) = self.day {
            item = item.with("GSI1PK", format!("DAY#{day}")).with("GSI1SK", index_sort(sort));
        }
        if let Some(expires) = self.expires {
            item = item.with("ttl", expires);
        }
        if self.padding > 0 {
            item = item.with("padding", "p".repeat(self.padding));
        }
        item
    }
}

fn index_sort(sort: &str) -> String {
    format!("AT#{sort}")
}

/// The acknowledged state of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    rows: BTreeMap<String, Row>,
    receipts: BTreeSet<String>,
}

impl State {
    /// Applies `op`; returns whether its conditions held.
    fn apply(&mut self, op: &Op, now_seconds: u64) -> bool {
        self.rows.retain(|_, row| row.expires.is_none_or(|at| at > now_seconds));
        match op {
            Op::Put { sort, row } => {
                self.rows.insert(sort.clone(), row.clone());
            }
            Op::PutNew { sort, row } => {
                if self.rows.contains_key(sort) {
                    return false;
                }
                self.rows.insert(sort.clone(), row.clone());
            }
            Op::Bump { sort, day } => {
                let row = self.rows.entry(sort.clone()).or_default();
                row.n += 1;
                row.day = Some(*day);
            }
            Op::Remove { sort } => {
                self.rows.remove(sort);
            }
            Op::Move { from, to, by, receipt } => {
                if self.rows.get(from).is_none_or(|row| row.n < *by) {
                    return false;
                }
                self.rows.entry(from.clone()).or_default().n -= by;
                self.rows.entry(to.clone()).or_default().n += by;
                self.receipts.insert(receipt.clone());
            }
            Op::Batch { put, remove } => {
                self.rows.extend(put.iter().cloned());
                self.rows.remove(remove);
            }
        }
        true
    }

    fn items(&self, partition: &str, now_seconds: u64) -> Rows {
        let live = |row: &Row| row.expires.is_none_or(|at| at > now_seconds);
        let rows = self.rows.iter().filter(|(_, row)| live(row));
        rows.map(|(sort, row)| (agreement::key(partition, sort), row.item(partition, sort)))
            .collect()
    }
}

/// A user who performs operations in sequence and stops at the first failure.
#[derive(Clone, Debug)]
struct Actor {
    name: &'static str,
    acknowledged: State,
    /// The operation in flight when the machine failed: happened or not.
    pending: Option<Op>,
}

impl Actor {
    /// Returns the error that stopped it.
    async fn act(&mut self, town: &Table, ledger: &Table, ops: Vec<Op>, now: u64) -> Option<Error> {
        for op in ops {
            let mut next = self.acknowledged.clone();
            let expected = next.apply(&op, now);
            match perform(self.name, town, ledger, &op).await {
                Ok(done) => {
                    assert_eq!(done, expected, "{} of {op:?}", self.name);
                    self.acknowledged = next;
                }
                Err(error) => {
                    let has_failed =
                        matches!(error, Error::WritesStopped { .. } | Error::WritesPaused { .. });
                    assert!(has_failed, "{error}");
                    self.pending = Some(op);
                    return Some(error);
                }
            }
        }
        None
    }
}

/// Performs `op` on the tables; returns whether its conditions held.
async fn perform(name: &str, town: &Table, ledger: &Table, op: &Op) -> Result<bool> {
    let key = |sort: &str| Key::new(name, sort);
    let done = match op.clone() {
        Op::Put { sort, row } => town.put(Put::new(row.item(name, &sort))).await.map(|_| ()),
        Op::PutNew { sort, row } => {
            let put = Put::new(row.item(name, &sort)).when(not_exists("PK"));
            town.put(put).await.map(|_| ())
        }
        Op::Bump { sort, day } => {
            let update = Update::new(key(&sort))
                .add("n", 1)
                .set("GSI1PK", format!("DAY#{day}"))
                .set("GSI1SK", index_sort(&sort));
            town.update(update).await.map(|_| ())
        }
        Op::Remove { sort } => town.delete(Delete::new(key(&sort))).await.map(|_| ()),
        Op::Move { from, to, by, receipt } => {
            let amount = i64::try_from(by).unwrap();
            let take = Update::new(key(&from)).add("n", -amount).when(attribute("n").ge(amount));
            let give = Update::new(key(&to)).add("n", amount);
            let transaction = Transaction::new()
                .with(town, take)
                .with(town, give)
                .with(ledger, Put::new(item! { "PK" => name, "SK" => receipt.clone() }))
                .token(receipt);
            town.store().transact(transaction).await.map(|_| ())
        }
        Op::Batch { put, remove } => {
            let puts = put.iter().map(|(sort, row)| BatchWrite::Put(row.item(name, sort)));
            let writes = puts.chain([BatchWrite::Delete(key(&remove))]).collect();
            town.batch_write(writes).await.map(|_| ())
        }
    };
    match done {
        Ok(()) => Ok(true),
        Err(Error::ConditionFailed { .. } | Error::Cancelled { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The operations of an actor in a round: a mix of all kinds, different for each.
fn ops(actor: usize, round: u64, now_seconds: u64) -> Vec<Op> {
    let actor = actor as u64;
    let sort = |n: u64| format!("ROW#{}", (n + actor) % 5);
    let row = |n: u64| Row {
        n: n * 10,
        day: n.is_multiple_of(2).then_some(n % 3),
        expires: None,
        padding: usize::try_from(n * 97 % 700).unwrap(),
    };
    let expiring = Row { expires: Some(now_seconds + 50), ..row(round + 2) };
    vec![
        Op::Put { sort: sort(round), row: row(round + actor + 1) },
        Op::PutNew { sort: sort(round + 1), row: row(round + 1) },
        Op::Move {
            from: sort(round),
            to: sort(round + 2),
            by: 3,
            receipt: format!("MOVE#{actor}#{round}"),
        },
        Op::Bump { sort: sort(round + 3), day: round % 3 },
        Op::Put { sort: format!("BRIEF#{}", round % 2), row: expiring },
        Op::Batch {
            put: vec![(sort(round + 4), row(round + actor)), (String::from("LATEST"), row(round))],
            remove: sort(round + 1),
        },
        Op::Remove { sort: sort(round + 2 + actor) },
    ]
}

/// The state of the workload.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) clock: Arc<ManualClock>,
    actors: Vec<Actor>,
    has_tables: bool,
    round: u64,
}

impl Script {
    pub(crate) fn new() -> Self {
        let actor = |name| Actor { name, acknowledged: State::default(), pending: None };
        Self {
            clock: Arc::new(ManualClock::at_ms(START_MS)),
            actors: ACTORS.map(actor).into(),
            has_tables: false,
            round: 0,
        }
    }

    /// Runs until the end or the first failure.
    pub(crate) async fn live(&mut self, engine: &Engine) -> Result<()> {
        let store = Store::new(engine.clone());
        let town = store.create_table(agreement::definition("town")).await?;
        let ledger = store.create_table(agreement::definition("ledger")).await?;
        self.has_tables = true;
        self.play(engine, &town, &ledger).await?;
        engine.checkpoint()?;
        let doomed = store.create_table(agreement::definition("doomed")).await?;
        for n in 0..3 {
            doomed.put(Put::new(item! { "PK" => "a", "SK" => format!("{n}") })).await?;
        }
        store.delete_table("doomed").await?;
        self.play(engine, &town, &ledger).await?;
        engine.hold("reader", Some(engine.metrics().sequence)).await?;
        self.clock.advance_ms(ROUND_SECONDS * 1000);
        engine.sweep()?;
        engine.hold("reader", None).await?;
        self.play(engine, &town, &ledger).await
    }

    /// Runs one round of all actors concurrently.
    async fn play(&mut self, engine: &Engine, town: &Table, ledger: &Table) -> Result<()> {
        let (round, now) = (self.round, self.clock.now_seconds());
        self.round += 1;
        let acts = self.actors.iter_mut().enumerate().map(|(nth, actor)| {
            let ops = ops(nth, round, now);
            actor.act(town, ledger, ops, now)
        });
        let failures: Vec<Error> = join_all(acts).await.into_iter().flatten().collect();
        let is_paused = |error: &&Error| matches!(error, Error::WritesPaused { .. });
        match failures.iter().find(is_paused) {
            // It may have passed by now.
            Some(paused) => Err(paused.clone()),
            None if failures.is_empty() => Ok(()),
            None => {
                // A failure of one actor must have stopped all writes.
                engine.hold("no one", None).await?;
                panic!("a write failed and the next one did not");
            }
        }
    }

    /// Forgets operations that were refused: they did not happen.
    pub(crate) fn give_up_pending(&mut self) {
        self.actors.iter_mut().for_each(|actor| actor.pending = None);
    }

    /// Checks that the engine has exactly the acknowledged state.
    pub(crate) async fn check_acknowledged(&self, engine: &Engine) {
        let Some((town, ledger)) = self.tables(engine).await else { return };
        for actor in &self.actors {
            let found = found(actor.name, &town, &ledger).await;
            assert_eq!(found, self.expected(actor.name, &actor.acknowledged), "{}", actor.name);
        }
    }

    /// Checks the engine after a crash: acknowledged writes are there, operations in flight happened
    /// or not, and items, indexes and stream agree. The state found counts as acknowledged.
    pub(crate) async fn recover(&mut self, engine: &Engine) {
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
        let Some((town, ledger)) = self.tables(engine).await else { return };
        let before = self.actors.clone();
        self.settle(&town, &ledger).await;
        let now = self.clock.now_seconds();
        for (actor, before) in self.actors.iter_mut().zip(before) {
            // A transaction repeated with its token happens once.
            if let Some(op @ Op::Move { .. }) = &before.pending {
                let mut state = before.acknowledged;
                let expected = state.apply(op, now);
                assert_eq!(perform(actor.name, &town, &ledger, op).await.unwrap(), expected);
                actor.acknowledged = state;
            }
        }
        let items = |actor: &Actor| actor.acknowledged.items(actor.name, now);
        let all: Rows = self.actors.iter().flat_map(items).collect();
        assert_eq!(agreement::agree(&town, now).await, all);
        agreement::agree(&ledger, now).await;
    }

    /// Determines which operations in flight happened.
    async fn settle(&mut self, town: &Table, ledger: &Table) {
        for nth in 0..self.actors.len() {
            let Actor { name, acknowledged: mut state, pending } = self.actors[nth].clone();
            let found = found(name, town, ledger).await;
            let absent = self.expected(name, &state);
            if found != absent {
                let op = pending.as_ref().unwrap_or_else(|| {
                    panic!("{name} has {found:#?}, nothing was in flight; should be {absent:#?}")
                });
                state.apply(op, self.clock.now_seconds());
                assert_eq!(found, self.expected(name, &state), "{name}, in flight: {op:?}");
            }
            self.actors[nth] = Actor { name, acknowledged: state, pending: None };
        }
    }

    /// Continues after a crash on a machine that may fail again. Reads only from memory.
    pub(crate) async fn try_to_go_on(&mut self, engine: &Engine) -> Result<()> {
        if let Some((town, ledger)) = self.tables(engine).await {
            self.settle(&town, &ledger).await;
        }
        let store = Store::new(engine.clone());
        let town = store.create_table(agreement::definition("town")).await?;
        let ledger = store.create_table(agreement::definition("ledger")).await?;
        self.has_tables = true;
        self.play(engine, &town, &ledger).await
    }

    /// Runs another round after a crash and checks it.
    pub(crate) async fn go_on(&mut self, engine: &Engine) {
        let store = Store::new(engine.clone());
        let town = store.create_table(agreement::definition("town")).await.unwrap();
        let ledger = store.create_table(agreement::definition("ledger")).await.unwrap();
        self.has_tables = true;
        self.play(engine, &town, &ledger).await.unwrap();
        engine.checkpoint().unwrap();
        self.check_acknowledged(engine).await;
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    }

    fn expected(&self, name: &str, state: &State) -> (Rows, BTreeSet<String>) {
        (state.items(name, self.clock.now_seconds()), state.receipts.clone())
    }

    /// Opens the tables, once their creation was acknowledged.
    async fn tables(&self, engine: &Engine) -> Option<(Table, Table)> {
        let store = Store::new(engine.clone());
        if !self.has_tables {
            assert!(store.table("ledger").await.is_err() || store.table("town").await.is_ok());
            return None;
        }
        Some((store.table("town").await.unwrap(), store.table("ledger").await.unwrap()))
    }
}

async fn found(name: &str, town: &Table, ledger: &Table) -> (Rows, BTreeSet<String>) {
    let rows = town.query(Query::new(name)).await.unwrap().items;
    let rows = rows.into_iter().map(|item| {
        let sort = item.text("SK").unwrap().to_owned();
        (agreement::key(name, &sort), item)
    });
    let receipts = ledger.query(Query::new(name)).await.unwrap().items;
    let receipts = receipts.iter().map(|item| item.text("SK").unwrap().to_owned());
    (rows.collect(), receipts.collect())
}
