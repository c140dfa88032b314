//! The binary's behaviour towards users and scripts.

use std::io::Read as _;
use std::process::Stdio;

use crate::binary::{command, finish};

#[test]
fn a_wrong_command_line_exits_with_2_and_says_why() {
    for (line, output) in [
        ("", "Usage"),
        ("tabel", "tabel"),
        ("table", "Usage"),
        ("table dok", "similar subcommand exists: 'doc'"),
        ("table doc --check a --write b", "cannot be used with"),
        ("table create --store redis", "possible values: embedded, dynamodb"),
        ("table create --endpoint http://localhost:8000", "needs --store dynamodb"),
        ("table create --store dynamodb --data here", "needs --store embedded"),
        ("table create --store dynamodb --endpoint localhost", "such as http://127.0.0.1:8000"),
        ("table terraform --prefix a/b", "letters, digits"),
        ("table capacity --units --rates x", "cannot be used with"),
        ("verify --store dynamodb --data here", "needs --store embedded"),
        ("verify --limit many", "invalid value"),
        ("verify --no-drain --repair", "cannot be used with"),
        ("demo --people 5", "5 is not in 10..=100000"),
        ("demo --listen here", "invalid socket address"),
        ("backup", "DEST"),
        ("restore", "SRC"),
        ("restore x --at noon", "--at <TIME>"),
        ("import x --store dynamodb --data here", "needs --store embedded"),
        ("xray", "FILE.graphql"),
        ("xray q.graphql --variables []", "expected an object"),
        ("admin", "Usage"),
        ("admin grant ana king", "possible values: moderator, admin"),
        ("admin dlq", "Usage"),
        ("completions", "SHELL"),
    ] {
        let run = finish(command(line.split_whitespace()));
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{line}: {run:?}");
        assert!(run.err.contains(output), "{line}: {}", run.err);
    }
}

#[test]
fn every_help_text_has_its_key_facts() {
    for (line, output) in [
        ("--help", "Exit status"),
        ("table --help", "cloudformation"),
        ("table lint --help", "type-before-time"),
        ("table create --help", "--endpoint http://127.0.0.1:8000"),
        ("table create --help", "does not enable point-in-time recovery and deletion protection"),
        ("table capacity --help", "[reads]"),
        ("verify --help", "I16  nothing stored is damaged"),
        ("verify --help", "Writes nothing"),
        ("serve --help", "ROUNDTABLE_HTTP__LISTEN"),
        ("demo --help", "All other passwords are random"),
        ("backup --help", "keeps serving"),
        ("restore --help", "--at 2026-01-31T12:00:00Z"),
        ("export --help", "{\"Item\": {\"PK\": {\"S\": \"USER#…\"}, …}}"),
        ("import --help", "the store is left unchanged"),
        ("xray --help", "graphql.xray = true"),
        ("admin --help", "through a socket in its data directory"),
        ("admin grant --help", "roundtable admin grant ana admin"),
        ("admin dlq list --help", "0 no dead letters, 1 some dead letters"),
        ("completions --help", "bash_completion.d"),
    ] {
        let run = finish(command(line.split_whitespace()));
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{line}");
        assert!(run.out.contains(output), "{line}: {}", run.out);
    }
}

/// The names of the commands in a help text.
fn commands(words: &str) -> Vec<String> {
    let help = finish(command(words.split_whitespace().chain(["--help"]))).out;
    let Some((_, listed)) = help.split_once("\nCommands:\n") else { return vec![words.to_owned()] };
    let names = listed.lines().take_while(|line| line.starts_with("  "));
    let names = names.filter(|line| !line.starts_with("   ")).map(str::trim);
    let names =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| commands(format!("{words} {name}").trim())).collect()
}

#[test]
fn every_command_shows_how_it_is_called() {
    let all = commands("");
    assert!(all.len() >= 20 && all.iter().any(|words| words == "admin dlq redrive"), "{all:?}");
    for words in all {
        let help = finish(command(words.split_whitespace().chain(["--help"]))).out;
        let called = help.lines().skip_while(|line| !line.starts_with("Options:"));
        let example = format!("  roundtable {words}");
        assert!(called.into_iter().any(|line| line.starts_with(&example)), "{words}: {help}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut doc = command(["table", "doc"]);
    let mut doc = doc.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(doc.stdout.take());
    let status = doc.wait().unwrap();
    let mut output = String::new();
    doc.stderr.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(status.success(), "{status}: {output}");
    assert_eq!(output, "");
}
