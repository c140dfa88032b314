//! `table doc`.

use std::fs;
use std::path::Path;

use crate::binary::{command, finish};

#[test]
fn the_committed_document_is_current() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/TABLE.md");
    let mut check = command(["table", "doc", "--check"]);
    check.arg(committed);
    let run = finish(check);
    assert_eq!(run.status, 0, "{}", run.err);
}

#[test]
fn a_written_document_equals_the_printed_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("TABLE.md");
    let with = |flag: &str| {
        let mut command = command(["table", "doc", flag]);
        command.arg(&path);
        finish(command)
    };
    let printed = finish(command(["table", "doc"]));
    assert_eq!((printed.status, printed.err.as_str()), (0, ""));
    assert!(printed.out.starts_with("# The table\n"));

    let missing = with("--check");
    assert_eq!(missing.status, 1);
    assert!(missing.err.contains("TABLE.md: No such file"), "{}", missing.err);

    let written = with("--write");
    assert_eq!((written.status, written.out.as_str(), written.err.as_str()), (0, "", ""));
    assert_eq!(fs::read_to_string(&path).unwrap(), printed.out);
    let checked = with("--check");
    assert_eq!((checked.status, checked.out.as_str(), checked.err.as_str()), (0, "", ""));
}

#[test]
fn an_outdated_document_exits_with_1_and_shows_the_first_difference() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("TABLE.md");
    let current = finish(command(["table", "doc"])).out;
    let mut lines: Vec<&str> = current.lines().collect();
    let third = lines[2];
    lines[2] = "> Written by hand.";
    lines[9] = "also";
    fs::write(&path, lines.join("\n")).unwrap();
    let mut check = command(["table", "doc", "--check"]);
    check.arg(&path);
    let run = finish(check);
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    let expected = format!("TABLE.md:3: \"> Written by hand.\" should be {third:?}");
    assert!(run.err.contains(&expected), "{}", run.err);
    assert!(run.err.contains("roundtable table doc --write"), "{}", run.err);
    assert!(!run.err.contains("also"), "{}", run.err);
}
