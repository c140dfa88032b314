//! The server process as its client sees it: its address, tokens for its readers, and its use of the
//! machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use roundtable_model::UserId;
use roundtable_test_client::resident_bytes;

/// Times in the server's process, in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct InProcessTimes {
    /// A page by the service alone.
    pub(super) service: Option<f64>,
    /// A page through the API.
    pub(super) graphql: Option<f64>,
    /// The smallest query.
    pub(super) typename: Option<f64>,
}

/// A running server; ends on drop.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    pub(super) address: SocketAddr,
    pub(super) tokens: Vec<String>,
    pub(super) in_process: InProcessTimes,
}

impl ServerProcess {
    /// Starts a server on a directory, and waits until its caches are warm.
    pub(super) fn start(data: &Path, readers: &[UserId]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["load", "--serve"]).arg(data);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.context("starting a child process")?;
        let lines: Vec<String> = readers.iter().map(ToString::to_string).collect();
        let mut stdin = child.stdin.as_ref().context("the server has no standard input")?;
        stdin.write_all(format!("{}\n\n", lines.join("\n")).as_bytes())?;
        let stdout =
            BufReader::new(child.stdout.take().context("the server has no standard output")?);
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server =
            Self { child, address, tokens: Vec::new(), in_process: InProcessTimes::default() };
        for line in stdout.lines() {
            let line = line?;
            match line.split_once(' ') {
                Some(("address", address)) => server.address = address.parse()?,
                Some(("token", token)) => server.tokens.push(token.to_owned()),
                Some(("service", us)) => server.in_process.service = Some(us.parse()?),
                Some(("graphql", us)) => server.in_process.graphql = Some(us.parse()?),
                Some(("typename", us)) => server.in_process.typename = Some(us.parse()?),
                _ => break,
            }
        }
        ensure!(server.tokens.len() == readers.len(), "the server did not start");
        Ok(server)
    }

    /// Returns the resident memory in megabytes: all, and the anonymous part.
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory stay below 2^52")]
    pub(super) fn memory_mb(&self) -> Result<(f64, f64)> {
        let (all, anonymous) = resident_bytes(self.child.id())?;
        Ok((all as f64 / 1e6, anonymous as f64 / 1e6))
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Stops the server; fails if it does not exit cleanly.
    pub(super) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It has ended already, unless there was an error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
