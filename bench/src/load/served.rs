//! The server as whoever asks it sees it: another process, with an address, tokens for its readers, and
//! what it takes of the machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use roundtable_model::UserId;

use crate::machine;

/// What a page takes in the server's own process, in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    /// The service alone.
    pub(super) service: Option<f64>,
    /// The document, as the API answers it.
    pub(super) graphql: Option<f64>,
    /// The least that can be asked.
    pub(super) typename: Option<f64>,
}

/// A server that runs; ends with this value.
#[derive(Debug)]
pub(super) struct Served {
    child: Child,
    pub(super) address: SocketAddr,
    /// One of each reader.
    pub(super) tokens: Vec<String>,
    pub(super) inside: Inside,
}

impl Served {
    /// Starts one on this directory, and waits until it has all in memory that it keeps there.
    pub(super) fn start(data: &Path, readers: &[UserId]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["load", "--serve"]).arg(data);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.context("starting a process of our own")?;
        let lines: Vec<String> = readers.iter().map(ToString::to_string).collect();
        let mut stdin = child.stdin.as_ref().context("no way to talk to it")?;
        stdin.write_all(format!("{}\n\n", lines.join("\n")).as_bytes())?;
        let stdout = BufReader::new(child.stdout.take().context("no way to hear it")?);
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut served = Self { child, address, tokens: Vec::new(), inside: Inside::default() };
        for line in stdout.lines() {
            let line = line?;
            match line.split_once(' ') {
                Some(("address", address)) => served.address = address.parse()?,
                Some(("token", token)) => served.tokens.push(token.to_owned()),
                Some(("service", us)) => served.inside.service = Some(us.parse()?),
                Some(("graphql", us)) => served.inside.graphql = Some(us.parse()?),
                Some(("typename", us)) => served.inside.typename = Some(us.parse()?),
                _ => break,
            }
        }
        ensure!(served.tokens.len() == readers.len(), "the server did not come up");
        Ok(served)
    }

    /// What it has in memory, in megabytes: all of it, and the part that no file is behind.
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory stay below 2^52")]
    pub(super) fn memory_mb(&self) -> Result<(f64, f64)> {
        let (all, anonymous) = machine::resident_bytes(self.child.id())?;
        Ok((all as f64 / 1e6, anonymous as f64 / 1e6))
    }

    /// The processor time it has used so far.
    pub(super) fn cpu_time(&self) -> Result<Duration> {
        machine::cpu_time(self.child.id())
    }

    /// Brings it to its end, which must be a good one.
    pub(super) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It has ended already, unless something went wrong.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
