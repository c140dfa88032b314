//! `table create`, on the embedded store and against a server in this process.

use std::path::Path;
use std::sync::OnceLock;

use dynoxide::Database;
use roundtable_engine::{Engine, Options};
use roundtable_model::SCHEMA;
use roundtable_table::{KeyDefinition, Store, TableDefinition};

use crate::binary::{Run, command, finish};

fn embedded(data: &Path, prefix: &str) -> Run {
    let mut create = command(["table", "create", "--prefix", prefix, "--data"]);
    create.arg(data);
    finish(create)
}

/// The address of this process's only server, started on first use.
pub(crate) fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                send.send(listener.local_addr().unwrap()).unwrap();
                dynoxide::server::serve_on(listener, Database::memory().unwrap()).await;
            });
        });
        format!("http://{}", receive.recv().unwrap())
    })
}

/// Runs the command without an AWS environment.
fn served(prefix: &str) -> Run {
    let mut create = command(["table", "create", "--store", "dynamodb", "--endpoint", address()]);
    create.args(["--prefix", prefix]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            create.env_remove(name);
        }
    }
    finish(create)
}

#[test]
fn the_embedded_store_gets_the_tables_of_the_schema() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("deep/data");
    let first = embedded(&data, "");
    assert_eq!((first.status, first.err.as_str()), (0, ""));
    assert!(
        first.out.starts_with(
            "gg_core: created\n  key      PK (S), SK (S)\n  \
             GSI1     GSI1PK (S), GSI1SK (S), with everything\n"
        ),
        "{}",
        first.out
    );
    let again = embedded(&data, "");
    assert_eq!((again.status, again.err.as_str()), (0, ""));
    assert_eq!(again.out, first.out.replace(": created\n", ": exists\n"));
    assert_ne!(again.out, first.out);

    let store = Store::new(Engine::open(&data, Options::default()).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for shape in SCHEMA {
            let found = store.table(shape.name).await.unwrap();
            assert_eq!(**found.definition(), shape.definition(shape.name));
        }
    });
}

#[test]
fn a_server_gets_the_same_tables() {
    let directory = tempfile::tempdir().unwrap();
    let here = embedded(directory.path(), "same_");
    assert_eq!((here.status, here.err.as_str()), (0, ""));
    assert!(here.out.contains("same_gg_ops: created\n"), "{}", here.out);
    let there = served("same_");
    assert_eq!((there.status, there.err.as_str()), (0, ""));
    assert_eq!(there.out, here.out);
    let again = served("same_");
    assert_eq!(again.status, 0, "{}", again.err);
    assert_eq!(again.out, here.out.replace(": created\n", ": exists\n"));
}

#[test]
fn another_table_of_that_name_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let other = TableDefinition::new("gg_ops", KeyDefinition::partition("id"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let open = || Store::new(Engine::open(directory.path(), Options::default()).unwrap());
    let store = open();
    runtime.block_on(store.create_table(other.clone())).unwrap();
    drop(store);
    let run = embedded(directory.path(), "");
    assert_eq!(run.status, 1, "{run:?}");
    let expected = "table \"gg_ops\" exists, but differs from the schema: \
                    key is id (S) and should be PK (S), SK (S); ttl is none and should be ttl";
    assert!(run.err.contains(expected), "{}", run.err);
    // The tables before it in the schema are created and reported.
    assert!(run.out.contains("gg_core: created\n"), "{}", run.out);
    let found = runtime.block_on(async { open().table("gg_ops").await }).unwrap();
    assert_eq!(**found.definition(), other);
}

#[test]
fn a_store_in_use_is_refused_with_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let held = Engine::open(directory.path(), Options::default()).unwrap();
    let run = embedded(directory.path(), "");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.starts_with("roundtable: "), "{}", run.err);
    drop(held);
}
