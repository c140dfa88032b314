//! A server that the binary runs, and a client for it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::command;

/// Time for a response on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A server that is killed when dropped.
pub(crate) struct RunningServer {
    child: Child,
    pub(crate) url: String,
    /// Its output until it was ready.
    pub(crate) output: String,
}

impl RunningServer {
    pub(crate) fn serve(data: &Path) -> Self {
        let mut command = command(["serve", "--data"]);
        command.arg(data);
        Self::serve_as(command)
    }

    /// Serves with this command, at any free port.
    pub(crate) fn serve_as(mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        Self::start(command, |child| Box::new(child.stderr.take().unwrap()), "listening")
    }

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

    pub(crate) fn ask(&self, token: Option<&str>, query: &str) -> Value {
        ask(&self.url, token, query).unwrap()
    }

    /// The data of a response, which must have no errors.
    pub(crate) fn query(&self, token: Option<&str>, query: &str) -> Value {
        let mut answer = self.ask(token, query);
        assert_eq!(answer["errors"], Value::Null, "{query}: {answer}");
        answer["data"].take()
    }

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

    /// Stops the server and waits for its exit status.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal_stop();
        self.child.wait().unwrap().code()
    }

    pub(crate) fn signal_stop(&self) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The response of a server, if it is up.
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
    connection.set_read_timeout(Some(TIMEOUT))?;
    connection.write_all(format!("{head}{body}").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}
