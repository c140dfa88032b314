//! The server that a document is about, run by the binary in a directory of its own.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that runs until it is forgotten.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// How it is reached.
    pub(crate) url: String,
    /// What it printed until then.
    pub(crate) said: String,
}

/// The binary, in a directory.
pub(crate) fn binary(directory: &Path, words: &[String]) -> Command {
    let (settings, words): (Vec<_>, Vec<_>) =
        words.iter().partition(|word| word.starts_with("ROUNDTABLE_"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.args(words).current_dir(directory).stdin(Stdio::null());
    command.envs(settings.iter().filter_map(|setting| setting.split_once('=')));
    command
}

impl Server {
    /// Runs `serve` or `demo`, at whichever port is free.
    pub(crate) fn start(directory: &Path, words: &[String]) -> Self {
        let mut command = binary(directory, words);
        command.args(["--listen", "127.0.0.1:0"]);
        let (mut child, ready) = if words.iter().any(|word| word == "demo") {
            // A hamlet does as well as a town.
            let command = command.args(["--people", "30"]).stdout(Stdio::piped());
            (command.spawn().unwrap(), "Ctrl-C stops it.")
        } else {
            let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
            (command.spawn().unwrap(), "listening")
        };
        let out = child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>);
        let err = child.stderr.take().map(|err| Box::new(err) as Box<dyn Read + Send>);
        let mut lines = BufReader::new(out.or(err).unwrap());
        let mut said = String::new();
        while !said.contains(ready) {
            assert!(lines.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        // Somebody must listen, or it would stop speaking.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let url = said.split(['"', ' ', '\n', '=']).find(|word| word.starts_with("http://"));
        let url = url.unwrap().trim_end_matches('/').to_owned();
        Self { child, url, said }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
