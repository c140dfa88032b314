//! A Redis server that the benchmark starts and stops.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub(crate) const HOW_TO_INSTALL: &str = "redis-server was not found in PATH, so there is nothing to \
    compare the fan-out with: `apt install redis-server`, `dnf install redis` or `brew install redis` \
    (it need not be running)";

const TIMEOUT: Duration = Duration::from_secs(10);

/// Syncs every write before its acknowledgement, and never rewrites the log.
const SETTINGS: [(&str, &str); 7] = [
    ("--port", "0"),
    ("--appendonly", "yes"),
    ("--appendfsync", "always"),
    ("--auto-aof-rewrite-percentage", "0"),
    ("--save", ""),
    ("--daemonize", "no"),
    ("--loglevel", "warning"),
];

pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join("redis-server")).find(|file| file.is_file())
}

/// A running server; stops on drop.
#[derive(Debug)]
pub(super) struct Server {
    process: Child,
    socket: PathBuf,
    _dir: TempDir,
}

impl Server {
    /// Starts a server with its files below `dir`, reachable only through a local socket.
    pub(super) fn start(program: &Path, dir: &Path) -> Result<Self> {
        let home = dir.join("redis");
        fs::create_dir(&home)?;
        // Not below `dir`: socket paths must be short.
        let socket_dir = tempfile::Builder::new().prefix("redis-").tempdir()?;
        let socket = socket_dir.path().join("socket");
        let log = home.join("redis.log");
        let mut command = Command::new(program);
        command.current_dir(&home).arg("--unixsocket").arg(&socket);
        SETTINGS.iter().for_each(|(name, value)| {
            command.args([name, value]);
        });
        let process = command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&log)?)
            .stderr(Stdio::null())
            .spawn()
            .context("starting redis-server")?;
        let mut server = Self { process, socket, _dir: socket_dir };
        server.wait_until_ready(&log)?;
        Ok(server)
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    fn wait_until_ready(&mut self, log: &Path) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if std::os::unix::net::UnixStream::connect(&self.socket).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                let stderr = fs::read_to_string(log).unwrap_or_default();
                bail!("Redis ended with {status}: {}", stderr.trim());
            }
            sleep(Duration::from_millis(20));
        }
        bail!("Redis did not start within {} s", TIMEOUT.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
