//! Tests that need a server with DynamoDB's API, named by `ROUNDTABLE_DYNAMODB_ENDPOINT`: `table
//! create`, and the stories on an installation of several processes.
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
use tales::interlude;
use tales::scene::{Scene, Style};
use tales::server_process::ServerProcess;

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";
/// Time for derived work: includes the lease of a worker that died.
const TIMEOUT: Duration = Duration::from_secs(90);

fn endpoint() -> Option<String> {
    let named = std::env::var(VARIABLE).ok();
    if named.is_none() {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
    }
    named
}

/// A prefix of table names: a server may outlive many tests, and no two may share tables.
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
        let store_flags = ["--store", "dynamodb", "--endpoint", &address];
        finish(command(["table", "create", "--prefix", &prefix].into_iter().chain(store_flags)))
    };
    let first = served();
    assert_eq!((first.status, first.err.as_str()), (0, ""));
    assert_eq!(first.out, embedded.out);
    let again = served();
    assert_eq!((again.status, again.err.as_str()), (0, ""));
    assert_eq!(again.out, first.out.replace(": created\n", ": exists\n"));
}

/// Several processes on the same tables.
struct Installation {
    endpoint: String,
    prefix: String,
    /// The media directory of all processes.
    data: tempfile::TempDir,
}

impl Installation {
    fn at(endpoint: String) -> Self {
        Self { endpoint, prefix: prefix(), data: tempfile::tempdir().unwrap() }
    }

    /// Starts one more process, connected to these workers.
    fn serve(&self, role: &str, workers: &[&ServerProcess]) -> ServerProcess {
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
        ServerProcess::serve(arguments, &variables)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let store_flags =
            ["--store", "dynamodb", "--endpoint", &self.endpoint, "--prefix", &self.prefix];
        finish(command(arguments.iter().chain(&store_flags)))
    }
}

async fn metrics(url: &str) -> String {
    reqwest::get(format!("{url}/metrics")).await.unwrap().text().await.unwrap()
}

/// Waits until a process is connected to all workers: from then on its subscribers miss nothing.
async fn wait_until_connected(url: &str) {
    let is_so = async {
        while !metrics(url)
            .await
            .lines()
            .any(|line| line == "roundtable_live_all_workers_connected 1")
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, is_so).await.unwrap();
}

/// Returns whether a worker has processed changes.
async fn has_processed_changes(url: &str) -> bool {
    let metrics = metrics(url).await;
    let mut lines = metrics
        .lines()
        .filter(|line| line.starts_with("roundtable_stream_processed_changes_total{"));
    lines.any(|line| !line.ends_with(" 0"))
}

/// Plays all stories with two API processes and two workers, of which one each is killed half-way
/// during a conversation, and verifies the tables.
async fn play(style: Style) {
    let Some(endpoint) = endpoint() else { return };
    let installation = Arc::new(Installation::at(endpoint));
    let created = installation.run(&["table", "create"]);
    assert_eq!(created.status, 0, "{}", created.err);
    let granting = Arc::clone(&installation);
    let grant = move |name: &str| {
        let granted = granting.run(&["admin", "grant", name, "moderator"]);
        assert_eq!(granted.status, 0, "{}", granted.err);
    };
    let workers = [(); 2].map(|()| installation.serve("worker", &[]));
    let apis = [(); 2].map(|()| installation.serve("api", &[&workers[0], &workers[1]]));
    let servers = apis.iter().map(|api| Some(api.url.clone())).collect();
    let scene = Scene::at(servers, style, TIMEOUT, grant);
    for api in &apis {
        wait_until_connected(&api.url).await;
    }
    tales::first_half(&scene).await;

    let is_second = !has_processed_changes(&workers[0].url).await;
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
    // Until the living worker has the leases of the dead one, events are missed, and then subscribers
    // are told to refetch.
    wait_until_connected(&api.url).await;
    tales::second_half(&scene).await;
    assert_eq!((api.stop(), worker.stop()), (Some(0), Some(0)));
    let run_result = installation.run(&["verify"]);
    assert_eq!(run_result.status, 0, "{}{}", run_result.out, run_result.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_while_processes_die() {
    play(Style::Plain).await;
}

/// R32: a mutation repeated under its request id at another process has one effect and the same
/// response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_story_can_be_played_while_processes_die_with_every_mutation_sent_twice() {
    play(Style::Twice).await;
}
