//! `admin`, through the socket of a running server and on a store that is not open.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use roundtable_engine::{Engine, Options};
use roundtable_model::entities::DeadLetter;
use roundtable_model::{Entity, Json, Ops, Queue};
use roundtable_table::Store;

use crate::catch_up::stopped;
use crate::serving::RunningServer;
use crate::verify::{on, served, wait};

/// A town of ana, bo and cleo whose server is stopped.
fn town() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    stopped(directory.path(), roundtable_testkit::Town::settings(), async |_| {});
    directory
}

fn done(data: &Path, line: &str, output: &str) {
    let run = on(data, line);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{line}: {}", run.out);
    assert!(run.out.contains(output), "{line}: {}", run.out);
}

fn refused(data: &Path, line: &str, output: &str) {
    let run = on(data, line);
    assert_eq!((run.status, run.out.as_str()), (1, ""), "{line}: {}", run.err);
    assert!(run.err.contains(output), "{line}: {}", run.err);
}

/// Runs the same commands, with or without a server.
fn administer(data: &Path) {
    done(data, "admin grant ana admin", "roles: user, admin\n");
    done(data, "admin grant ana admin", "roles: user, admin\n");
    done(data, "admin grant ana moderator", "roles: user, moderator, admin\n");
    refused(data, "admin grant nobody admin", "there is no such user");
    done(data, "admin promote bo", "bo: fan-out is on\n");
    done(data, "admin demote bo", "bo: fan-out is off\n");
    refused(data, "admin promote nobody", "there is no such user or group");
    let identity = "https://login.example.org 248289761001";
    refused(data, &format!("admin identity unlink ana {identity}"), "ana has no such identity");
    done(data, &format!("admin identity link ana {identity}"), "linked\n");
    refused(data, &format!("admin identity link bo {identity}"), "linked to another account");
    done(data, "admin identity list ana", &format!("{identity}\n    linked at 20"));
    done(data, &format!("admin identity unlink ana {identity}"), "unlinked\n");
    done(data, "admin identity list ana", "0 identities\n");
    done(data, "admin locks list", "0 locks\n");
    done(data, "admin locks list ana@example.com", "0 locks\n");
    done(data, "admin locks clear 192.0.2.1", "forgot 0 counts of failed sign-ins\n");
    refused(data, "admin locks clear nobody", "key: expected an e-mail address");
    done(data, "admin upgrade --status", "no upgrade is under way\n");
    done(data, "admin upgrade", "under way: ");
    done(data, "admin dlq list", "0 dead letters\n");
    done(data, "admin dlq redrive", "0 succeeded, 0 failed again\n");
    refused(data, "admin dlq show fan-out", "expected a name as `dlq list` prints it");
    refused(data, "admin dlq show fan-out/2026-01-01T00:00:00.000Z/x", "there is no dead letter");
}

#[test]
fn a_store_without_a_server_is_administered_directly() {
    let town = town();
    administer(town.path());
    let nowhere = town.path().join("nowhere");
    refused(&nowhere, "admin grant ana admin", "there is no such directory");
    refused(town.path(), "admin grant ana admin --prefix other_", "there is no table");
}

#[test]
fn a_running_server_is_administered_through_its_socket() {
    let town = town();
    let server = RunningServer::serve(town.path());
    administer(town.path());
    let socket = town.path().join("admin.sock");
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(server.stop(), Some(0));
    assert!(!socket.exists());
    // The server's changes are in the store.
    done(town.path(), "admin grant ana moderator", "roles: user, moderator, admin\n");
}

#[test]
fn a_socket_left_by_a_killed_server_is_replaced() {
    let town = town();
    RunningServer::serve(town.path()).kill();
    assert!(town.path().join("admin.sock").exists());
    done(town.path(), "admin grant ana admin", "roles: user, admin\n");
    let server = RunningServer::serve(town.path());
    done(town.path(), "admin grant bo admin", "roles: user, admin\n");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn invalid_commands_at_the_socket_are_refused() {
    let town = town();
    let server = RunningServer::serve(town.path());
    let say = |line: &[u8]| {
        let mut connection = UnixStream::connect(town.path().join("admin.sock")).unwrap();
        // It may close the connection early.
        let _ = connection.write_all(line);
        let mut answer = String::new();
        let _ = BufReader::new(connection).read_line(&mut answer);
        answer
    };
    for line in ["hello\n", "{}\n", "{\"do\":\"sing\"}\n", "{\"do\":\"grant\"}\n", "\u{0}\n"] {
        let answer = say(line.as_bytes());
        assert!(answer.contains("{\"refused\":\"this is not a command"), "{line}: {answer}");
    }
    say(&vec![b'x'; 1 << 20]);
    let relative = say(b"{\"do\":\"backup\",\"into\":\"here\"}\n");
    assert!(relative.contains("expected an absolute path"), "{relative}");
    done(town.path(), "admin dlq list", "0 dead letters\n");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_dead_letter_is_listed_shown_and_redriven() {
    let town = town();
    let engine = Engine::open(town.path(), Options::default()).unwrap();
    let ops = Store::new(engine.clone()).table_as(Ops::SHAPE.definition("gg_ops"));
    let letter = DeadLetter {
        queue: Queue::from_static("fan-out"),
        payload: Json::encode(&serde_json::json!({ "home": "ana" })).unwrap(),
        cursor: None,
        error: String::from("the moon was in the way"),
        attempts: 7,
        ..roundtable_model::samples::dead_letter()
    };
    wait(ops.put(letter.put())).unwrap();
    drop(ops);
    engine.close().unwrap();

    let list = on(town.path(), "admin dlq list");
    assert_eq!((list.status, list.err.as_str()), (1, ""), "{}", list.out);
    let name = list.out.lines().next().unwrap().to_owned();
    assert!(name.starts_with("fan-out/"), "{}", list.out);
    assert!(
        list.out.contains("after 7 attempts: the moon was in the way\n1 dead letters\n"),
        "{}",
        list.out
    );
    done(town.path(), &format!("admin dlq show {name}"), "{\"home\":\"ana\"} from the start\n");
    done(town.path(), &format!("admin dlq redrive {name}"), "1 succeeded, 0 failed again\n");
    done(town.path(), "admin dlq list", "0 dead letters\n");
    // R57
    let engine = Engine::open(town.path(), Options::default()).unwrap();
    let ops = Store::new(engine.clone()).table_as(Ops::SHAPE.definition("gg_ops"));
    wait(ops.put(letter.put())).unwrap();
    drop(ops);
    engine.close().unwrap();
    done(town.path(), &format!("admin dlq discard {name}"), &format!("{name}: discarded\n"));
    refused(town.path(), &format!("admin dlq discard {name}"), "there is no dead letter");
    done(town.path(), "admin dlq list", "0 dead letters\n");
}

/// A hold left by a processor that no version has any more would keep the log for ever.
#[test]
fn a_hold_of_an_unknown_consumer_is_listed_and_dropped() {
    let town = town();
    let engine = Engine::open(town.path(), Options::default()).unwrap();
    wait(engine.hold("soothsayer", Some(1))).unwrap();
    engine.close().unwrap();
    for served in [false, true] {
        let server = served.then(|| RunningServer::serve(town.path()));
        let list = on(town.path(), "admin holds list");
        assert_eq!((list.status, list.err.as_str()), (0, ""), "{}", list.out);
        let line = list.out.lines().find(|line| line.starts_with("soothsayer: ")).unwrap();
        assert!(line.ends_with("since change 1; this version has no such consumer"), "{line}");
        refused(town.path(), "admin holds drop nobody", "see `holds list`");
        if let Some(server) = server {
            done(town.path(), "admin holds drop soothsayer", "the log is no longer kept for it\n");
            // Processors report once they have started.
            let deadline = Instant::now() + Duration::from_mins(1);
            while !on(town.path(), "admin holds list").out.contains("counters: ") {
                assert!(Instant::now() < deadline, "the processor has not reported");
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(server.stop(), Some(0));
        }
    }
    assert!(!on(town.path(), "admin holds list").out.contains("soothsayer"));
}

#[test]
fn locks_after_failed_sign_ins_are_listed_and_cleared() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = roundtable_model::Secret::new("not the password");
    stopped(directory.path(), roundtable_testkit::Town::settings(), async |town| {
        let (accounts, email) = (town.accounts(), town.email("ana"));
        // The clock of the town stands still, far in the future of the command's.
        town.clock().set_ms(4_000_000_000_000);
        for _ in 0..3 {
            accounts.login(&email, &wrong, Some(town.address())).await.unwrap_err();
        }
    });
    let list = on(directory.path(), "admin locks list ana@example.com");
    assert_eq!((list.status, list.err.as_str()), (0, ""), "{}", list.out);
    let lock =
        "ana@example.com, from 192.0.2.1\n    until 2096-10-02T07:06:41.000Z, after 3 failures\n";
    assert_eq!(list.out, format!("{lock}1 locks\n"));
    done(directory.path(), "admin locks list", "1 locks\n");
    done(directory.path(), "admin locks list 198.51.100.9", "0 locks\n");
    done(directory.path(), "admin locks clear ana@example.com", "forgot 2 counts");
    done(directory.path(), "admin locks list", "0 locks\n");
}

#[test]
fn tables_on_a_server_are_administered_directly() {
    assert_eq!(served("admin_", "table create").status, 0);
    let run = served("admin_", "admin grant ana admin");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains("there is no such user"), "{}", run.err);
    let run = served("admin_", "admin dlq list");
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (0, "0 dead letters\n", ""));
}
