//! `table create` against the server that `ROUNDTABLE_DYNAMODB_ENDPOINT` names:
//!
//! ```text
//! scripts/dynamodb-local.sh cargo test -p roundtable --test endpoint
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot reach its server has failed")]

#[path = "suite/binary.rs"]
mod binary;

use std::io::Write as _;
use std::time::SystemTime;

use binary::{command, finish};

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";

#[test]
fn the_server_and_the_embedded_store_describe_equal_tables() {
    let Ok(address) = std::env::var(VARIABLE) else {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
        return;
    };
    // A server may outlive many tests, and no two of them should meet.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let prefix = format!("cli_{}_{}_", now.as_nanos(), std::process::id());
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
