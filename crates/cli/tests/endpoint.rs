//! What needs a server that speaks DynamoDB's API, which `ROUNDTABLE_DYNAMODB_ENDPOINT` names: `table create`,
//! and the stories of people at an installation of several processes.
//!
//! ```text
//! scripts/dynamodb-local.sh cargo test -p roundtable --test endpoint
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot reach its server has failed")]
#![expect(clippy::indexing_slicing, reason = "JSON answers null where there is nothing")]

#[path = "suite/binary.rs"]
mod binary;
#[path = "stories/tales.rs"]
mod tales;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use binary::{Run, command, finish};
use tales::house::House;
use tales::interlude;
use tales::scene::{Scene, Style};

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";
/// How long anything may take that follows from something else: a worker that died is waited for, before
/// another takes its place.
const PATIENCE: Duration = Duration::from_secs(90);

/// The server, if there is one.
fn endpoint() -> Option<String> {
    let named = std::env::var(VARIABLE).ok();
    if named.is_none() {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
    }
    named
}

/// What goes before the names of tables: a server may outlive many tests, and no two of them should meet.
fn prefix() -> String {
    static TESTS: AtomicUsize = AtomicUsize::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let (nth, process) = (TESTS.fetch_add(1, Ordering::Relaxed), std::process::id());
    format!("cli_{}_{process}_{nth}_", now.as_nanos())
}

#[test]
fn the_server_and_the_embedded_store_describe_equal_tables() {
    let Some(address) = endpoint() else { return };
    let prefix = prefix();
    let directory = tempfile::tempdir().unwrap();
    let mut embedded = command(["table", "create", "--prefix", &prefix, "--data"]);
    embedded.arg(directory.path());
    let embedded = finish(embedded);
    assert_eq!((embedded.status, embedded.err.as_str()), (0, ""));

    let served = || {
        let place = ["--store", "dynamodb", "--endpoint", &address];
        finish(command(["table", "create", "--prefix", &prefix].into_iter().chain(place)))
    };
    let first = served();
    assert_eq!((first.status, first.err.as_str()), (0, ""));
    assert_eq!(first.out, embedded.out);
    let again = served();
    assert_eq!((again.status, again.err.as_str()), (0, ""));
    assert_eq!(again.out, first.out.replace(": made\n", ": was there\n"));
}

/// Several processes on the same tables.
struct Installation {
    endpoint: String,
    prefix: String,
    /// Where files are that people send, for all processes.
    data: tempfile::TempDir,
}

impl Installation {
    fn at(endpoint: String) -> Self {
        Self { endpoint, prefix: prefix(), data: tempfile::tempdir().unwrap() }
    }

    /// Starts one more process; `workers` are those it hears.
    fn serve(&self, role: &str, workers: &[&House]) -> House {
        let workers: Vec<&str> = workers.iter().map(|worker| worker.url.as_str()).collect();
        let table = |name: &str| format!("{}{name}", self.prefix);
        let (core, logins, ops) = (table("gg_core"), table("gg_login_attempts"), table("gg_ops"));
        let variables = [
            ("ROUNDTABLE_TABLES__CORE", core.as_str()),
            ("ROUNDTABLE_TABLES__LOGINS", &logins),
            ("ROUNDTABLE_TABLES__OPS", &ops),
            ("ROUNDTABLE_SIGN_IN__SECRET", "only for as long as these stories are told"),
            ("ROUNDTABLE_LIVE__WORKERS", &workers.join(",")),
        ];
        let data: &Path = self.data.path();
        let store = ["--store", "dynamodb", "--endpoint", &self.endpoint, "--role", role, "--data"];
        let arguments = store.iter().map(AsRef::as_ref).chain([data.as_os_str()]);
        House::serve(arguments, &variables)
    }

    /// Runs a command about its tables.
    fn run(&self, arguments: &[&str]) -> Run {
        let place = ["--store", "dynamodb", "--endpoint", &self.endpoint, "--prefix", &self.prefix];
        finish(command(arguments.iter().chain(&place)))
    }
}

/// What a process tells of itself.
async fn figures(url: &str) -> String {
    reqwest::get(format!("{url}/metrics")).await.unwrap().text().await.unwrap()
}

/// Waits until a process hears of everything that happens: from then on its listeners miss nothing.
async fn hears_everything(url: &str) {
    let is_so = async {
        while !figures(url).await.lines().any(|line| line == "roundtable_live_complete 1") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, is_so).await.unwrap();
}

/// Whether a worker has worked on changes.
async fn is_at_work(url: &str) -> bool {
    let figures = figures(url).await;
    let mut lines =
        figures.lines().filter(|line| line.starts_with("roundtable_stream_processed_total{"));
    lines.any(|line| !line.ends_with(" 0"))
}

/// Plays all stories at two processes that answer and two that work, of which one of each is killed
/// half-way, while people talk; and looks through the tables.
async fn play(style: Style) {
    let Some(endpoint) = endpoint() else { return };
    let installation = Arc::new(Installation::at(endpoint));
    let granting = Arc::clone(&installation);
    let grant = move |name: &str| {
        let granted = granting.run(&["admin", "grant", name, "moderator"]);
        assert_eq!(granted.status, 0, "{}", granted.err);
    };
    let workers = [(); 2].map(|()| installation.serve("worker", &[]));
    let apis = [(); 2].map(|()| installation.serve("api", &[&workers[0], &workers[1]]));
    let doors = apis.iter().map(|api| Some(api.url.clone())).collect();
    let scene = Scene::at(doors, style, PATIENCE, grant);
    for api in &apis {
        hears_everything(&api.url).await;
    }
    tales::first_half(&scene).await;

    let is_second = !is_at_work(&workers[0].url).await;
    let (api, worker) = interlude::a_talk_outlives_its_server(&scene, move || {
        let [dying, api] = apis;
        let [mut dead, mut worker] = workers;
        if is_second {
            std::mem::swap(&mut dead, &mut worker);
        }
        dying.kill();
        dead.kill();
        (vec![None, Some(api.url.clone())], (api, worker))
    })
    .await;
    tales::second_half(&scene).await;
    assert_eq!((api.stop(), worker.stop()), (Some(0), Some(0)));
    let found = installation.run(&["verify"]);
    assert_eq!(found.status, 0, "{}{}", found.out, found.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_while_processes_die() {
    play(Style::Plain).await;
}

/// R32: a mutation that is sent again under its request id, to another process, has the effect, and the
/// answer, of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_while_processes_die_with_every_mutation_sent_twice() {
    play(Style::Twice).await;
}
