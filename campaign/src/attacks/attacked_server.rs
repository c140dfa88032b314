//! The server under attack: the product's program in a process of its own, with few descriptors.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use parking_lot::Mutex;
use roundtable_test_client::resident_bytes;
use rustix::process::{Pid, Signal, kill_process};

/// Lines of the log that a finding shows.
const LINES_KEPT: usize = 40;
/// The time that a shutdown may take.
const STOP_TIME: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A running server, which is killed on drop.
pub(super) struct AttackedServer {
    program: PathBuf,
    data: PathBuf,
    child: Mutex<Child>,
    pub(super) process: u32,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<ServerLog>>,
}

#[derive(Debug, Default)]
struct ServerLog {
    last: VecDeque<String>,
    /// The first line that tells of a panic.
    panic: Option<String>,
}

impl AttackedServer {
    /// Starts the program on a data directory of its own, with this limit on open files.
    pub(super) fn start(
        program: &Path,
        directory: &Path,
        descriptors: u64,
        settings: &str,
    ) -> Result<Self> {
        let (data, config) = (directory.join("data"), directory.join("roundtable.toml"));
        std::fs::write(&config, settings)?;
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"")])
            .arg(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&config)
            .arg("--data")
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("starting the server")?;
        let lines = child.stderr.take().context("the server has no standard error")?;
        let (process, log) = (child.id(), Arc::<Mutex<ServerLog>>::default());
        let mut lines = BufReader::new(lines);
        let address = match listening_address(&mut lines, &log) {
            Ok(address) => address,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let shared = Arc::clone(&log);
        // Until the server ends: it must never wait for us to read its log.
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                shared.lock().add(line);
            }
        });
        let (program, child) = (program.to_path_buf(), Mutex::new(child));
        Ok(Self { program, data, child, process, address, log })
    }

    /// Returns the anonymous part of the resident memory.
    pub(super) fn anonymous_bytes(&self) -> Result<u64> {
        Ok(resident_bytes(self.process)?.1)
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.child.lock().try_wait(), Ok(None))
    }

    pub(super) fn kill(&self) {
        let mut child = self.child.lock();
        // It may have ended already.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Returns the files of the data directory below this name.
    pub(super) fn data(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// Runs `roundtable admin` as the operator does.
    pub(super) fn admin(&self, arguments: &[&str]) -> Result<()> {
        let arguments = ["admin"].iter().chain(arguments).map(OsStr::new);
        self.run(arguments).map(drop)
    }

    /// Returns the end of the log.
    pub(super) fn log_end(&self) -> String {
        let log = self.log.lock();
        log.last.iter().flat_map(|line| ["\n  ", line]).collect()
    }

    /// Returns the first line of the log that tells of a panic.
    pub(super) fn panic(&self) -> Option<String> {
        self.log.lock().panic.clone()
    }

    /// Stops the server as an operator does, and verifies its store.
    pub(super) fn stop_and_verify(&self) -> Result<()> {
        let process = i32::try_from(self.process).ok().and_then(Pid::from_raw);
        kill_process(process.context("no process")?, Signal::TERM)?;
        let deadline = Instant::now() + STOP_TIME;
        let status = loop {
            if let Some(status) = self.child.lock().try_wait()? {
                break status;
            }
            ensure!(Instant::now() < deadline, "the server did not stop");
            std::thread::sleep(POLL_INTERVAL);
        };
        ensure!(status.success(), "the server ended with {status}: {}", self.log_end());
        self.run(["verify"].map(OsStr::new)).map(drop)
    }

    fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg("--data").arg(&self.data).stdin(Stdio::null());
        let output = command.output().context("running the program")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        ensure!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
        Ok(output)
    }
}

impl Drop for AttackedServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl ServerLog {
    fn add(&mut self, line: String) {
        if self.panic.is_none() && line.contains("panicked") {
            self.panic = Some(line.clone());
        }
        if self.last.len() >= LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }
}

/// Reads the log until the server says where it listens.
fn listening_address(
    lines: &mut BufReader<ChildStderr>,
    log: &Mutex<ServerLog>,
) -> Result<SocketAddr> {
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            bail!("the server did not start: {:?}", log.lock().last);
        }
        let mut words = line.split(['"', ' ', '\n', '=']);
        let url = words.find_map(|word| word.strip_prefix("http://")).map(str::to_owned);
        let is_listening = line.contains("listening");
        log.lock().add(line);
        if let (true, Some(url)) = (is_listening, url) {
            return Ok(url.trim_end_matches('/').parse()?);
        }
    }
}
