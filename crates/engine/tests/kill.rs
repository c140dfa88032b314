//! Processes killed under load. A child writes from sixteen tasks and reports each acknowledgement
//! through a pipe. The parent kills it, after some acknowledgements or during its start, opens the
//! directory and checks that every acknowledged write is there.
//!
//! `ROUNDTABLE_KILL_CYCLES=500 cargo test --release -p roundtable-engine --test kill -- --nocapture`
//! is the full run; `ROUNDTABLE_KILL_SEED` chooses other moments.
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
const SEED: &str = "ROUNDTABLE_KILL_SEED";
const CYCLES_DEFAULT: u64 = 12;
/// Prefix of the child's reports, to distinguish them from the test harness's output.
const MARK: &str = "report ";
const WRITERS: u64 = 8;
const MOVERS: u64 = 8;
const ACCOUNTS: u64 = 6;
const BALANCE: u64 = 1000;
/// Receipts a mover keeps: each transfer removes the one this many versions back.
const RECEIPTS: u64 = 20;
const ACKNOWLEDGEMENTS_MAX: usize = 600;
/// A start takes about this long; some kills happen during it.
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

fn report(what: std::fmt::Arguments<'_>) {
    // One write per line, so that a line is in the pipe whole or not at all.
    std::io::stdout().write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
}

/// The child process; does nothing in a normal test run.
#[test]
fn child() {
    let Ok(directory) = std::env::var(DIRECTORY) else { return };
    report(format_args!("opening"));
    let engine = Engine::open(directory, options()).unwrap();
    report(format_args!("opened"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Store::new(engine);
        let table = store.create_table(definition()).await.unwrap();
        open_accounts(&table).await;
        let writers = (0..WRITERS).map(|n| tokio::spawn(write_forever(table.clone(), n)));
        let movers = (0..MOVERS).map(|n| tokio::spawn(move_forever(table.clone(), n)));
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

/// Puts the same row with increasing versions, and changes its index key.
async fn write_forever(table: Table, writer: u64) {
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
        report(format_args!("writer {writer} {version}"));
    }
}

/// Moves amounts between accounts: two updates, a new receipt, the removal of an old one.
async fn move_forever(table: Table, mover: u64) {
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
            Ok(_) => report(format_args!("mover {mover} {version}")),
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

/// Receives the child's reports until its end.
fn read_reports(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The harness may print on the same line before the child's first report.
            if let Some((_, report)) = line.split_once(MARK)
                && sender.send(report.to_owned()).is_err()
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

#[derive(Clone, Copy, Debug, Default)]
struct TaskProgress {
    /// The last version acknowledged to it.
    version: u64,
    /// Kills since then, each with at most one more write in flight.
    kills: u64,
}

/// The acknowledgements to all tasks.
#[derive(Debug, Default)]
struct Acknowledged {
    tasks: BTreeMap<String, TaskProgress>,
    count: u64,
}

impl Acknowledged {
    fn record(&mut self, report: &str) {
        if let Some((task, version)) = report.rsplit_once(' ') {
            let version = version.parse().unwrap();
            self.tasks.insert(task.to_owned(), TaskProgress { version, kills: 0 });
            self.count += 1;
        }
    }

    fn kill(&mut self) {
        let names = |task: &'static str, end: u64| (0..end).map(move |n| format!("{task} {n}"));
        for name in names("writer", WRITERS).chain(names("mover", MOVERS)) {
            self.tasks.entry(name).or_default().kills += 1;
        }
    }

    /// Checks that the stored version was acknowledged, or in flight at a kill.
    fn check(&mut self, task: &str, n: u64, found: u64) {
        let progress = self.tasks.entry(format!("{task} {n}")).or_default();
        let TaskProgress { version, kills } = *progress;
        assert!(
            (version..=version + kills).contains(&found),
            "{task} {n}: version {version} was acknowledged, {kills} kills ago; {found} is there"
        );
        *progress = TaskProgress { version: found, kills: 0 };
    }
}

/// Runs a child and kills it: after some acknowledgements, or some time into its start.
fn run_and_kill(directory: &Path, random: &mut SmallRng, acknowledged: &mut Acknowledged) {
    let mut child = start_child(directory);
    let reports = read_reports(child.stdout.take().unwrap());
    let during_start = random.random_bool(0.25);
    let wanted = random.random_range(1..ACKNOWLEDGEMENTS_MAX);
    let first = reports.recv().unwrap();
    assert_eq!(first, "opening");
    let deadline = Instant::now()
        + if during_start {
            Duration::from_micros(random.random_range(0..START_MICROS_MAX))
        } else {
            Duration::from_mins(1)
        };
    let mut acknowledgements = 0;
    while acknowledgements < wanted {
        match reports.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) if line == "opened" => {}
            Ok(line) => {
                acknowledged.record(&line);
                acknowledgements += 1;
            }
            Err(RecvTimeoutError::Timeout) if during_start => break,
            Err(error) => panic!("the child stopped reporting: {error}"),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Reports that were sent before the kill count, too.
    reports.iter().filter(|line| line != "opened").for_each(|line| acknowledged.record(&line));
    acknowledged.kill();
}

async fn check(table: &Table, acknowledged: &mut Acknowledged) {
    for n in 0..WRITERS {
        let key = Key::new(format!("WRITER#{n}"), "ROW");
        let found = table.get(Get::new(key)).await.unwrap().item;
        acknowledged.check("writer", n, found.map_or(0, |item| number(&item, "version")));
    }
    for n in 0..MOVERS {
        let receipts = table.query(Query::new(format!("MOVER#{n}"))).await.unwrap().items;
        let versions: Vec<u64> = receipts.iter().map(|item| number(item, "version")).collect();
        let last = versions.last().copied().unwrap_or(0);
        acknowledged.check("mover", n, last);
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
    let seed = std::env::var(SEED).map_or(cycles, |seed| seed.parse().unwrap());
    let mut random = SmallRng::seed_from_u64(seed);
    let mut acknowledged = Acknowledged::default();
    let mut cut = 0;
    for _ in 0..cycles {
        run_and_kill(directory.path(), &mut random, &mut acknowledged);
        // Half of the time the next child has to recover, and may be killed meanwhile.
        if random.random_bool(0.5) {
            continue;
        }
        let engine = Engine::open(directory.path(), options()).unwrap();
        cut += engine.metrics().cut_bytes;
        assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
        runtime.block_on(async {
            if let Ok(table) = Store::new(engine.clone()).table("town").await {
                check(&table, &mut acknowledged).await;
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
        check(&table, &mut acknowledged).await;
    });
    let (count, sequence) = (acknowledged.count, engine.metrics().sequence);
    println!(
        "{cycles} kills, {count} writes acknowledged, 0 lost, {cut} torn bytes cut, sequence {sequence}"
    );
}
