//! A Redis server of our own: started and stopped by the benchmark.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What is said where there is no server to be found.
pub(crate) const HOW_TO_INSTALL: &str = "redis-server was not found in PATH, so there is nothing to \
    compare the fan-out with: `apt install redis-server`, `dnf install redis` or `brew install redis` \
    (it need not be running)";

const PATIENCE: Duration = Duration::from_secs(10);

/// Everything is on disk before it is acknowledged; nothing is rewritten in the meantime.
const SETTINGS: [(&str, &str); 7] = [
    ("--port", "0"),
    ("--appendonly", "yes"),
    ("--appendfsync", "always"),
    ("--auto-aof-rewrite-percentage", "0"),
    ("--save", ""),
    ("--daemonize", "no"),
    ("--loglevel", "warning"),
];

/// Looks for the server in PATH.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join("redis-server")).find(|file| file.is_file())
}

/// A running server; stops with this value.
#[derive(Debug)]
pub(super) struct Server {
    process: Child,
    socket: PathBuf,
    _dir: TempDir,
}

impl Server {
    /// Starts a server with its files below `dir`, which can be reached through a socket of this
    /// machine only.
    pub(super) fn start(program: &Path, dir: &Path) -> Result<Self> {
        let home = dir.join("redis");
        fs::create_dir(&home)?;
        // Not below `dir`: the path of a socket must be short.
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
        while started.elapsed() < PATIENCE {
            if std::os::unix::net::UnixStream::connect(&self.socket).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                let said = fs::read_to_string(log).unwrap_or_default();
                bail!("Redis ended with {status}: {}", said.trim());
            }
            sleep(Duration::from_millis(20));
        }
        bail!("Redis did not start within {} s", PATIENCE.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
