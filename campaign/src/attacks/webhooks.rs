//! Webhooks to addresses inside the installation's network.

use std::net::{TcpListener, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use roundtable_test_client::connect_from;
use serde_json::json;

use super::AttackCase;
use super::scene::{AttackScene, OPERATOR, READER};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "internal-webhooks",
    expected: "the server connects to no address of its own machine or network, however it is written",
    run: call_internal_addresses,
}];

const CREATE: &str = "mutation ($url: AWSURL!) { createWebhook(url: $url, \
    eventTypes: [\"roundtable.post.created\"]) { id } }";

fn call_internal_addresses(scene: &AttackScene<'_>) -> Result<String> {
    let inside = InsideService::start()?;
    let port = inside.port;
    let refused = [
        format!("http://127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("https://localhost:{port}/"),
        format!("https://LOCALHOST.:{port}/"),
        format!("https://a.localhost:{port}/"),
        format!("https://127.1:{port}/"),
        format!("https://2130706433:{port}/"),
        format!("https://0x7f000001:{port}/"),
        format!("https://0177.0.0.1:{port}/"),
        format!("https://[::1]:{port}/"),
        format!("https://[::ffff:127.0.0.1]:{port}/"),
        format!("https://[64:ff9b::7f00:1]:{port}/"),
        format!("https://0.0.0.0:{port}/"),
        String::from("https://169.254.169.254/latest/meta-data/"),
        String::from("https://10.0.0.1/"),
        String::from("https://[fd00::1]/"),
        format!("https://example.org@127.0.0.1:{port}/"),
        format!("https://127.0.0.1:{port}#example.org"),
        format!("gopher://127.0.0.1:{port}/"),
        String::from("file:///etc/passwd"),
    ];
    let admin = Some(scene.admin.token.as_str());
    for url in &refused {
        let answer = scene.ask(READER, admin, CREATE, &json!({ "url": url }))?;
        answer.require_refusal(url, &["BAD_REQUEST"])?;
    }
    let named = deliver_to_own_name(scene, port)?;
    let calls = inside.calls();
    ensure!(calls == 0, "the server has connected to its own machine {calls} times");
    Ok(format!("{} URLs were refused{named}", refused.len()))
}

/// A name passes the check of the URL; what it resolves to is checked when an event is sent.
fn deliver_to_own_name(scene: &AttackScene<'_>, port: u16) -> Result<&'static str> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    let is_known = !name.is_empty() && (name, port).to_socket_addrs().is_ok();
    if !is_known {
        return Ok("; the machine's own name has no address");
    }
    let admin = Some(scene.admin.token.as_str());
    let url = json!({ "url": format!("https://{name}:{port}/") });
    let created = scene.ask(READER, admin, CREATE, &url)?;
    if !created.codes().is_empty() {
        created.require_refusal(name, &["BAD_REQUEST"])?;
        return Ok(", and so was the machine's own name");
    }
    // An attempt to send is a page of a job, whether the endpoint takes the event or fails.
    let attempts = "roundtable_jobs_pages_total{queue=\"events\"}";
    let before = scene.metric(attempts)?;
    scene.post(&scene.writer.token, "an event", "public")?;
    scene.until("the delivery is tried", || Ok(scene.metric(attempts)? > before))?;
    let delete = "mutation ($id: ID!) { deleteWebhook(id: $id) { id } }";
    let id = json!({ "id": created.text("/data/createWebhook/id")? });
    scene.ask(READER, admin, delete, &id)?.require_success("deleting the webhook")?;
    Ok(", and an event for the machine's own name was not sent")
}

/// A service that only this machine is meant to reach. It counts connections.
struct InsideService {
    port: u16,
    calls: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl InsideService {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind("0.0.0.0:0")?;
        let port = listener.local_addr()?.port();
        let (calls, is_over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let (counted, stop) = (Arc::clone(&calls), Arc::clone(&is_over));
        std::thread::spawn(move || {
            for _connection in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { port, calls, is_over })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Drop for InsideService {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread, which sees that it is over.
        let _ = connect_from(OPERATOR, ([127, 0, 0, 1], self.port).into());
    }
}
