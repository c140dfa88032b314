//! Runs the binary.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn command<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn finish(mut command: Command) -> Run {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { status: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
}
