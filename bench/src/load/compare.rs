//! The same home feeds by GraphQL servers of Node on Postgres, in the same run and with the same client.

mod peers;
mod same_pages;

use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, bail};
use roundtable_test_client::{Connection, get, graphql};
use serde_json::{Value, json};

use self::peers::{Peer, PeerKind, PeerSetup};
use super::describe;
use super::peak::{self, PeakSubject};
use super::requests::{FEED, RequestKind};
use super::rows::report_peaks;
use super::server::ServerProcess;
use crate::feed::{AppPostgres, Seed, seed};
use crate::machine;
use crate::postgres::{HOW_TO_INSTALL, Programs};
use crate::progress::log_step;
use crate::report::Report;

/// The required ratio to the better of the servers that are configured, not written by hand.
const CONFIGURED_MIN: f64 = 5.0;
/// The required ratio to the statement that is written by hand.
const BY_HAND_MIN: f64 = 3.0;

/// A server with the requests of all readers.
struct ComparedServer {
    name: &'static str,
    address: SocketAddr,
    processes: Vec<u32>,
    requests: Vec<Vec<u8>>,
}

/// Measures all servers and reports the ratios.
pub(super) fn run(root: &Path, size: &Seed, quick: bool) -> Result<Report> {
    let Some(programs) = Programs::find() else { bail!(HOW_TO_INSTALL) };
    let setup = PeerSetup::find()?;
    let names = PeerKind::ALL.map(PeerKind::name);
    let mut report = Report::new([&["ours"][..], &names].concat());
    report.note(describe(size));
    report.note(programs.version()?);
    report.note(setup.versions()?);
    log_step("creating a town");
    let data = root.join("data");
    let (town, ()) = seed(&data, size, async |_, _| Ok(()))?;
    let postgres = AppPostgres::fill(&programs, root, &town)?;
    report.note(format!("the query of Postgres: {}", postgres.query()));
    let readers = town.readers();
    drop(town);
    log_step("starting all servers");
    let server = ServerProcess::start(&data, &readers)?;
    let keys = Connection::open(server.address)?
        .request(&get(server.address, "/.well-known/jwks.json"))
        .and_then(|body| Ok(serde_json::from_slice::<Value>(body)?))?;
    let mut servers = vec![ComparedServer {
        name: "ours",
        address: server.address,
        processes: vec![server.process()],
        requests: of_readers(&server, server.address, FEED),
    }];
    let mut peers = Vec::new();
    for kind in PeerKind::ALL {
        let peer = Peer::start(&setup, kind, root, &postgres, &keys)?;
        servers.push(ComparedServer {
            name: kind.name(),
            address: peer.address,
            processes: vec![peer.process(), postgres.process()],
            requests: of_readers(&server, peer.address, kind.document()),
        });
        peers.push(peer);
    }
    same_pages::check(&servers)?;
    machine::settle(root)?;
    measure(&servers, quick, &mut report)?;
    for peer in peers {
        peer.stop()?;
    }
    server.stop()?;
    Ok(report)
}

fn measure(servers: &[ComparedServer], quick: bool, report: &mut Report) -> Result<()> {
    let subjects = servers.iter().map(|server| PeakSubject {
        name: server.name,
        address: server.address,
        processes: server.processes.clone(),
        request: Box::new(|number| Cow::Borrowed(server.request(number))),
        kind: RequestKind::Feed,
    });
    let figures = peak::measure(&subjects.collect::<Vec<_>>(), quick)?;
    report_peaks(&figures, report);
    report.note("the processor time of the others is that of the server and of Postgres");
    let per_second: Vec<f64> = figures.iter().map(peak::PeakFigures::per_second).collect();
    let (ours, peers) = per_second.split_first().context("nothing was measured")?;
    let best = |by_hand: bool| {
        let of_kind = PeerKind::ALL.into_iter().zip(peers);
        let of_kind = of_kind.filter(|(kind, _)| kind.is_by_hand() == by_hand);
        of_kind.map(|(_, figure)| *figure).fold(f64::MIN_POSITIVE, f64::max)
    };
    report.at_least("compare-configured", ours / best(false), CONFIGURED_MIN);
    report.at_least("compare-by-hand", ours / best(true), BY_HAND_MIN);
    Ok(())
}

impl ComparedServer {
    fn request(&self, number: usize) -> &[u8] {
        self.requests.get(number % self.requests.len().max(1)).map_or(&[], |request| request)
    }
}

fn of_readers(server: &ServerProcess, address: SocketAddr, document: &str) -> Vec<Vec<u8>> {
    let tokens = server.tokens.iter();
    tokens.map(|token| graphql(address, Some(token), document, &json!({}))).collect()
}
