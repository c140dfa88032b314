//! A server that the binary runs, and what it answers.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::command;

/// How long an answer may take, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server that runs until it is told to stop, or forgotten.
pub(crate) struct Running {
    child: Child,
    /// How it is reached.
    pub(crate) url: String,
    /// What it said until it was reached.
    pub(crate) said: String,
}

impl Running {
    /// Serves a data directory.
    pub(crate) fn serve(data: &Path) -> Self {
        let mut command = command(["serve", "--data"]);
        command.arg(data);
        Self::serve_as(command)
    }

    /// Serves as this command says, at any free port.
    pub(crate) fn serve_as(mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        Self::start(command, |child| Box::new(child.stderr.take().unwrap()), "listening")
    }

    /// Serves a sample town of so many people.
    pub(crate) fn demo(data: &Path, people: &str) -> Self {
        let mut command =
            command(["demo", "--listen", "127.0.0.1:0", "--people", people, "--data"]);
        command.arg(data).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Self::start(command, |child| Box::new(child.stdout.take().unwrap()), "Ctrl-C stops it.")
    }

    fn start(
        mut command: Command,
        voice: impl FnOnce(&mut Child) -> Box<dyn std::io::Read + Send>,
        ready: &str,
    ) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(voice(&mut child));
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

    /// What it answers to a query.
    pub(crate) fn ask(&self, token: Option<&str>, query: &str) -> Value {
        ask(&self.url, token, query).unwrap()
    }

    /// What it answers to a query that must be well.
    pub(crate) fn told(&self, token: Option<&str>, query: &str) -> Value {
        let mut answer = self.ask(token, query);
        assert_eq!(answer["errors"], Value::Null, "{query}: {answer}");
        answer["data"].take()
    }

    /// A token for somebody.
    pub(crate) fn sign_in(&self, email: &str, password: &str) -> Result<String, Value> {
        let query = format!(
            "mutation {{ login(email: \"{email}\", password: \"{password}\") {{ accessToken }} }}"
        );
        let answer = self.ask(None, &query);
        let token =
            answer.pointer("/data/login/accessToken").and_then(Value::as_str).map(str::to_owned);
        let code = answer.pointer("/errors/0/extensions/code").cloned();
        token.ok_or_else(|| code.unwrap_or_default())
    }

    /// Tells it to stop, and waits until it has; its status.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.tell_to_stop();
        self.child.wait().unwrap().code()
    }

    /// Tells it to stop, which may take a while.
    pub(crate) fn tell_to_stop(&self) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answers to a query, if it does.
pub(crate) fn ask(url: &str, token: Option<&str>, query: &str) -> io::Result<Value> {
    let address = url.strip_prefix("http://").unwrap();
    let body = json!({ "query": query }).to_string();
    let proof = token.map(|token| format!("authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         connection: close\r\n{}content-length: {}\r\n\r\n",
        proof.unwrap_or_default(),
        body.len()
    );
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.write_all(format!("{head}{body}").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}
