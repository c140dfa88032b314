//! Attackers that act at the same time, from all their addresses.

use std::iter::Sum;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{ScopedJoinHandle, scope, sleep};

use anyhow::{Result, anyhow, ensure};
use roundtable_test_client::{FloodStats, send_until};

use super::scene::{AttackScene, STRANGERS, TIMEOUT};

/// Runs a function for each of the attackers' addresses at the same time, and returns the sum of what they
/// return.
pub(super) fn from_everywhere<T: Sum + Send>(
    run: impl Fn(IpAddr) -> Result<T> + Sync,
) -> Result<T> {
    scope(|threads| {
        let run = &run;
        let running: Vec<_> =
            STRANGERS.into_iter().map(|from| threads.spawn(move || run(from))).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<T>>| {
            thread.join().map_err(|_| anyhow!("a thread of an attacker panicked"))?
        };
        running.into_iter().map(join).sum()
    })
}

/// Has clients of all addresses repeat requests, as fast as they are answered, for the time of a flood.
pub(super) fn flood(scene: &AttackScene<'_>, requests: &[Vec<u8>]) -> FloodStats {
    let (stop, stats) = (AtomicBool::new(false), FloodStats::default());
    scope(|threads| {
        let own = STRANGERS.iter().copied().cycle();
        let clients = own.zip(requests.iter().cycle()).take(scene.size.clients);
        for (own, request) in clients {
            let (stop, stats, address) = (&stop, &stats, scene.server.address);
            threads.spawn(move || send_until(stop, own, address, request, TIMEOUT, stats));
        }
        sleep(scene.size.flood);
        stop.store(true, Ordering::Relaxed);
    });
    stats
}

/// Says how the requests of a flood were answered. One that the server never answers is no attack on it.
pub(super) fn describe(stats: &FloodStats) -> Result<String> {
    let [answered, refused, broken] =
        [&stats.answered, &stats.refused, &stats.broken].map(|count| count.load(Ordering::Relaxed));
    ensure!(answered + refused > 0, "no request of the flood was answered");
    Ok(format!("{answered} answered, {refused} refused, {broken} broken off"))
}
