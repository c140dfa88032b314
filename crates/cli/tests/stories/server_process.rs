//! Servers run by the binary, each in a process of its own.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use crate::binary::command;

/// A server, killed when dropped.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) url: String,
}

impl ServerProcess {
    /// Runs `roundtable serve` with these arguments and variables, until it listens.
    pub(crate) fn serve<S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = command(["serve", "--listen", "127.0.0.1:0"]);
        command.args(arguments).envs(variables.iter().copied());
        command.envs(EASY).env("ROUNDTABLE_LOG__FORMAT", "json");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut output = String::new();
        let url = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended: {output}");
            let entry: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if entry["message"] == "listening" {
                break entry["url"].as_str().unwrap().to_owned();
            }
            output.push_str(&line);
        };
        // Drains the log; errors are printed for the developer who runs the test.
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if line.contains("\"level\":\"ERROR\"") {
                    let _ = writeln!(std::io::stderr(), "{line}");
                }
            }
        });
        Self { child, url }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the server and waits for its exit status.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// No rate limits, and cheap password hashes.
const EASY: [(&str, &str); 5] = [
    ("ROUNDTABLE_RATES__SIGN_UPS_BURST", "10000"),
    ("ROUNDTABLE_RATES__WRITES_BURST", "10000"),
    ("ROUNDTABLE_LOGIN__HASH_MEMORY_KIB", "64"),
    ("ROUNDTABLE_LOGIN__HASH_PASSES", "1"),
    ("ROUNDTABLE_LOG__LEVEL", "info"),
];

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
