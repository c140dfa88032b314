//! Processes killed under load. A child writes from sixteen tasks and tells each acknowledgement
//! through a pipe; the parent kills it without warning, after some acknowledgements or in the middle
//! of its start, opens the directory and looks for everything it was told.
//!
//! `ROUNDTABLE_KILL_CYCLES=500 cargo test --release -p roundtable-engine --test kill -- --nocapture`
//! is the full run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use roundtable_engine::{Engine, Options};
use roundtable_table::{
    Delete, Error, Get, Item, Key, KeyDefinition, Put, Query, Returning, Store, Table,
    TableDefinition, Transaction, Update, attribute, item, not_exists,
};

const DIRECTORY: &str = "ROUNDTABLE_KILL_DIRECTORY";
const CYCLES: &str = "ROUNDTABLE_KILL_CYCLES";
const CYCLES_DEFAULT: u64 = 12;
/// Before everything the child says, to tell it from the test harness.
const MARK: &str = "said ";
const WRITERS: u64 = 8;
const MOVERS: u64 = 8;
const ACCOUNTS: u64 = 6;
const BALANCE: u64 = 1000;
/// How many receipts a mover keeps: each transfer removes the one so far back.
const RECEIPTS: u64 = 20;
const ACKNOWLEDGEMENTS_MAX: usize = 600;
/// A start takes about this long; some kills fall into it.
const START_MICROS_MAX: u64 = 30_000;

fn options() -> Options {
    Options {
        memtable_bytes: 128 << 10,
        segment_bytes: 64 << 10,
        retention: Duration::ZERO,
        upkeep_interval: Duration::from_millis(5),
        ..Options::default()
    }
}

fn definition() -> TableDefinition {
    TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_stream()
}

fn account(n: u64) -> Key {
    Key::new("ACCOUNTS", format!("ACCOUNT#{}", n % ACCOUNTS))
}

fn receipt(mover: u64, version: u64) -> Key {
    Key::new(format!("MOVER#{mover}"), format!("RECEIPT#{version:08}"))
}

fn number(item: &Item, name: &str) -> u64 {
    item.number(name).unwrap().to_u64().unwrap()
}

fn say(what: std::fmt::Arguments<'_>) {
    // One write per line: a line is in the pipe whole, or not at all.
    std::io::stdout().write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
}

/// The child: does nothing unless the parent asked for it.
#[test]
fn child() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    say(format_args!("opening"));
    let engine = Engine::open(directory, options()).unwrap();
    say(format_args!("opened"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Store::new(engine);
        let table = store.create_table(definition()).await.unwrap();
        open_accounts(&table).await;
        let writers = (0..WRITERS).map(|n| tokio::spawn(write_for_ever(table.clone(), n)));
        let movers = (0..MOVERS).map(|n| tokio::spawn(move_for_ever(table.clone(), n)));
        for task in writers.chain(movers).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

async fn open_accounts(table: &Table) {
    for n in 0..ACCOUNTS {
        let (partition, sort) = ("ACCOUNTS", format!("ACCOUNT#{n}"));
        let item = item! { "PK" => partition, "SK" => sort, "balance" => BALANCE };
        match table.put(Put::new(item).when(not_exists("PK"))).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Puts the same row with rising versions, and moves it about in the index.
async fn write_for_ever(table: Table, writer: u64) {
    let partition = format!("WRITER#{writer}");
    let found = table.get(Get::new(Key::new(partition.as_str(), "ROW"))).await.unwrap();
    let mut version = found.item.map_or(0, |item| number(&item, "version"));
    loop {
        version += 1;
        let padding = usize::try_from(version * 37 % 900).unwrap();
        let item = item! {
            "PK" => partition.as_str(), "SK" => "ROW", "version" => version,
            "GSI1PK" => format!("DAY#{}", version % 3), "GSI1SK" => partition.as_str(),
            "padding" => "p".repeat(padding),
        };
        table.put(Put::new(item)).await.unwrap();
        say(format_args!("writer {writer} {version}"));
    }
}

/// Moves amounts between accounts: two updates, a receipt, the end of an old receipt.
async fn move_for_ever(table: Table, mover: u64) {
    let partition = format!("MOVER#{mover}");
    let newest = Query::new(partition.as_str()).begins_with("RECEIPT#").descending().limit(1);
    let newest = table.query(newest).await.unwrap().items.pop();
    let mut version = newest.map_or(0, |item| number(&item, "version"));
    loop {
        version += 1;
        let amount = i64::try_from(version % 7 + 1).unwrap();
        let take = Update::new(account(mover + version)).add("balance", -amount);
        let take = take.when(attribute("balance").ge(amount));
        let give = Update::new(account(mover + version + 1 + version % 3)).add("balance", amount);
        let item = item! {
            "PK" => partition.as_str(), "SK" => format!("RECEIPT#{version:08}"),
            "version" => version, "GSI1PK" => "RECEIPTS", "GSI1SK" => partition.as_str(),
        };
        let mut transaction = Transaction::new()
            .with(&table, take)
            .with(&table, give)
            .with(&table, Put::new(item).when(not_exists("PK")));
        if let Some(old) = version.checked_sub(RECEIPTS) {
            transaction = transaction.with(&table, Delete::new(receipt(mover, old)));
        }
        match table.store().transact(transaction).await {
            Ok(_) => say(format_args!("mover {mover} {version}")),
            // The account was empty.
            Err(Error::Cancelled { .. }) => {
                let update = Update::new(account(mover + version)).add("tries", 1);
                table.update(update.returning(Returning::Nothing)).await.unwrap();
                version -= 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// What the child says, line by line, until its end.
fn listen(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The harness begins its own line before the child's first.
            if let Some((_, said)) = line.split_once(MARK)
                && sender.send(said.to_owned()).is_err()
            {
                return;
            }
        }
    });
    receiver
}

fn start_child(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What one task was told.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    /// The last version acknowledged to it.
    version: u64,
    /// How often it was killed since, each time with at most one more under way.
    kills: u64,
}

/// What the tasks were told.
#[derive(Debug, Default)]
struct Acknowledged {
    tasks: BTreeMap<String, Told>,
    count: u64,
}

impl Acknowledged {
    fn hear(&mut self, said: &str) {
        if let Some((task, version)) = said.rsplit_once(' ') {
            let version = version.parse().unwrap();
            self.tasks.insert(task.to_owned(), Told { version, kills: 0 });
            self.count += 1;
        }
    }

    fn kill(&mut self) {
        let names = |task: &'static str, end: u64| (0..end).map(move |n| format!("{task} {n}"));
        for name in names("writer", WRITERS).chain(names("mover", MOVERS)) {
            self.tasks.entry(name).or_default().kills += 1;
        }
    }

    /// What is there: what was acknowledged, or what was under way at a kill.
    fn meet(&mut self, task: &str, n: u64, found: u64) {
        let told = self.tasks.entry(format!("{task} {n}")).or_default();
        let Told { version, kills } = *told;
        assert!(
            (version..=version + kills).contains(&found),
            "{task} {n}: version {version} was acknowledged, {kills} kills ago; {found} is there"
        );
        *told = Told { version: found, kills: 0 };
    }
}

/// Runs a child and kills it: after some acknowledgements, or some time into its start.
fn run_and_kill(directory: &Path, random: &mut SmallRng, heard: &mut Acknowledged) {
    let mut child = start_child(directory);
    let said = listen(child.stdout.take().unwrap());
    let during_start = random.random_bool(0.25);
    let wanted = random.random_range(1..ACKNOWLEDGEMENTS_MAX);
    let until = said.recv().unwrap();
    assert_eq!(until, "opening");
    let deadline = Instant::now()
        + if during_start {
            Duration::from_micros(random.random_range(0..START_MICROS_MAX))
        } else {
            Duration::from_mins(1)
        };
    let mut acknowledgements = 0;
    while acknowledgements < wanted {
        match said.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) if line == "opened" => {}
            Ok(line) => {
                heard.hear(&line);
                acknowledgements += 1;
            }
            Err(RecvTimeoutError::Timeout) if during_start => break,
            Err(error) => panic!("the child fell silent: {error}"),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was said before the end counts, heard in time or not.
    said.iter().filter(|line| line != "opened").for_each(|line| heard.hear(&line));
    heard.kill();
}

async fn check(table: &Table, heard: &mut Acknowledged) {
    for n in 0..WRITERS {
        let key = Key::new(format!("WRITER#{n}"), "ROW");
        let found = table.get(Get::new(key)).await.unwrap().item;
        heard.meet("writer", n, found.map_or(0, |item| number(&item, "version")));
    }
    for n in 0..MOVERS {
        let receipts = table.query(Query::new(format!("MOVER#{n}"))).await.unwrap().items;
        let versions: Vec<u64> = receipts.iter().map(|item| number(item, "version")).collect();
        let last = versions.last().copied().unwrap_or(0);
        heard.meet("mover", n, last);
        // All of the last receipts, and none that was removed.
        let first = (last + 1).saturating_sub(RECEIPTS).max(1);
        assert_eq!(versions, (first..=last).collect::<Vec<_>>(), "mover {n}");
    }
    let accounts = table.query(Query::new("ACCOUNTS")).await.unwrap().items;
    let sum: u64 = accounts.iter().map(|item| number(item, "balance")).sum();
    assert_eq!(sum, accounts.len() as u64 * BALANCE, "{accounts:?}");
}

#[test]
fn a_killed_process_loses_nothing_it_acknowledged() {
    let cycles = std::env::var(CYCLES).map_or(CYCLES_DEFAULT, |cycles| cycles.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut random = SmallRng::seed_from_u64(cycles);
    let mut heard = Acknowledged::default();
    let mut cut = 0;
    for _ in 0..cycles {
        run_and_kill(directory.path(), &mut random, &mut heard);
        // Every other time the next child has to recover, and may be killed at it.
        if random.random_bool(0.5) {
            continue;
        }
        let engine = Engine::open(directory.path(), options()).unwrap();
        cut += engine.metrics().cut_bytes;
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
        runtime.block_on(async {
            if let Ok(table) = Store::new(engine.clone()).table("town").await {
                check(&table, &mut heard).await;
            }
        });
        if random.random_bool(0.5) {
            engine.abandon();
        }
    }
    let engine = Engine::open(directory.path(), options()).unwrap();
    assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
    runtime.block_on(async {
        let table = Store::new(engine.clone()).table("town").await.unwrap();
        check(&table, &mut heard).await;
    });
    let (count, sequence) = (heard.count, engine.metrics().sequence);
    println!(
        "{cycles} kills, {count} writes acknowledged, 0 lost, {cut} torn bytes cut, sequence {sequence}"
    );
}
