//! Flags override variables, a file and defaults, in every command about an installation.

use std::fs;
use std::path::Path;

use crate::binary::{Run, command, finish};
use crate::catch_up::stopped;
use crate::serving::RunningServer;

fn run(at: &Path, line: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = command(line.split_whitespace());
    command.current_dir(at).envs(variables.iter().copied());
    finish(command)
}

#[test]
fn a_flag_overrides_a_variable_and_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("a.toml"), "[http]\nlisten = \"in the file\"\n").unwrap();
    let variable = [("ROUNDTABLE_HTTP__LISTEN", "in a variable")];
    for (line, variables, from) in [
        ("serve --config a.toml", &[][..], "a.toml"),
        ("serve --config a.toml", &variable, "ROUNDTABLE_HTTP__LISTEN"),
        ("serve --config a.toml --listen flag", &variable, "--listen"),
    ] {
        let refused = run(at, line, variables);
        assert_eq!((refused.status, refused.out.as_str()), (1, ""));
        let output = format!("http.listen: invalid socket address syntax (from {from})");
        assert!(refused.err.contains(&output), "{line}: {}", refused.err);
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 1, "something was made");
    // Overridden values are not read.
    let mut serve = command(["serve", "--config", "a.toml"]);
    serve.current_dir(at).envs(variable);
    assert_eq!(RunningServer::serve_as(serve).stop(), Some(0));
    assert!(at.join("data/secret.key").exists(), "the default of what nobody said");
}

#[test]
fn every_command_finds_the_store_that_is_configured() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    stopped(&at.join("here"), roundtable_testkit::Town::settings(), async |_| {});
    let (kind, data) = ("ROUNDTABLE_STORE__KIND", "ROUNDTABLE_STORE__DATA");
    fs::write(at.join("a.toml"), "[store]\ndata = \"here\"\n").unwrap();
    fs::write(at.join("b.toml"), "[store]\ndata = \"nowhere\"\n").unwrap();
    let dump = "import dump --config a.toml --data there";
    for (line, variables, output) in [
        ("admin grant ana admin --config a.toml", &[][..], "roles: user, admin\n"),
        ("admin grant ana admin", &[(data, "here")], "roles: user, admin\n"),
        ("admin grant ana admin --config b.toml", &[(data, "here")], "roles: user, admin\n"),
        ("admin grant bo admin --data here", &[(data, "nowhere")], "roles: user, admin\n"),
        ("verify --config a.toml", &[], "nothing found\n"),
        ("table create --config a.toml", &[], "gg_core: exists\n"),
        ("backup copy --config a.toml", &[], "copy: everything up to change "),
        ("restore copy --config b.toml", &[(data, "back")], "back: everything up to change "),
        ("export dump", &[(data, "back")], "gg_core.jsonl: "),
        (dump, &[], "gg_core: "),
        ("verify", &[(data, "there")], "nothing found\n"),
        ("backup two --data here", &[(kind, "dynamodb")], "two: everything up to change "),
    ] {
        let done = run(at, line, variables);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{line}: {}", done.out);
        assert!(done.out.contains(output), "{line}: {}", done.out);
    }
    assert!(!at.join("data").exists() && !at.join("nowhere").exists());
    let elsewhere = run(at, "backup three", &[(kind, "dynamodb")]);
    assert_eq!((elsewhere.status, elsewhere.out.as_str()), (1, ""));
    assert!(elsewhere.err.contains("point-in-time recovery"), "{}", elsewhere.err);
}

/// Tables can have names of their own; exported files have those of the schema.
#[test]
fn table_names_follow_the_configuration() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let names = "[tables]\ncore = \"town\"\nlogins = \"tries\"\nops = \"work\"\n";
    fs::write(at.join("a.toml"), names).unwrap();
    let made = run(at, "table create --config a.toml", &[]);
    assert_eq!((made.status, made.err.as_str()), (0, ""));
    assert!(made.out.starts_with("town: created\n"), "{}", made.out);
    let exported = run(at, "export dump --config a.toml", &[]);
    assert_eq!((exported.status, exported.err.as_str()), (0, ""));
    assert!(exported.out.contains("gg_core.jsonl: 0 items\n"), "{}", exported.out);
    let missing = run(at, "export other", &[]);
    assert_eq!(missing.status, 1);
    assert!(missing.err.contains("gg_core"), "{}", missing.err);
}
