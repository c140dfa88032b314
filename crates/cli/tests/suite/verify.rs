//! `verify`, on the embedded store and against a server in this process.

use std::fs;
use std::path::Path;

use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{EmailLock, NickLock, User, UserCounter};
use roundtable_model::{Core, Entity, Shard, UserCount, samples};
use roundtable_table::{Store, Table, Update};
use serde_json::Value;

use crate::binary::{Run, command, finish};
use crate::create::address;

/// Runs a command on a data directory.
pub(crate) fn on(data: &Path, line: &str) -> Run {
    let mut command = command(line.split_whitespace());
    command.arg("--data").arg(data);
    finish(command)
}

pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// Stores Ana with her locks and counters of zero.
async fn move_in(core: &Table) {
    let User { id, nickname, email, created_at, .. } = samples::user();
    let ana = User { handle: None, profile_image: None, ..samples::user() };
    let user_id = id.clone();
    core.put(ana.put()).await.unwrap();
    core.put(NickLock { nickname, user_id, created_at }.put()).await.unwrap();
    let user_id = id.clone();
    core.put(EmailLock { email: email.unwrap(), user_id, created_at, proved_at: None }.put())
        .await
        .unwrap();
    let (counter, shard) = (UserCount::Posts, Shard::ZERO);
    let counter = UserCounter { user_id: id, counter, shard, count: 0, ..samples::user_counter() };
    core.put(counter.put()).await.unwrap();
}

/// A store with Ana in it; `plant` may change it.
fn store(data: &Path, plant: impl AsyncFnOnce(&Table)) {
    assert_eq!(on(data, "table create").status, 0);
    let engine = Engine::open(data, Options::default()).unwrap();
    let core = Store::new(engine.clone()).table_as(Core::SHAPE.definition("gg_core"));
    wait(async {
        move_in(&core).await;
        plant(&core).await;
    });
    drop(core);
    engine.close().unwrap();
}

async fn miscount(core: &Table) {
    let posts = UserCounter::at(&samples::user().id, &UserCount::Posts, &Shard::ZERO);
    core.update(Update::new(posts).set("count", 1)).await.unwrap();
}

#[test]
fn a_consistent_store_exits_with_0() {
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), async |_| {});
    let run = on(directory.path(), "verify --no-drain");
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains("; I1 I2 I3 I4 I5 I6 I10 I15 I16: nothing found\n"), "{}", run.out);
    assert!(run.out.starts_with("4 items, 3 index entries and 4 changes in "), "{}", run.out);
    assert!(run.out.contains("note: no processor has read the stream yet\n"), "{}", run.out);
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains("; I1 I2 I3 I4 I5 I6 I10 I15 I16: nothing found\n"), "{}", run.out);
    assert!(!run.out.contains("note: "), "{}", run.out);
}

#[test]
fn a_fault_exits_with_1_and_is_repaired_on_demand() {
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), miscount);
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let id = samples::user().id;
    let finding = format!(
        "I1   USER#{id} / COUNTER#POSTS\n     \
         expected count 0, the posts that are not deleted\n     found    1\n\n"
    );
    assert!(run.out.starts_with(&finding), "{}", run.out);
    assert!(run.out.contains(": 1 finding (I1 1)\n"), "{}", run.out);

    let json = on(directory.path(), "verify --json");
    assert_eq!((json.status, json.err.as_str()), (1, ""));
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(report["clean"], false);
    assert_eq!(report["total"], 1);
    assert_eq!(report["findings"][0]["invariant"], "I1");
    assert_eq!(report["findings"][0]["keys"][0], format!("USER#{id} / COUNTER#POSTS"));
    assert_eq!(report["findings"][0]["found"], "1");
    assert_eq!(report["mended"], Value::Null);

    let few = on(directory.path(), "verify --limit 0");
    assert!(few.out.starts_with("… and 1 more\n"), "{}", few.out);

    let repaired = on(directory.path(), "verify --repair");
    assert_eq!((repaired.status, repaired.err.as_str()), (0, ""), "{}", repaired.out);
    assert!(repaired.out.starts_with("1 repaired\n"), "{}", repaired.out);
    assert!(repaired.out.contains(" applied first\n"), "{}", repaired.out);
    let again = on(directory.path(), "verify --repair --json");
    let report: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((again.status, &report["clean"]), (0, &Value::from(true)));
    assert_eq!(report["mended"], 0);
}

#[test]
fn a_finding_beyond_repair_says_why() {
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), async |core| {
        let twin = User {
            id: "twin".parse().unwrap(),
            email: None,
            handle: None,
            profile_image: None,
            ..samples::user()
        };
        core.put(twin.put()).await.unwrap();
    });
    for line in ["verify", "verify --repair"] {
        let run = on(directory.path(), line);
        assert_eq!(run.status, 1, "{run:?}");
        let left = "     left     several users carry the name: rename all but one\n";
        assert!(run.out.contains(left), "{}", run.out);
        assert!(run.out.contains("     and USER#twin / PROFILE#twin\n"), "{}", run.out);
    }
}

/// A flipped bit is found anywhere, and never served.
#[test]
fn damage_is_found() {
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), async |_| {});
    let path = directory.path().join("tree.mdb");
    let mut bytes = fs::read(&path).unwrap();
    let word = samples::user().preferred_username.into_bytes();
    let places: Vec<usize> =
        (0..bytes.len() - word.len()).filter(|at| bytes[*at..].starts_with(&word)).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (1, ""), "{run:?}");
    assert!(run.out.starts_with("I16  "), "{}", run.out);
    assert!(run.out.contains("restore a backup\n"), "{}", run.out);
    // Nothing is derived from damaged data.
    assert!(!run.out.contains("applied first"), "{}", run.out);
    assert!(run.out.contains("note: the processors did not run"), "{}", run.out);
}

#[test]
fn the_directory_of_a_running_server_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    store(directory.path(), async |_| {});
    let held = Engine::open(directory.path(), Options::default()).unwrap();
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    let number = std::process::id();
    let output = format!("another process (pid {number}) has it open; stop that one first");
    assert!(run.err.contains(&output), "{}", run.err);
    drop(held);
}

#[test]
fn no_command_creates_a_missing_store() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("nowhere");
    let run = on(&data, "verify");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains("there is no such directory"), "{}", run.err);
    assert!(!data.exists());

    let empty = on(directory.path(), "verify");
    assert_eq!((empty.status, empty.out.as_str()), (1, ""));
    assert!(empty.err.contains("there is no table \"gg_core\""), "{}", empty.err);
}

/// Runs a command on a server's tables, without an AWS environment.
pub(crate) fn served(prefix: &str, line: &str) -> Run {
    let place = ["--prefix", prefix, "--store", "dynamodb", "--endpoint", address()];
    let mut command = command(line.split_whitespace());
    command.args(place);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    finish(command)
}

#[test]
fn a_server_is_checked_and_repaired_over_the_network() {
    let served = |line: &str| served("verify_", line);
    assert_eq!(served("table create").status, 0);
    let config = roundtable_dynamo::Config::local(address());
    let store = Store::new(roundtable_dynamo::Dynamo::connect(config));
    let core = store.table_as(Core::SHAPE.definition("verify_gg_core"));
    wait(async {
        move_in(&core).await;
        miscount(&core).await;
    });
    let run = served("verify");
    assert_eq!((run.status, run.err.as_str()), (1, ""), "{}", run.out);
    assert!(run.out.contains("; I1 I2 I3 I6 I10 I15: 1 finding (I1 1)\n"), "{}", run.out);
    let repaired = served("verify --repair");
    assert_eq!((repaired.status, repaired.err.as_str()), (0, ""), "{}", repaired.out);
    assert_eq!(served("verify").status, 0);
}
