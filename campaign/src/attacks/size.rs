//! How much an attack sends, and for how long.

use std::time::Duration;

/// The sizes of attacks, and the settings of the server that decide how long they take.
#[derive(Clone, Copy, Debug)]
pub struct AttackSize {
    /// The longest p99 of the reader's pages.
    pub page_p99_max: Duration,
    /// The reader's pages during each attack, at least.
    pub pages_min: usize,
    /// The longest time from a connection to the answer on it, for clients that come during an attack.
    pub arrival_max: Duration,
    /// Half-sent heads of 400 KB.
    pub(super) heads: usize,
    /// Anonymous connections that send nothing.
    pub(super) sockets: usize,
    /// Anonymous WebSockets that only answer pings.
    pub(super) web_sockets: usize,
    /// Requests without the end of their head, while the log begins another file.
    pub(super) half_open: usize,
    /// HTTP/2 connections, each with all streams that it may have.
    pub(super) http2_connections: usize,
    /// Clients that repeat a request, and for how long.
    pub(super) clients: usize,
    pub(super) flood: Duration,
    /// Wrong passwords from each network.
    pub(super) guesses: usize,
    /// Forged tokens and cursors.
    pub(super) forgeries: usize,
    /// Settings of the server: its deadlines, and the cost of a password's hash.
    pub(super) live_idle_seconds: u64,
    pub(super) keepalive_seconds: u64,
    pub(super) slow_seconds: u64,
    pub(super) transfer_seconds: u64,
    pub(super) hash_memory_kib: u32,
}

impl AttackSize {
    /// A minute of an unoptimized program on a busy machine. Deadlines are short.
    pub const SMALL: Self = Self {
        page_p99_max: Duration::from_secs(3),
        pages_min: 10,
        arrival_max: Duration::from_secs(8),
        heads: 200,
        sockets: 1_500,
        web_sockets: 400,
        half_open: 1_000,
        http2_connections: 8,
        clients: 8,
        flood: Duration::from_secs(2),
        guesses: 40,
        forgeries: 40,
        live_idle_seconds: 3,
        keepalive_seconds: 1,
        slow_seconds: 2,
        transfer_seconds: 2,
        hash_memory_kib: 64,
    };

    /// All that is promised, for an optimized program: every deadline and budget is the default.
    pub const FULL: Self = Self {
        page_p99_max: Duration::from_millis(500),
        pages_min: 200,
        arrival_max: Duration::from_secs(5),
        heads: 2_000,
        sockets: 5_000,
        web_sockets: 1_000,
        half_open: 1_000,
        http2_connections: 64,
        clients: 64,
        flood: Duration::from_secs(15),
        guesses: 200,
        forgeries: 1_000,
        live_idle_seconds: 120,
        keepalive_seconds: 15,
        slow_seconds: 10,
        transfer_seconds: 1_800,
        hash_memory_kib: 19_456,
    };

    /// Returns how many descriptors the attacks need at the same time.
    pub(super) fn descriptors(&self) -> u64 {
        let most = self.sockets.max(self.heads).max(self.web_sockets).max(self.half_open);
        u64::try_from(most).unwrap_or(u64::MAX)
    }

    /// Returns the server's configuration file.
    pub(super) fn settings(&self, issuer: &str) -> String {
        let Self { live_idle_seconds, keepalive_seconds, slow_seconds, .. } = self;
        let Self { transfer_seconds, hash_memory_kib, .. } = self;
        format!(
            "[live]\nidle-seconds = {live_idle_seconds}\nkeepalive-seconds = {keepalive_seconds}\n\
             slow-seconds = {slow_seconds}\n\
             [media]\ntransfer-seconds = {transfer_seconds}\n\
             [login]\nhash-memory-kib = {hash_memory_kib}\n\
             # One user fills a file of the log, and one address signs up for all.\n\
             [rates]\nwrites-burst = 100000\nsign-ups-burst = 1000\n\
             # All attacks together take longer than a token is valid.\n\
             [sign-in]\ntoken-seconds = 7200\n\
             [sign-in.oidc]\nissuer = \"{issuer}\"\naudience = \"{}\"\n",
            super::issuer::AUDIENCE
        )
    }

    /// Returns the longest that the server may keep what an idle or slow client holds, and some more.
    pub(super) fn deadline(seconds: u64) -> Duration {
        const MARGIN: Duration = Duration::from_secs(30);
        Duration::from_secs(seconds) + MARGIN
    }
}
