//! A Postgres server that the benchmark creates, starts and stops.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

pub(crate) const HOW_TO_INSTALL: &str = "Postgres was not found in PATH or \
    /usr/lib/postgresql/*/bin, so there is nothing to compare with: `apt install postgresql`, \
    `dnf install postgresql-server` or `brew install postgresql` (it need not be running)";

/// The user of the Postgres process if we are root, which Postgres refuses.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
/// Distributions install the programs here by version, not in PATH.
const INSTALLED: &str = "/usr/lib/postgresql";
const TIMEOUT: Duration = Duration::from_secs(30);

/// Syncs every commit before its acknowledgement. The rest suits this load: memory for all data, and no
/// checkpoint during a window.
const SETTINGS: [&str; 11] = [
    "listen_addresses=",
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "wal_level=minimal",
    "max_wal_senders=0",
    "shared_buffers=1GB",
    "wal_buffers=64MB",
    "max_wal_size=16GB",
    "checkpoint_timeout=1h",
    "max_connections=100",
];

#[derive(Clone, Debug)]
pub(crate) struct Programs {
    dir: PathBuf,
}

impl Programs {
    /// Searches PATH, then the directories of distributions, newest version first.
    pub(crate) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let installed = fs::read_dir(INSTALLED).into_iter().flatten().flatten();
        let mut installed: Vec<PathBuf> = installed.map(|entry| entry.path()).collect();
        let version = |dir: &PathBuf| -> u32 {
            dir.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0)
        };
        installed.sort_by_key(|dir| std::cmp::Reverse(version(dir)));
        std::env::split_paths(&path)
            .chain(installed.into_iter().map(|dir| dir.join("bin")))
            .find(|dir| ["initdb", "postgres"].iter().all(|name| dir.join(name).is_file()))
            .map(|dir| Self { dir })
    }

    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new(self.dir.join("postgres")).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    uid: u32,
    gid: u32,
}

impl Owner {
    /// Returns the user for the server, or `None` if it can be the current one.
    fn needed() -> Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let users = fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
        let of = |name: &&str| {
            let user = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let mut ids = user.split(':').skip(1).map(str::parse);
            Some(Self { uid: ids.next()?.ok()?, gid: ids.next()?.ok()? })
        };
        let found = UNPRIVILEGED.iter().find_map(of);
        let names = UNPRIVILEGED.join(" or ");
        found.map(Some).with_context(|| format!("Postgres refuses root, and there is no {names}"))
    }
}

/// A running server; stops on drop.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    socket: TempDir,
    log: PathBuf,
}

impl Server {
    /// Creates a database below `dir` and starts its server, reachable only through a local socket. The settings
    /// `besides` come last, so they prevail.
    pub(crate) fn start(programs: &Programs, dir: &Path, besides: &[&str]) -> Result<Self> {
        let owner = Owner::needed()?;
        let dir = fs::canonicalize(dir)?;
        let home = dir.join("postgres");
        fs::create_dir(&home)?;
        // Not below `dir`: socket paths must be short.
        let socket = tempfile::Builder::new().prefix("pg-").tempdir()?;
        if let Some(Owner { uid, gid }) = owner {
            // The server's user needs only search permission on parent directories.
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o711))?;
            for own in [home.as_path(), socket.path()] {
                chown(own, Some(uid), Some(gid))?;
            }
        }
        let command = |program: &str| {
            let mut command = Command::new(programs.dir.join(program));
            command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
            if let Some(Owner { uid, gid }) = owner {
                command.uid(uid).gid(gid);
            }
            command
        };
        let data = home.join("data");
        let made = command("initdb")
            .args(["--auth=trust", "--username=bench", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .context("starting initdb")?;
        let stderr = String::from_utf8_lossy(&made.stderr);
        ensure!(made.status.success(), "initdb: {}", stderr.trim());
        let log = dir.join("postgres.log");
        let mut server = command("postgres");
        server.arg("-D").arg(&data).arg("-k").arg(socket.path());
        SETTINGS.iter().chain(besides).for_each(|setting| {
            server.args(["-c", setting]);
        });
        let process = server.stdout(Stdio::null()).stderr(fs::File::create(&log)?).spawn()?;
        let mut server = Self { process, socket, log };
        server.wait_until_ready()?;
        Ok(server)
    }

    pub(crate) fn socket(&self) -> &Path {
        self.socket.path()
    }

    /// The id of the server's first process, the parent of the others.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            if log.contains("database system is ready to accept connections") {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                bail!("Postgres ended with {status}: {}", log.trim());
            }
            sleep(Duration::from_millis(50));
        }
        bail!("Postgres did not start within {} s", TIMEOUT.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Postgres' "fast" shutdown; the rest is a fallback.
        let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
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
