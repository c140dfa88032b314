//! Clients that repeat a request as fast as they are answered.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::Connection;

/// The outcomes of a flood's requests.
#[derive(Debug, Default)]
pub struct FloodStats {
    pub answered: AtomicU64,
    pub refused: AtomicU64,
    /// Closed by the server, or not answered in time.
    pub broken: AtomicU64,
}

/// Sends the same request until the end, and connects again whenever the connection breaks.
pub fn send_until(
    stop: &AtomicBool,
    own: IpAddr,
    address: SocketAddr,
    request: &[u8],
    timeout: Duration,
    stats: &FloodStats,
) {
    let mut connection = None;
    while !stop.load(Ordering::Relaxed) {
        let open = || Connection::open_from(own, address, timeout).ok();
        connection = connection.or_else(open);
        let answer = connection.as_mut().and_then(|connection| connection.exchange(request).ok());
        let counter = match answer {
            Some((status, body)) if is_answer(status, body) => &stats.answered,
            Some(_) => &stats.refused,
            None => {
                connection = None;
                &stats.broken
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns whether a response has data and no errors, by a quick check: errors follow the data.
pub fn is_answer(status: u16, body: &[u8]) -> bool {
    let end = body.get(body.len().saturating_sub(2_000)..).unwrap_or(body);
    let has = |text: &str| end.windows(text.len()).any(|part| part == text.as_bytes());
    status == 200 && body.starts_with(br#"{"data":{"#) && !has("\"errors\":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_data_and_no_errors() {
        assert!(is_answer(200, br#"{"data":{"me":null}}"#));
        assert!(!is_answer(503, br#"{"data":{"me":null}}"#));
        assert!(!is_answer(200, br#"{"errors":[{}]}"#));
        assert!(!is_answer(200, br#"{"data":{"me":null},"errors":[{}]}"#));
    }
}
