//! The server of a document, run by the binary in a directory of its own.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that is killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    /// Its output until it was ready.
    pub(crate) output: String,
}

pub(crate) fn binary(directory: &Path, words: &[String]) -> Command {
    let (settings, words): (Vec<_>, Vec<_>) =
        words.iter().partition(|word| word.starts_with("ROUNDTABLE_"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.args(words).current_dir(directory).stdin(Stdio::null());
    command.envs(settings.iter().filter_map(|setting| setting.split_once('=')));
    command
}

impl Server {
    /// Runs `serve` or `demo` at any free port.
    pub(crate) fn start(directory: &Path, words: &[String]) -> Self {
        let mut command = binary(directory, words);
        command.args(["--listen", "127.0.0.1:0"]);
        let (mut child, ready) = if words.iter().any(|word| word == "demo") {
            // A small town is enough.
            let command = command.args(["--people", "30"]).stdout(Stdio::piped());
            (command.spawn().unwrap(), "Ctrl-C stops it.")
        } else {
            let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
            (command.spawn().unwrap(), "listening")
        };
        let out = child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>);
        let err = child.stderr.take().map(|err| Box::new(err) as Box<dyn Read + Send>);
        let mut lines = BufReader::new(out.or(err).unwrap());
        let mut output = String::new();
        while !output.contains(ready) {
            assert!(lines.read_line(&mut output).unwrap() > 0, "it ended: {output}");
        }
        // Drains the output, so that the server never blocks on it.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let url = output.split(['"', ' ', '\n', '=']).find(|word| word.starts_with("http://"));
        let url = url.unwrap().trim_end_matches('/').to_owned();
        Self { child, url, output }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
