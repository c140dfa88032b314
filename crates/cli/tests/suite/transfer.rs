//! `export` and `import`: all items come back, nothing is counted twice, and bad lines are reported.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::binary::{Run, command, finish};
use crate::catch_up::stopped;
use crate::serving::RunningServer;
use crate::verify::{on, served};

fn run(word: &str, directory: &Path, data: &Path, flags: &[&str]) -> Run {
    let mut command = command([word]);
    command.arg(directory).arg("--data").arg(data).args(flags);
    finish(command)
}

/// A town with activity, fully derived.
fn town() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    stopped(&data, roundtable_testkit::Town::settings(), async |town| {
        let post = town.post("bo", "hello #town").await.id;
        town.like("ana", &post).await;
        town.follow("ana", "bo").await;
    });
    assert_eq!(on(&data, "verify").status, 0);
    directory
}

/// The lines of all tables, without stream positions.
fn lines(dump: &Path) -> BTreeSet<String> {
    let tables = ["gg_core", "gg_ops", "gg_login_attempts"];
    let texts = tables.iter().map(|name| fs::read_to_string(dump.join(format!("{name}.jsonl"))));
    let all: Vec<String> = texts.map(Result::unwrap).collect();
    let all = all.iter().flat_map(|text| text.lines()).filter(|line| !line.contains("CHECKPOINT#"));
    all.map(str::to_owned).collect()
}

#[test]
fn an_import_restores_everything_and_counts_nothing_twice() {
    let town = town();
    let [data, dump, back, again] =
        ["data", "dump", "back", "again"].map(|name| town.path().join(name));
    fs::write(data.join("secret.key"), "s".repeat(43)).unwrap();
    let exported = run("export", &dump, &data, &[]);
    assert_eq!((exported.status, exported.err.as_str()), (0, ""));
    assert!(exported.out.contains("gg_core.jsonl: "), "{}", exported.out);
    let line = lines(&dump).into_iter().find(|line| line.contains("hello #town")).unwrap();
    assert!(line.starts_with("{\"Item\":{") && line.contains("{\"S\":\"hello #town\"}"), "{line}");

    let imported = run("import", &dump, &back, &[]);
    assert_eq!((imported.status, imported.err.as_str()), (0, ""));
    assert!(imported.out.contains("gg_core: "), "{}", imported.out);
    // The processors continue, and find nothing to do.
    let verified = on(&back, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    assert_eq!(fs::read_to_string(back.join("secret.key")).unwrap(), "s".repeat(43));
    assert_eq!(run("export", &again, &back, &[]).status, 0);
    assert_eq!(lines(&again), lines(&dump));

    let twice = run("import", &dump, &back, &[]);
    assert_eq!((twice.status, twice.out.as_str()), (1, ""));
    assert!(twice.err.contains("is not empty; use an empty store, or --merge"), "{}", twice.err);
    assert_eq!(run("import", &dump, &back, &["--merge"]).status, 0);
    assert_eq!(on(&back, "verify").status, 0);
}

#[test]
fn bad_lines_are_reported_and_the_store_is_unchanged() {
    let town = town();
    let [data, dump, back] = ["data", "dump", "back"].map(|name| town.path().join(name));
    assert_eq!(run("export", &dump, &data, &[]).status, 0);
    let path = dump.join("gg_core.jsonl");
    let good = fs::read_to_string(&path).unwrap();
    let count = good.lines().count();
    let bad = "{\"Item\":{\"PK\":{\"S\":\"x\"}}}\n\nnonsense\n{\"Item\":{\"PK\":{\"N\":\"1\"}}}\n";
    let long = format!("{{\"Item\":\"{}\"}}\n", "x".repeat(4 << 20));
    fs::write(&path, format!("{good}{bad}{long}{{}}\n")).unwrap();
    let run_bad = run("import", &dump, &back, &[]);
    assert_eq!((run_bad.status, run_bad.err.as_str()), (1, ""));
    for (after, output) in [
        (1, "SK: expected a non-empty string, because it is part of the key"),
        (3, "expected ident"),
        (4, "PK: expected a non-empty string"),
        (5, "the line is longer than any item can be"),
        (6, "expected {\"Item\": {…}}"),
    ] {
        let query = format!("gg_core.jsonl:{}: {output}", count + after);
        assert!(run_bad.out.contains(&query), "{query}: {}", run_bad.out);
    }
    assert!(run_bad.out.ends_with("nothing was imported\n"), "{}", run_bad.out);
    assert!(!back.exists());
    fs::write(&path, good).unwrap();
    assert_eq!(run("import", &dump, &back, &[]).status, 0);
    assert_eq!(on(&back, "verify").status, 0);
}

#[test]
fn an_export_of_a_running_server_is_a_snapshot() {
    let town = town();
    let [data, dump, back] = ["data", "dump", "back"].map(|name| town.path().join(name));
    let server = RunningServer::serve(&data);
    let exported = run("export", &dump, &data, &[]);
    assert_eq!((exported.status, exported.err.as_str()), (0, ""));
    let refused = run("import", &dump, &data, &["--merge"]);
    assert_eq!((refused.status, refused.out.as_str()), (1, ""));
    assert!(refused.err.contains("has it open"), "{}", refused.err);
    assert_eq!(server.stop(), Some(0));
    assert_eq!(run("import", &dump, &back, &[]).status, 0);
    assert_eq!(on(&back, "verify").status, 0);
    let names = fs::read_dir(&dump).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with(".tmp")));
}

#[test]
fn an_embedded_town_moves_to_a_server_and_back() {
    let town = town();
    let [data, dump, back] = ["data", "dump", "back"].map(|name| town.path().join(name));
    assert_eq!(run("export", &dump, &data, &[]).status, 0);
    let moved = served("moved_", &format!("import {}", dump.display()));
    assert_eq!((moved.status, moved.err.as_str()), (0, ""));
    let verified = served("moved_", "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    let exported = served("moved_", &format!("export {}", back.display()));
    assert_eq!((exported.status, exported.err.as_str()), (0, ""));
    assert_eq!(lines(&back), lines(&dump));
}
