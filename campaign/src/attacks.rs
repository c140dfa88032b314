//! Attacks on a running server, as a client on the network can make them: the product's own program with
//! 1,024 descriptors, which is stopped if its anonymous memory passes 1 GB. Meanwhile a signed-in user of
//! another address reads feed pages, and an operator asks whether the server is ready.

mod addresses;
mod answer;
mod attacked_server;
mod connections;
mod cross_site;
mod cursors;
mod documents;
mod issuer;
mod keys;
mod media_paths;
mod nicknames;
mod passwords;
mod scene;
mod sessions;
mod size;
mod sockets;
mod strangers;
mod subscriptions;
mod tokens;
mod unread;
mod uploads;
mod watch;
mod webhooks;

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::attacked_server::AttackedServer;
use self::issuer::TokenIssuer;
use self::scene::AttackScene;
pub use self::size::AttackSize;
pub use self::watch::AttackFigures;

/// The descriptors of the server, and so the most connections and files that it has open.
const DESCRIPTORS: u64 = 1_024;
/// Descriptors of this process, besides those of an attack.
const OWN_DESCRIPTORS: u64 = 500;

/// One attack, and what must hold.
struct AttackCase {
    name: &'static str,
    /// Holds besides that the reader's pages come in time, the server stays ready, and nothing is left behind.
    expected: &'static str,
    /// Returns what the attacker saw, or how the expectation was not met.
    run: fn(&AttackScene<'_>) -> Result<String>,
}

const CASES: &[&[AttackCase]] = &[
    sessions::CASES,
    tokens::CASES,
    cross_site::CASES,
    keys::CASES,
    subscriptions::CASES,
    addresses::CASES,
    passwords::CASES,
    uploads::CASES,
    media_paths::CASES,
    connections::CASES,
    sockets::CASES,
    unread::CASES,
    documents::CASES,
    cursors::CASES,
    webhooks::CASES,
    nicknames::CASES,
];

/// Returns the names of all attacks, and what must hold during each.
pub fn attack_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.iter().copied().flatten().map(|case| (case.name, case.expected))
}

/// Runs every attack against the program `roundtable` at a path, and returns the figures of each, or all
/// findings. The seed decides the order, and what is forged; figures are shown as they come.
pub fn attack(
    program: &Path,
    size: &AttackSize,
    seed: u64,
    show: &mut dyn FnMut(&AttackFigures),
) -> Result<Vec<AttackFigures>, String> {
    attack_all(program, size, seed, show).map_err(|error| format!("{error:#}"))
}

fn attack_all(
    program: &Path,
    size: &AttackSize,
    seed: u64,
    show: &mut dyn FnMut(&AttackFigures),
) -> Result<Vec<AttackFigures>> {
    allow_descriptors(size.descriptors())?;
    let directory = tempfile::tempdir()?;
    let mut random = StdRng::seed_from_u64(seed);
    let mut cases: Vec<&AttackCase> = CASES.iter().copied().flatten().collect();
    cases.shuffle(&mut random);
    let issuer = TokenIssuer::start().context("starting an issuer of tokens")?;
    let settings = size.settings(&issuer.url);
    let server = AttackedServer::start(program, directory.path(), DESCRIPTORS, &settings)?;
    let scene = AttackScene::set(&server, size, &issuer, random)?;
    let (mut all, mut findings) = (Vec::new(), Vec::new());
    for case in cases {
        let (figures, found) = watch::during(&scene, case);
        show(&figures);
        all.push(figures);
        let of_case = |finding| format!("{}: {finding} (expected: {})", case.name, case.expected);
        findings.extend(found.into_iter().map(of_case));
        if !server.is_running() {
            findings.push(format!("the server ended; its log: {}", server.log_end()));
            break;
        }
    }
    drop(scene);
    if server.is_running() {
        findings.extend(server.stop_and_verify().err().map(|error| format!("{error:#}")));
    }
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    Ok(all)
}

/// Raises the limit on this process's open files: it has the other ends of the server's sockets, and those
/// that the server has not accepted.
fn allow_descriptors(sockets: u64) -> Result<()> {
    let wanted = sockets + OWN_DESCRIPTORS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum };
        setrlimit(Resource::Nofile, raised).with_context(|| {
            format!("attacks need {wanted} open files; raise the hard limit (`ulimit -Hn`)")
        })?;
    }
    Ok(())
}
