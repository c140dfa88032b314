//! A Postgres server of our own: made, started and stopped by the benchmark.

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

/// What is said where there is no server to be found.
pub(crate) const HOW_TO_INSTALL: &str = "Postgres was not found in PATH or \
    /usr/lib/postgresql/*/bin, so there is nothing to compare with: `apt install postgresql`, \
    `dnf install postgresql-server` or `brew install postgresql` (it need not be running)";

/// Whom Postgres runs as when we are root, which it refuses.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];
/// Distributions install the programs here, by version, and not into PATH.
const INSTALLED: &str = "/usr/lib/postgresql";
const PATIENCE: Duration = Duration::from_secs(30);

/// Everything is on disk before it is acknowledged. The rest is what suits this load: room in memory
/// for all of the data, and no checkpoint in the middle of a window.
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

/// Where the server's programs are.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    dir: PathBuf,
}

impl Programs {
    /// Looks in PATH, then where distributions put them, the newest first.
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

    /// What the server calls itself.
    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new(self.dir.join("postgres")).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

/// An unprivileged user of this machine.
#[derive(Clone, Copy, Debug)]
struct Owner {
    uid: u32,
    gid: u32,
}

impl Owner {
    /// Whom the server runs as; `None` when that can be us.
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

/// A running server; stops with this value.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    socket: TempDir,
    log: PathBuf,
}

impl Server {
    /// Makes a new database below `dir` and starts its server, which can be reached through a socket
    /// of this machine only. The settings `besides` come last, so they prevail.
    pub(crate) fn start(programs: &Programs, dir: &Path, besides: &[&str]) -> Result<Self> {
        let owner = Owner::needed()?;
        let dir = fs::canonicalize(dir)?;
        let home = dir.join("postgres");
        fs::create_dir(&home)?;
        // Not below `dir`: the path of a socket must be short.
        let socket = tempfile::Builder::new().prefix("pg-").tempdir()?;
        if let Some(Owner { uid, gid }) = owner {
            // Passing through is all that the server's user may do outside of its own.
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
        let said = String::from_utf8_lossy(&made.stderr);
        ensure!(made.status.success(), "initdb: {}", said.trim());
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

    /// The directory of its socket.
    pub(crate) fn socket(&self) -> &Path {
        self.socket.path()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let said = fs::read_to_string(&self.log).unwrap_or_default();
            if said.contains("database system is ready to accept connections") {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                bail!("Postgres ended with {status}: {}", said.trim());
            }
            sleep(Duration::from_millis(50));
        }
        bail!("Postgres did not start within {} s", PATIENCE.as_secs())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its own "fast" way to stop; the rest is in case it does not.
        let _ = kill_process(Pid::from_child(&self.process), Signal::INT);
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
