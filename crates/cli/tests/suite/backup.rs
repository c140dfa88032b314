//! `backup` and `restore`, of an open and a closed store.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Run, command, finish};
use crate::catch_up::stopped;
use crate::serving::RunningServer;
use crate::verify::on;

const SIGN_UP: &str = r#"mutation { register(input: { email: "gil@example.com", nickname: "gil",
    password: "gil at the table" }) { accessToken } }"#;
const POST: &str =
    r#"mutation { createPost(input: { content: "hello", contentType: text }) { id } }"#;

fn run(words: &[&str], paths: &[(&str, &Path)]) -> Run {
    let mut command = command(words);
    for (flag, path) in paths {
        if !flag.is_empty() {
            command.arg(flag);
        }
        command.arg(path);
    }
    finish(command)
}

/// A town with a post, a secret and a media file.
fn town() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    stopped(&data, roundtable_testkit::Town::settings(), async |town| {
        town.post("bo", "hello").await;
    });
    fs::write(data.join("secret.key"), "s".repeat(43)).unwrap();
    fs::create_dir_all(data.join("media/some")).unwrap();
    fs::write(data.join("media/some/picture"), "pixels").unwrap();
    directory
}

fn check(data: &Path) {
    let verified = on(data, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    assert_eq!(fs::read_to_string(data.join("secret.key")).unwrap(), "s".repeat(43));
    assert_eq!(fs::read_to_string(data.join("media/some/picture")).unwrap(), "pixels");
}

#[test]
fn a_backup_restores_with_its_secret_and_media() {
    let town = town();
    let [data, copy, back] = ["data", "copy", "back"].map(|name| town.path().join(name));
    let copied = run(&["backup"], &[("", &copy), ("--data", &data)]);
    assert_eq!((copied.status, copied.err.as_str()), (0, ""));
    assert!(copied.out.contains("copy: everything up to change "), "{}", copied.out);
    let restored = run(&["restore"], &[("", &copy), ("--data", &back)]);
    assert_eq!((restored.status, restored.err.as_str()), (0, ""));
    assert!(restored.out.contains("back: everything up to change "), "{}", restored.out);
    check(&back);

    for (words, paths) in [
        (&["backup"], [("", copy.as_path()), ("--data", &data)]),
        (&["restore"], [("", copy.as_path()), ("--data", &back)]),
    ] {
        let again = run(words, &paths);
        assert_eq!((again.status, again.out.as_str()), (1, ""));
        assert!(again.err.contains("it is not empty"), "{}", again.err);
    }
    check(&back);
}

/// Files that are on another volume are in the backup, too.
#[test]
fn a_backup_has_the_files_of_another_directory() {
    let town = town();
    let [data, copy, files] = ["data", "copy", "files"].map(|name| town.path().join(name));
    fs::rename(data.join("media"), &files).unwrap();
    let mut backup = command(["backup"]);
    backup.arg(&copy).arg("--data").arg(&data).env("ROUNDTABLE_MEDIA__DIRECTORY", &files);
    let copied = finish(backup);
    assert_eq!((copied.status, copied.err.as_str()), (0, ""));
    check(&copy);
}

#[test]
fn a_running_server_is_copied_while_it_serves() {
    let town = town();
    let [data, copy, back] = ["data", "copy", "back"].map(|name| town.path().join(name));
    fs::remove_file(data.join("secret.key")).unwrap();
    let server = RunningServer::serve(&data);
    let token = server.query(None, SIGN_UP)["register"]["accessToken"].clone();
    let token = token.as_str();
    let post = server.query(token, POST)["createPost"]["id"].clone();
    let copied = run(&["backup"], &[("", &copy), ("--data", &data)]);
    assert_eq!((copied.status, copied.err.as_str()), (0, ""));
    let again = run(&["backup"], &[("", &copy), ("--data", &data)]);
    assert_eq!((again.status, again.out.as_str()), (1, ""));
    assert!(again.err.contains("it is not empty"), "{}", again.err);
    let later = server.query(token, POST)["createPost"]["id"].clone();
    assert_eq!(server.stop(), Some(0));

    // The copy holds what was acknowledged before it and nothing later, and sessions stay valid. It can
    // be restored, and served as it is.
    let restored = run(&["restore"], &[("", &copy), ("--data", &back)]);
    assert_eq!((restored.status, restored.err.as_str()), (0, ""));
    for data in [&copy, &back] {
        let server = RunningServer::serve(data);
        let content =
            |id: &Value| server.query(token, &format!("{{ getPost(id: {id}) {{ content }} }}"));
        assert_eq!(content(&post)["getPost"]["content"], "hello");
        assert_eq!(content(&later)["getPost"], Value::Null);
        assert_eq!(server.stop(), Some(0));
        let verified = on(data, "verify");
        assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    }
}

#[test]
fn a_restore_time_before_the_backup_is_refused() {
    let town = town();
    let [data, copy, back] = ["data", "copy", "back"].map(|name| town.path().join(name));
    // Data in the log alone could be missing; now it is in the tree.
    assert_eq!(on(&data, "verify").status, 0);
    assert_eq!(run(&["backup"], &[("", &copy), ("--data", &data)]).status, 0);
    let early =
        run(&["restore", "--at", "2020-01-01T00:00:00Z"], &[("", &copy), ("--data", &back)]);
    assert_eq!((early.status, early.out.as_str()), (1, ""));
    assert!(early.err.contains("cannot restore to that point"), "{}", early.err);
    assert!(!back.exists());
    assert!(early.err.contains("the archive cover 20"), "{}", early.err);
    // It once restored the last state that it had.
    let late = run(&["restore", "--at", "2099-01-01T00:00:00Z"], &[("", &copy), ("--data", &back)]);
    assert_eq!((late.status, late.out.as_str()), (1, ""));
    assert_eq!(late.err, early.err, "the range that is covered");
    assert!(late.err.contains("leave out --at for everything"), "{}", late.err);
    assert!(!back.exists());
    // A time of the range that was printed.
    let last = late.err.split(" to ").last().unwrap().split(',').next().unwrap();
    let within = run(&["restore", "--at", last], &[("", &copy), ("--data", &back)]);
    assert_eq!((within.status, within.err.as_str()), (0, ""), "{last}");
    check(&back);
    let wrong = run(&["restore", "--at", "noon"], &[("", &copy), ("--data", &back)]);
    assert_eq!((wrong.status, wrong.out.as_str()), (2, ""));
}

#[test]
fn a_missing_store_is_not_copied() {
    let town = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| town.path().join(name));
    for (words, refusal) in
        [("backup", "there is no such directory"), ("restore", "there is no such backup")]
    {
        let run = run(&[words], &[("", &copy), ("--data", &data)]);
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{words}");
        assert!(run.err.contains(refusal), "{}", run.err);
        assert_eq!(fs::read_dir(town.path()).unwrap().count(), 0);
    }
    // A backup is not an export, and an export is not a backup.
    fs::create_dir_all(copy.join("log")).unwrap();
    let imported = run(&["import"], &[("", &copy), ("--data", &data)]);
    assert!(imported.err.contains("use `roundtable restore`"), "{}", imported.err);
    fs::write(copy.join("gg_core.jsonl"), "").unwrap();
    let restored = run(&["restore"], &[("", &copy), ("--data", &data)]);
    assert!(restored.err.contains("use `roundtable import`"), "{}", restored.err);
}
