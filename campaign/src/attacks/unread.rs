//! Clients that ask for long answers, and do not read them.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use roundtable_test_client::{STREAMS_PER_CONNECTION, hold_unread};
use serde_json::json;

use super::AttackCase;
use super::documents::{post, posts_by_aliases};
use super::scene::{AttackScene, STRANGERS};
use super::size::AttackSize;

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "zero-window-streams",
        expected: "unread answers stay within their budget, and HTTP/2 clients that read nothing lose their \
                   connection",
        run: read_no_streams,
    },
    AttackCase {
        name: "slow-readers",
        expected: "unread answers stay within their budget, and clients that read nothing lose their \
                   connection",
        run: read_nothing,
    },
];

const UNREAD: &str = "roundtable_graphql_unread_answer_bytes";
/// The default budget of unread answers.
const UNREAD_MAX: f64 = 67_108_864.0;
/// As many as fit into the longest answer.
const ALIASES: usize = 35;
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A client has as long again to end what else is under way.
const GRACE: u64 = 2;

fn read_no_streams(scene: &AttackScene<'_>) -> Result<String> {
    let body = json!({ "query": posts_by_aliases(&scene.writer.id, ALIASES) }).to_string();
    let limit = AttackSize::deadline(GRACE * scene.size.slow_seconds);
    let connections = scene.size.http2_connections;
    let hold_all = || -> Result<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let clients = STRANGERS.into_iter().cycle().take(connections);
            let address = scene.server.address;
            let held = clients.map(|own| hold_unread(own, address, body.clone().into(), limit));
            let held = futures::future::join_all(held).await;
            // A connection that the server did not let in is closed as well.
            Ok(held.into_iter().filter(|closed| *closed.as_ref().unwrap_or(&true)).count())
        })
    };
    let (closed, most) = std::thread::scope(|threads| {
        let holding = threads.spawn(hold_all);
        let mut most: f64 = 0.0;
        while !holding.is_finished() {
            most = most.max(scene.metric(UNREAD)?);
            sleep(POLL_INTERVAL);
        }
        let closed = holding.join().map_err(|_| anyhow!("an attacker panicked"))??;
        anyhow::Ok((closed, most))
    })?;
    ensure!(
        closed == connections,
        "{} of {connections} connections stay open",
        connections - closed
    );
    check_most(most)?;
    let streams = connections * STREAMS_PER_CONNECTION;
    Ok(format!(
        "{streams} streams on {connections} connections, {:.1} MB unread at most",
        most / 1e6
    ))
}

fn read_nothing(scene: &AttackScene<'_>) -> Result<String> {
    const BATCH: usize = 5;
    let one = json!({ "query": posts_by_aliases(&scene.writer.id, ALIASES) });
    // A client that is refused, because there is no room for its answer, is not kept either.
    let request = String::from_utf8(post(scene, &json!(vec![one; BATCH]).to_string()))?;
    let request = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
    let before = scene.metric("roundtable_http_connections")?;
    let mut held: Vec<TcpStream> = Vec::with_capacity(scene.size.clients);
    for own in STRANGERS.into_iter().cycle().take(scene.size.clients) {
        let mut stream = scene.connect(own)?;
        stream.write_all(request.as_bytes())?;
        held.push(stream);
    }
    let limit = AttackSize::deadline(GRACE * scene.size.slow_seconds);
    let (started, mut most) = (Instant::now(), 0.0_f64);
    loop {
        most = most.max(scene.metric(UNREAD)?);
        let open = scene.metric("roundtable_http_connections")?;
        // Connections of the watch come and go.
        if most > 0.0 && open <= before + 2.0 {
            break;
        }
        ensure!(started.elapsed() < limit, "{open} connections stay open, {before} before");
        sleep(POLL_INTERVAL);
    }
    check_most(most).context("over HTTP/1")?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(format!(
        "{} clients were disconnected within {seconds:.0} s, {:.1} MB unread at most",
        held.len(),
        most / 1e6
    ))
}

fn check_most(most: f64) -> Result<()> {
    ensure!(most > 0.0, "nothing was left unread: the attack is none");
    ensure!(most <= UNREAD_MAX, "{most} bytes of answers were unread");
    Ok(())
}
