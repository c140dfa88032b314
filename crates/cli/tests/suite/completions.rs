//! Shell completions.

use crate::binary::{command, finish};

#[test]
fn every_shell_has_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = finish(command(["completions", shell]));
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{shell}");
        for known in ["roundtable", "demo", "backup", "redrive", "people"] {
            assert!(run.out.contains(known), "{shell}: {known}");
        }
    }
    let run = finish(command(["completions", "dos"]));
    assert_eq!((run.status, run.out.as_str()), (2, ""));
    assert!(run.err.contains("possible values: bash"), "{}", run.err);
}
